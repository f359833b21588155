"""Partitions that are too fine for maintenance, and what would help."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from maintainer.decide.grading import partitioning
from maintainer.decide.grading.bands import grade
from maintainer.decide.grading.partitioning import advise_partitions
from maintainer.domain.health import Band, TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.policy import Policy
from maintainer.domain.units import GIB, KIB, MIB
from tests.samples import NOW, health_of_partitions

DAY = PartitionField("ts_day", "day", ("ts",), "timestamptz")
BUCKET = PartitionField("id_bucket", "bucket[4]", ("id",), "long")
DAYS = [date(2026, 1, 1) + timedelta(days=number) for number in range(60)]


def by_day(sizes: list[int], *, target: int = 512 * MIB) -> TableHealth:
    health = health_of_partitions({f"ts_day={day}": sizes for day in DAYS}, target_bytes=target)
    return replace(health, specs=(PartitionSpec(0, (DAY,)),))


def test_a_healthy_table_of_small_files_in_fine_partitions_says_what_would_help_with_figures() -> (
    None
):
    health = by_day([5 * MIB] * 4)
    graded = grade(health, Policy(), NOW)
    advice = advise_partitions(health)
    assert (graded.band, health.small_file_ratio) == (Band.HEALTHY, 1.0), (
        "four files in a partition are left alone"
    )
    assert advice is not None
    assert advice.sentence == (
        "The partitions are too fine for maintenance: 60 of 60 hold 20 MiB on average, where one "
        "file should have 512 MiB. "
        "A rewrite never merges files of two partitions, so at least 60 small files stay. "
        "Partitioned by month(ts) instead of day(ts) the data would be in 3 partitions of 400 MiB."
    )
    assert (advice.partitions, advice.average_bytes, advice.files_left) == (60, 20 * MIB, 60)
    assert (advice.better, advice.better_partitions, advice.better_average_bytes) == (
        "month(ts)",
        3,
        400 * MIB,
    )


def test_the_finest_spec_that_fills_a_file_is_advised() -> None:
    advice = advise_partitions(by_day([7 * MIB]))
    assert advice is not None
    assert (advice.better, advice.better_partitions, advice.better_average_bytes) == (
        "year(ts)",
        1,
        420 * MIB,
    )
    assert "in 1 partition of 420 MiB" in advice.sentence


def test_a_table_that_fills_no_file_needs_no_partition_fields() -> None:
    advice = advise_partitions(by_day([4 * KIB] * 4))
    assert advice is not None
    assert (advice.better, advice.better_partitions, advice.better_average_bytes) == (
        "",
        1,
        960 * KIB,
    )
    assert advice.sentence.endswith(
        "Without partition fields the table's 960 KiB would fit into 1 file."
    )


def test_a_field_too_many_is_left_out() -> None:
    spec = PartitionSpec(0, (PartitionField("gone", "void"), DAY, BUCKET))
    health = health_of_partitions(
        {f"ts_day={day}/id_bucket={bucket}": [128 * MIB] for day in DAYS for bucket in range(4)}
    )
    advice = advise_partitions(replace(health, specs=(spec,)))
    assert advice is not None
    assert advice.better == "day(ts)"
    assert (
        "Partitioned by day(ts) instead of day(ts), bucket(4, id) the data would be in 60 "
        "partitions of 512 MiB."
    ) in advice.sentence


def test_a_value_itself_is_written_as_its_column() -> None:
    spec = PartitionSpec(
        0, (PartitionField("country", "identity", ("address", "country"), "string"), BUCKET)
    )
    health = health_of_partitions(
        {
            f"country={country}/id_bucket={bucket}": [200 * MIB]
            for country in ("at", "be", "de", "fr", "it", "nl")
            for bucket in range(2)
        }
    )
    advice = advise_partitions(replace(health, specs=(spec,)))
    assert advice is not None
    assert advice.better == "address.country"


@pytest.mark.parametrize(
    "health",
    [
        by_day([500 * MIB]),
        by_day([GIB, 5 * MIB]),
        replace(by_day([5 * MIB]), specs=()),
        replace(by_day([5 * MIB]), default_spec_id=3),
        health_of_partitions({"": [5 * MIB] * 400}),
        replace(
            health_of_partitions({f"ts_day={day}": [5 * MIB] for day in DAYS[:9]}),
            specs=(PartitionSpec(0, (DAY,)),),
        ),
        health_of_partitions({}),
    ],
    ids=[
        "good files",
        "a rest in each",
        "spec not known",
        "of an older spec",
        "one partition",
        "few partitions",
        "empty",
    ],
)
def test_other_tables_get_no_advice(health: TableHealth) -> None:
    assert advise_partitions(health) is None


def test_small_partitions_among_large_ones_are_no_trouble_as_long_as_they_are_few() -> None:
    sizes = {
        f"ts_day={day}": [5 * MIB] if number < 20 else [4 * GIB] for number, day in enumerate(DAYS)
    }
    assert (
        advise_partitions(replace(health_of_partitions(sizes), specs=(PartitionSpec(0, (DAY,)),)))
        is None
    )


def test_of_much_data_by_a_column_of_many_values_the_number_of_partitions_is_advised() -> None:
    users = PartitionSpec(0, (PartitionField("user", "identity", ("user",), "string"),))
    advice = advise_partitions(
        replace(
            health_of_partitions({f"user=u{number}": [50 * MIB] for number in range(200)}),
            specs=(users,),
        )
    )
    assert advice is not None
    assert (advice.better, advice.better_partitions) == ("", 19)
    assert advice.sentence.endswith(
        "About 19 partitions would fill a file of that size each: partition by a column of fewer "
        "values, or by buckets of it."
    )


def test_of_very_many_partitions_other_specs_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioning, "MOST_PARTITIONS_TRIED", 59)
    advice = advise_partitions(by_day([5 * MIB] * 4))
    assert advice is not None
    assert advice.better == ""
    assert advice.sentence.endswith("the table's 1.2 GiB would fit into 3 files.")
