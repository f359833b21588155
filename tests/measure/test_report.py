from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, histogram_bin
from maintainer.domain.units import KIB, MIB
from maintainer.measure.health import measure
from maintainer.measure.impact import ImpactModel, StorageProfile
from maintainer.measure.report import build_report
from tests.samples import inventory, manifest, share

MODEL = ImpactModel(StorageProfile.HDFS, 0.4, timedelta(milliseconds=10))


def table(name: str, sizes: list[int], namespace: str = "sales") -> TableHealth:
    health = measure(inventory((manifest("m1", [share(sizes)]),)))
    bins = Counter(map(histogram_bin, sizes))
    histogram = tuple(bins[index] for index in range(len(HISTOGRAM_BOUNDS_BYTES) + 1))
    place = TableIdentifier("lake", (namespace,), name)
    return replace(health, table=place, histogram=histogram)


def test_a_line_has_the_shares_of_small_files_and_the_average_of_all() -> None:
    sizes = [10 * KIB, 500 * KIB, 5 * MIB, 200 * MIB]
    total = build_report([table("a", sizes)], MODEL).total
    assert total is not None
    assert (total.tables, total.files, total.bytes) == (1, 4, sum(sizes))
    assert total.files_under == (1, 2, 3)
    assert total.shares_under == (0.25, 0.5, 0.75)
    assert total.average_file_size_bytes == sum(sizes) / 4


def test_requests_money_and_round_trips_follow_from_the_files() -> None:
    report = build_report([table("a", [MIB] * 97)], MODEL, scans_per_day=1000)
    total = report.total
    assert total is not None
    assert total.requests == 97 + 1 + 2  # files, the manifest, metadata.json and manifest list
    assert total.requests_at_target == 1 + 1 + 2
    assert total.requests_saved == 96
    assert report.requests_per_day(total.requests) == 100_000
    assert report.cost_per_day(total.requests) == pytest.approx(0.04)
    assert report.wait_seconds(total.requests, 1) == pytest.approx(1.0)
    assert report.wait_seconds(total.requests, 64) == pytest.approx(1 / 64)
    unpriced = build_report([table("a", [MIB])], replace(MODEL, request_price_per_million=None))
    assert unpriced.cost_per_day(100) is None


def test_the_slowdown_is_the_mean_of_the_tables_weighted_by_their_bytes() -> None:
    slow, fast = table("slow", [2_300_000] * 10), table("fast", [2_300_000_000])
    total = build_report([slow, fast], MODEL).total
    assert total is not None
    assert total.slowdown_low == 1.0
    assert total.slowdown_high == pytest.approx((2.48 * 23 + 1.0 * 2300) / 2323)


def test_empty_files_weigh_the_same() -> None:
    total = build_report([table("a", [0]), table("b", [0, 0])], MODEL).total
    assert total is not None
    assert total.slowdown_high == pytest.approx(2.48)


def test_what_saves_the_most_requests_comes_first() -> None:
    tables = [
        table("large", [600 * MIB], "cold"),
        table("b", [MIB] * 20),
        table("a", [MIB] * 50, "raw"),
        table("c", [MIB] * 20),
    ]
    report = build_report(tables, MODEL)
    assert [line.name for line in report.namespaces] == ["lake.raw", "lake.sales", "lake.cold"]
    assert [line.name for line in report.first] == ["lake.raw.a", "lake.sales.b", "lake.sales.c"]
    assert report.profiles == (StorageProfile.HDFS,)
    assert len(report.sources) == 1


def test_tables_without_files_are_counted_and_left_out() -> None:
    report = build_report([table("empty", [])], MODEL)
    assert (report.total, report.namespaces, report.first, report.left_out) == (None, (), (), 1)


@pytest.mark.parametrize("scans", [0.0, -1.0, 1_000_001.0, float("nan")])
def test_an_impossible_number_of_scans_is_refused(scans: float) -> None:
    with pytest.raises(InvalidValueError, match=r"scans per day .* up to 1,000,000"):
        build_report([], MODEL, scans)
