from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.health import Compaction, TableHealth
from maintainer.domain.inventory import Content, Unreadable
from maintainer.domain.units import KIB, MIB
from maintainer.measure.health import measure
from maintainer.measure.impact import (
    MB,
    Impact,
    ImpactModel,
    ImpactModels,
    StorageProfile,
    choose_profile,
    estimate_impact,
    interpolate,
)
from tests.samples import inventory, manifest, predict_compaction, share

OBJECT_STORE, HDFS, OZONE = StorageProfile


NO_GAIN = Compaction(0, applies_deletes=False)


def files_of(size: int, count: int = 10) -> TableHealth:
    return measure(inventory((manifest("m1", [share([size] * count)]),)))


def impact_of(health: TableHealth, model: ImpactModel) -> Impact:
    impact = estimate_impact(health, model, predict_compaction(health))
    assert impact is not None
    return impact


@pytest.mark.parametrize(
    ("profile", "size", "low", "high"),
    [
        (OBJECT_STORE, 134 * MB, 1.0, 1.0),
        (OBJECT_STORE, 2 * MB, 1.8, 9.12),
        (OBJECT_STORE, 250_000, 2.5, 9.12),
        (OBJECT_STORE, 1, 2.5, 9.12),
        (HDFS, 2_300_000, 1.0, 2.48),
        (OZONE, 2_300_000, 3.10, 4.89),
        (OZONE, 134 * MB, 1.0, 1.0),
    ],
)
def test_published_points_come_out_as_they_were_published(
    profile: StorageProfile, size: int, low: float, high: float
) -> None:
    impact = impact_of(files_of(size), ImpactModel(profile))
    assert impact.slowdown_low == pytest.approx(low)
    assert impact.slowdown_high == pytest.approx(high)


@pytest.mark.parametrize("profile", StorageProfile)
def test_a_table_of_one_file_is_not_slower_than_it_could_be(profile: StorageProfile) -> None:
    impact = impact_of(files_of(2 * MB, 1), ImpactModel(profile))
    assert (impact.slowdown_low, impact.slowdown_high) == (1.0, 1.0)
    assert not impact.is_beyond_measured
    assert impact_of(files_of(2 * MB, 2), ImpactModel(profile)).slowdown_high > 1


def test_an_estimate_says_where_it_comes_from_and_when_it_goes_beyond_what_was_measured() -> None:
    for profile in StorageProfile:
        small, large = (
            impact_of(files_of(KIB), ImpactModel(profile)),
            impact_of(files_of(30 * MIB), ImpactModel(profile)),
        )
        assert small.source.startswith("Estimate from published measurements, not of this table. ")
        assert "TPC-DS" in small.source
        assert (small.is_beyond_measured, large.is_beyond_measured) == (True, False)


@given(st.floats(1, 1e13), st.floats(1, 1e13), st.sampled_from(StorageProfile))
def test_smaller_files_are_never_faster_and_the_range_is_a_range(
    one: float, other: float, profile: StorageProfile
) -> None:
    large, small = max(one, other), min(one, other)
    of_large, of_small = (
        impact_of(replace(files_of(MIB), average_file_size_bytes=size), ImpactModel(profile))
        for size in (large, small)
    )
    assert 1 <= of_large.slowdown_low <= of_small.slowdown_low + 1e-9
    assert of_large.slowdown_high <= of_small.slowdown_high + 1e-9
    assert of_small.slowdown_low <= of_small.slowdown_high


@given(st.lists(st.floats(1, 1e9), min_size=2, max_size=5, unique=True), st.floats(0.1, 1e10))
def test_between_two_points_lies_what_is_between_their_values(
    sizes: list[float], size: float
) -> None:
    curve = [(at, float(index)) for index, at in enumerate(sorted(sizes, reverse=True))]
    value = interpolate(curve, size)
    assert 0 <= value <= len(curve) - 1
    for (large, before), (small, after) in pairwise(curve):
        if small <= size <= large:
            assert before - 1e-9 <= value <= after + 1e-9


def test_requests_are_one_for_each_file_and_manifest_and_two_for_the_snapshot() -> None:
    deletes = manifest(
        "m2", [share([1], content=kind) for kind in Content if kind is not Content.DATA]
    )
    health = measure(inventory((manifest("m1", [share([MIB] * 100)]), deletes)))
    impact = impact_of(
        health, ImpactModel(get_price_per_million=0.4, round_trip=timedelta(milliseconds=150))
    )
    assert impact.requests_per_scan == 100 + 3 + 2 + 2
    assert impact.requests_at_target == 1 + 2 + 2
    assert impact.request_cost_per_scan == pytest.approx(107 * 0.4 / 1e6)
    assert impact.round_trip_seconds == pytest.approx(107 * 0.15)


def test_fifteen_million_files_cost_two_hours_of_round_trips_of_half_a_millisecond() -> None:
    health = replace(files_of(MIB), data_files=15_000_000)
    assert impact_of(
        health, ImpactModel(round_trip=timedelta(microseconds=500))
    ).round_trip_seconds / 3600 == pytest.approx(2.08, abs=0.01)


@given(st.integers(1, 10**9), st.integers(0, 10**15), st.integers(0, 10**4))
def test_compaction_never_needs_more_requests(files: int, size: int, excess: int) -> None:
    health = replace(
        files_of(MIB),
        data_files=files,
        data_bytes=size,
        manifests=excess + 1,
        manifest_excess=excess,
    )
    impact = impact_of(health, ImpactModel())
    assert 1 <= impact.requests_at_target <= impact.requests_per_scan


def test_without_a_price_there_is_no_cost() -> None:
    assert impact_of(files_of(MIB), ImpactModel()).request_cost_per_scan is None
    assert (
        impact_of(files_of(MIB), ImpactModel(get_price_per_million=0.0)).request_cost_per_scan
        == 0.0
    )


def test_only_hdfs_has_a_name_node_and_only_known_files_load_it() -> None:
    health = files_of(MIB)
    loaded = impact_of(health, ImpactModel(HDFS)).name_node
    assert loaded is not None
    assert loaded.files == health.storage_files
    assert impact_of(health, ImpactModel(OZONE)).name_node is None
    unknown = replace(health, storage_files=None)
    assert impact_of(unknown, ImpactModel(HDFS)).name_node is None


def test_the_time_of_a_scan_is_bytes_by_bandwidth_and_files_by_round_trip_and_parallelism() -> None:
    health = replace(
        files_of(MB, 96), target_file_size_bytes=96 * MB, delete_bytes=3 * MB, manifest_bytes=MB
    )
    model = ImpactModel(round_trip=timedelta(milliseconds=10), bandwidth=50.0 * MB, parallelism=4)
    impact = impact_of(health, model)
    assert impact.requests_per_scan == 96 + 1 + 2
    assert impact.round_trip_seconds == pytest.approx(99 * 0.010 / 4)
    assert impact.scan_seconds == pytest.approx(100 / 50 + 99 * 0.010 / 4)
    # With the bytes of the manifest, which are few here.
    assert impact.scan_seconds_at_target == pytest.approx(96 / 50 + 4 * 0.010 / 4, rel=1e-3)


def test_the_defaults_give_the_published_times_of_two_thousand_files() -> None:
    storage = ImpactModel(OBJECT_STORE).at("s3://bucket/table")
    assert storage.seconds(276 * MB, 2_038) == pytest.approx(15.9, abs=0.1)
    assert storage.seconds(276 * MB, 1) == pytest.approx(2.46, abs=0.02)


@pytest.mark.parametrize(
    ("location", "milliseconds"), [("s3://b/t", 6.6), ("hdfs://n/t", 0.5), ("ofs://o/v/b", 1.0)]
)
def test_each_kind_of_storage_has_a_round_trip_of_its_own(
    location: str, milliseconds: float
) -> None:
    assert ImpactModel().at(location).round_trip.total_seconds() * 1000 == milliseconds


def test_each_kind_of_request_and_the_bytes_have_a_price() -> None:
    health = replace(files_of(MB, 998), storage_files=2_001, delete_bytes=0, manifest_bytes=2 * MB)
    model = ImpactModel(
        get_price_per_million=0.4,
        put_price_per_million=5.0,
        list_price_per_million=6.0,
        price_per_gb_month=0.02,
    )
    impact = impact_of(health, model)
    assert impact.requests_per_scan == 1_001
    assert impact.request_cost_per_scan == pytest.approx(1_001 * 0.4 / 1e6)
    assert impact.request_cost_per_scan_at_target == pytest.approx(
        impact.requests_at_target * 0.4 / 1e6
    )
    assert impact.write_cost == pytest.approx(1_001 * 5 / 1e6)
    assert impact.list_cost == pytest.approx(3 * 6 / 1e6)
    assert impact.storage_cost_per_month == pytest.approx(0.02)
    unpriced = impact_of(health, ImpactModel())
    assert (unpriced.write_cost, unpriced.list_cost, unpriced.storage_cost_per_month) == (
        None,
        None,
        None,
    )
    assert impact_of(replace(health, storage_files=None), model).list_cost is None


def test_a_catalog_has_its_own_storage_and_the_others_the_common_one() -> None:
    models = ImpactModels(ImpactModel(parallelism=2), {"ice": ImpactModel(HDFS, parallelism=8)})
    assert models.of("ice").parallelism == 8
    assert models.of("lake").parallelism == 2
    moved = models.on(OZONE)
    assert (moved.of("ice").profile, moved.of("ice").parallelism) == (OZONE, 8)
    assert moved.of("lake") == ImpactModel(OZONE, parallelism=2)


def test_nothing_is_estimated_for_an_empty_table_or_one_that_could_not_be_counted() -> None:
    assert estimate_impact(measure(inventory(snapshots=())), ImpactModel(), NO_GAIN) is None
    broken = replace(
        inventory((manifest("m1", [share([1])]),)), unreadable=(Unreadable("m2", "truncated"),)
    )
    assert estimate_impact(measure(broken), ImpactModel(), NO_GAIN) is None


@pytest.mark.parametrize(
    ("location", "profile"),
    [
        ("s3://bucket/table", OBJECT_STORE),
        ("abfss://container@account/table", OBJECT_STORE),
        ("file:///warehouse/table", OBJECT_STORE),
        ("/warehouse/table", OBJECT_STORE),
        ("hdfs://name/table", HDFS),
        ("HDFS://name/table", HDFS),
        ("ofs://om/volume/bucket", OZONE),
    ],
)
def test_the_location_tells_the_storage_unless_the_operator_does(
    location: str, profile: StorageProfile
) -> None:
    assert choose_profile(location) is profile
    health = replace(files_of(MIB), location=location)
    assert impact_of(health, ImpactModel()).profile is profile
    assert impact_of(health, ImpactModel(OZONE)).profile is OZONE
