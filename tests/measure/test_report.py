from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import Compaction, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, histogram_bin
from maintainer.domain.units import KIB, MIB
from maintainer.measure.health import measure
from maintainer.measure.impact import (
    ImpactModel,
    ImpactModels,
    StorageProfile,
    estimate_impact,
)
from maintainer.measure.name_node import NameNodeLoad, NameService
from maintainer.measure.report import Report, build_report, describe
from tests.samples import inventory, manifest, predict_compaction, share

STORAGE = ImpactModel(
    StorageProfile.HDFS, get_price_per_million=0.4, round_trip=timedelta(milliseconds=10)
)
MODEL = ImpactModels(STORAGE)


def table(name: str, sizes: list[int], namespace: str = "sales") -> TableHealth:
    health = measure(inventory((manifest("m1", [share(sizes)]),)))
    bins = Counter(map(histogram_bin, sizes))
    histogram = tuple(bins[index] for index in range(len(HISTOGRAM_BOUNDS_BYTES) + 1))
    place = TableIdentifier("lake", (namespace,), name)
    return replace(health, table=place, histogram=histogram)


def report_of(
    tables: Iterable[TableHealth], models: ImpactModels, scans_per_day: float = 1.0
) -> Report:
    measured = [(health, predict_compaction(health)) for health in tables]
    return build_report(measured, models, scans_per_day)


def test_a_line_has_the_shares_of_small_files_and_the_average_of_all() -> None:
    sizes = [10 * KIB, 500 * KIB, 5 * MIB, 200 * MIB]
    total = report_of([table("a", sizes)], MODEL).total
    assert total is not None
    assert (total.tables, total.files, total.bytes) == (1, 4, sum(sizes))
    assert total.files_under == (1, 2, 3)
    assert total.shares_under == (0.25, 0.5, 0.75)
    assert total.average_file_size_bytes == sum(sizes) / 4


def test_requests_money_and_round_trips_follow_from_the_files() -> None:
    report = report_of([table("a", [MIB] * 97)], MODEL, scans_per_day=1000)
    total = report.total
    assert total is not None
    assert total.requests == 97 + 1 + 2  # files, the manifest, metadata.json and manifest list
    assert total.requests_at_target == 1 + 1 + 2
    assert total.requests_saved == 96
    assert report.requests_per_day(total.requests) == 100_000
    assert report.cost_per_day(total) == pytest.approx(0.04)
    assert report.cost_saved_per_day(total) == pytest.approx(0.0384)
    assert total.wait_seconds == pytest.approx(1.0)
    assert total.scan_seconds > total.scan_seconds_at_target > 0


def test_a_sum_without_the_price_of_one_of_its_catalogs_has_no_cost() -> None:
    other = replace(table("a", [MIB]), table=TableIdentifier("ice", ("sales",), "a"))
    models = ImpactModels(STORAGE, {"ice": replace(STORAGE, get_price_per_million=None)})
    report = report_of([table("a", [MIB]), other], models)
    ice, lake = sorted(report.namespaces, key=lambda line: line.name)
    assert report.total is not None
    assert (report.cost_per_day(report.total), report.cost_saved_per_day(report.total)) == (
        None,
        None,
    )
    assert report.cost_per_day(ice) is None
    assert report.cost_per_day(lake) == pytest.approx(4 * 0.4 / 1e6)


def test_each_table_is_estimated_with_the_storage_of_its_catalog() -> None:
    other = replace(
        table("a", [MIB]), table=TableIdentifier("ice", ("sales",), "a"), location="hdfs://ns1/a"
    )
    models = ImpactModels(ImpactModel(), {"ice": replace(STORAGE, parallelism=4)})
    report = report_of([table("a", [MIB]), other], models)
    assert report.profiles == (StorageProfile.HDFS, StorageProfile.OBJECT_STORE)
    assert [storage.parallelism for storage in report.storages] == [4, 1]
    assert [service.name for service in report.name_services] == ["ns1"]
    text = "\n".join(describe(report))
    assert "Storage hdfs: a round trip of 10 ms, 106.8 MiB a second, 4 requests at" in text
    assert "Storage object store: a round trip of 6.6 ms" in text
    assert "Name service ns1: at least " in text


def test_a_name_service_without_a_name_and_with_unknown_files_says_so() -> None:
    load = NameNodeLoad(1, 1, 1)
    assert NameService("", 2, 1, load).sentence == (
        "Name service without a name: at least 3 objects (1 files, 1 directories, 1 blocks), "
        "2.0 KiB of heap, or 2.5 KiB with HDFS snapshots. 1 table of unknown files left out."
    )


def test_the_slowdown_is_the_mean_of_the_tables_weighted_by_their_bytes() -> None:
    slow, fast = table("slow", [2_300_000] * 10), table("fast", [2_300_000_000])
    total = report_of([slow, fast], MODEL).total
    assert total is not None
    assert total.slowdown_low == 1.0
    assert total.slowdown_high == pytest.approx((2.48 * 23 + 1.0 * 2300) / 2323)


def test_empty_files_weigh_the_same() -> None:
    total = report_of([table("a", [0, 0]), table("b", [0, 0, 0])], MODEL).total
    assert total is not None
    assert total.slowdown_high == pytest.approx(2.48)


def test_what_saves_the_most_requests_comes_first() -> None:
    tables = [
        table("large", [600 * MIB], "cold"),
        table("b", [MIB] * 20),
        table("a", [MIB] * 50, "raw"),
        table("c", [MIB] * 20),
    ]
    report = report_of(tables, MODEL)
    assert [line.name for line in report.namespaces] == ["lake.raw", "lake.sales", "lake.cold"]
    assert [line.name for line in report.first] == ["lake.raw.a", "lake.sales.b", "lake.sales.c"]
    assert report.profiles == (StorageProfile.HDFS,)
    assert len(report.sources) == 1


def test_tables_without_files_are_counted_and_left_out() -> None:
    report = report_of([table("empty", [])], MODEL)
    assert (report.total, report.namespaces, report.first, report.left_out) == (None, (), (), 1)


def test_tables_whose_histogram_has_the_bins_of_an_older_version_are_counted_and_left_out() -> None:
    older = replace(table("a", [MIB] * 97), histogram=(0,) * len(HISTOGRAM_BOUNDS_BYTES))
    report = report_of([older, table("b", [MIB])], MODEL)
    assert report.total is not None
    assert (report.total.files, report.left_out) == (1, 1)


@pytest.mark.parametrize("scans", [0.0, -1.0, 1_000_001.0, float("nan")])
def test_an_impossible_number_of_scans_is_refused(scans: float) -> None:
    with pytest.raises(InvalidValueError, match=r"scans per day .* up to 1,000,000"):
        report_of([], MODEL, scans)


def test_a_report_says_its_money_and_what_it_leaves_out() -> None:
    priced = ImpactModels(replace(STORAGE, get_price_per_million=0.4))
    unread = replace(table("b", [MIB]), data_files=None)
    text = "\n".join(describe(report_of([table("a", [MIB] * 9), unread], priced)))
    assert "Cost of these requests a day: " in text
    assert "1 table left out: no readable data files, or not measured since an upgrade." in text
    assert list(describe(report_of([], priced))) == []


def test_many_partitions_of_one_file_are_not_avoidable_by_compaction() -> None:
    """A rewrite joins no files of different partitions, so only another layout would help."""
    parts = [share([MIB], f"p={number}") for number in range(1000)]
    fine = replace(
        measure(inventory((manifest("m1", parts),))),
        table=TableIdentifier("lake", ("sales",), "fine"),
        histogram=table("x", [MIB] * 1000).histogram,
    )
    report = report_of([fine, table("coarse", [MIB] * 97)], MODEL)
    assert [line.name for line in report.first] == ["lake.sales.coarse"]
    total = report.total
    assert total is not None
    assert (total.requests_saved, total.requests_saved_by_layout) == (96, 998)
    assert (
        "With other partitions, files of the target size would avoid 998 more; compaction cannot."
        in describe(report)
    )


def test_deletes_count_as_avoidable_only_if_compaction_applies_them() -> None:
    deleted = replace(table("a", [200 * MIB]), position_delete_files=9)
    kept, applied = (
        estimate_impact(deleted, STORAGE, Compaction(0, applies_deletes=applies))
        for applies in (False, True)
    )
    assert kept is not None
    assert applied is not None
    assert kept.requests_after_compaction - applied.requests_after_compaction == 9


def test_the_time_at_the_target_reads_the_manifests_too() -> None:
    files = replace(table("a", [MIB] * 97), manifest_bytes=97 * MIB)
    with_manifests, without = (
        estimate_impact(replace(files, manifest_bytes=size), STORAGE, predict_compaction(files))
        for size in (97 * MIB, 0)
    )
    assert with_manifests is not None
    assert without is not None
    assert with_manifests.scan_seconds_at_target > without.scan_seconds_at_target
