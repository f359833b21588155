from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.health import TableHealth
from maintainer.domain.timing import QueryTiming
from maintainer.domain.units import KIB, MIB
from maintainer.measure.health import measure
from maintainer.measure.impact import (
    MAX_COMPARISONS,
    Impact,
    ImpactModel,
    compare_timings,
    estimate_impact,
    find_impact,
)
from tests.samples import NOW, inventory, manifest, share


def files_of(size: float) -> TableHealth:
    return replace(
        measure(inventory((manifest("m1", [share([MIB] * 10)]),))), average_file_size_bytes=size
    )


def ran(name: str, seconds: float, average: float | None, cost: float | None = None) -> QueryTiming:
    return QueryTiming(name, seconds, NOW - timedelta(seconds=seconds), 10, average, cost)


def impact_of(size: float, *timings: QueryTiming) -> Impact:
    impact = find_impact(files_of(size), ImpactModel(), timings)
    assert impact is not None
    return impact


BEFORE_AND_AFTER = (ran("q1", 30.0, 64 * KIB, 0.3), ran("q1", 10.0, 128 * MIB, 0.1))


def test_a_query_before_and_after_replaces_the_estimate_and_says_so() -> None:
    impact = impact_of(64 * KIB, *BEFORE_AND_AFTER)
    assert [impact.slowdown_low, impact.slowdown_high] == pytest.approx([3.0, 3.0])
    assert impact.source == (
        "Measured by you on this table: 2 runs of 1 query, with files of 64 KiB on average "
        "and larger."
    )
    assert impact.reference_file_size_bytes == pytest.approx(128 * MIB)
    assert not impact.is_beyond_measured
    only = impact.comparisons[0]
    assert (only.name, only.runs, only.small_seconds, only.large_seconds) == ("q1", 2, 30.0, 10.0)
    assert (only.small_cost, only.large_cost) == (0.3, 0.1)


def test_after_the_compaction_the_same_runs_say_that_nothing_is_lost_any_more() -> None:
    assert impact_of(128 * MIB, *BEFORE_AND_AFTER).slowdown_high == pytest.approx(1.0)


def test_between_two_measured_sizes_the_slowdown_lies_between() -> None:
    assert 1.0 < impact_of(4 * MIB, *BEFORE_AND_AFTER).slowdown_high < 3.0


def test_smaller_files_than_any_that_were_measured_may_be_worse() -> None:
    impact = impact_of(4 * KIB, *BEFORE_AND_AFTER)
    assert impact.is_beyond_measured
    assert impact.slowdown_high == pytest.approx(3.0)


def test_several_queries_give_a_range_that_can_show_that_small_files_cost_nothing() -> None:
    impact = impact_of(
        64 * KIB, *BEFORE_AND_AFTER, ran("q2", 5.0, 64 * KIB), ran("q2", 5.5, 60 * MIB)
    )
    assert [impact.slowdown_low, impact.slowdown_high] == pytest.approx([5 / 5.5, 3.0])
    assert impact.source.startswith("Measured by you on this table: 4 runs of 2 queries")
    assert impact.reference_file_size_bytes == pytest.approx(60 * MIB)
    assert impact.comparisons[1].small_cost is None


def test_of_several_runs_at_about_one_size_the_median_counts() -> None:
    noisy = [
        ran("q1", seconds, 64 * KIB * (1 + seconds / 10_000)) for seconds in (29.0, 30.0, 300.0)
    ]
    assert impact_of(64 * KIB, *noisy, ran("q1", 10.0, 128 * MIB)).comparisons[
        0
    ].small_seconds == pytest.approx(30.0)


@pytest.mark.parametrize(
    "timings",
    [
        (),
        (ran("q1", 30.0, 64 * KIB),),
        (ran("q1", 30.0, 64 * KIB), ran("q1", 20.0, 66 * KIB)),
        (ran("q1", 30.0, 64 * KIB), ran("q2", 10.0, 128 * MIB)),
        (ran("q1", 30.0, 64 * KIB), ran("q1", 10.0, None)),
        (ran("q1", 30.0, 64 * KIB), ran("q1", 10.0, 0.0)),
    ],
)
def test_without_one_query_at_two_sizes_the_estimate_stands(
    timings: tuple[QueryTiming, ...],
) -> None:
    assert impact_of(64 * KIB, *timings) == estimate_impact(files_of(64 * KIB), ImpactModel())


def test_a_table_without_files_has_no_impact_whatever_was_measured_once() -> None:
    assert find_impact(measure(inventory(snapshots=())), ImpactModel(), BEFORE_AND_AFTER) is None


def test_empty_files_are_the_smallest_there_are() -> None:
    assert impact_of(0.0, *BEFORE_AND_AFTER).is_beyond_measured


def test_at_most_so_many_queries_are_compared() -> None:
    many = [
        ran(f"q{number:03}", seconds, size)
        for number in range(MAX_COMPARISONS + 9)
        for seconds, size in ((2.0, KIB), (1.0, MIB))
    ]
    assert [found.name for found in compare_timings(many, MIB)] == [
        f"q{number:03}" for number in range(MAX_COMPARISONS)
    ]


@given(
    runs=st.lists(
        st.tuples(st.sampled_from("ab"), st.floats(0.1, 1000), st.floats(1, 1e10)), max_size=8
    ),
    average=st.floats(1, 1e10),
)
@settings(max_examples=60)
def test_a_slowdown_lies_within_what_was_measured_and_the_order_of_runs_does_not_count(
    runs: list[tuple[str, float, float]], average: float
) -> None:
    timings = [ran(*run) for run in runs]
    found = compare_timings(timings, average)
    assert found == compare_timings(timings[::-1], average)
    for one in found:
        seconds = [timing.seconds for timing in timings if timing.name == one.name]
        assert (
            min(seconds) / max(seconds) * 0.999
            <= one.slowdown
            <= max(seconds) / min(seconds) * 1.001
        )
        assert one.small_average_bytes < one.large_average_bytes
