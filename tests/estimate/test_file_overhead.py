from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.estimate.output_files import find_kept_rows, find_overhead, predict_bytes
from tests.samples import health_of_partitions

HEALTH = replace(health_of_partitions({"": [1000]}), columns=8)


@pytest.mark.parametrize(
    ("formats", "expected"),
    [
        ({"parquet": 9}, 8 * 270),
        ({"orc": 9}, 8 * 220),
        ({"orc": 1, "parquet": 9}, 8 * 220),
        ({"avro": 1, "parquet": 9}, 0),
        ({}, 0),
    ],
)
def test_a_file_has_some_bytes_for_each_column(formats: dict[str, int], expected: int) -> None:
    assert find_overhead(replace(HEALTH, formats=formats)) == expected


def test_the_overhead_under_an_unknown_schema_is_unknown() -> None:
    assert find_overhead(replace(HEALTH, columns=None)) == 0


@pytest.mark.parametrize(
    ("size", "files", "outputs", "kept_rows", "after"),
    [
        (40_000, 40, 1, 1.0, 20_000 + 500),
        (40_000, 40, 1, 0.25, 5_000 + 500),  # deletes are applied
        (40_000, 40, 40, 1.0, 40_000),  # as many files: as many bytes
        (40_000, 1, 4, 1.0, 40_000),  # more files are not predicted to be more bytes
        (8_000, 40, 4, 1.0, 2_000),  # never less than the outputs need
        (100, 40, 1, 1.0, 100),  # nor more than before
    ],
)
def test_a_rewrite_saves_the_overhead_of_the_files_that_are_gone_and_deleted_rows(
    size: int, files: int, outputs: int, kept_rows: float, after: int
) -> None:
    assert predict_bytes(size, files, outputs, 500, kept_rows) == after


@pytest.mark.parametrize(
    ("records", "deleted", "by_equality", "kept"),
    [
        (100, 25, 0, 0.75),
        (100, 25, 20, 0.95),
        (100, 250, 0, 0.0),
        (0, 25, 0, 1.0),
        (None, None, 0, 1.0),
    ],
)
def test_position_deletes_leave_a_share_of_the_rows(
    records: int | None, deleted: int | None, by_equality: int, kept: float
) -> None:
    (partition,) = HEALTH.partitions
    health = replace(
        HEALTH,
        records=records,
        delete_records=deleted,
        partitions=(replace(partition, equality_delete_records=by_equality),),
    )
    assert find_kept_rows(health) == pytest.approx(kept)
