from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import exp
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.cost import (
    SHARED_ALPHA,
    TABLE_ALPHA,
    Calibration,
    Cost,
    CostBasis,
    CostFit,
    CostSample,
)
from maintainer.domain.plan import Estimate, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.units import GIB, MIB
from maintainer.estimate.cost import LEAST_CHANCE, find_byte_share, find_chance
from tests.chapters import find_benefit, find_worth, measure_work, predict
from tests.examples import examples
from tests.samples import NOW, health_of_partitions

RULE = RuleName.REWRITE_DATA_FILES
NOTHING = Calibration()
ESTIMATE = Estimate(100, 10, 90, 1000)


def learn(samples: list[tuple[float, float]], alpha: float = TABLE_ALPHA) -> CostFit:
    """From (work, seconds), each predicted by what was known before it."""
    fit = CostFit()
    for work, seconds in samples:
        predicted = predict(RULE, work, Calibration(table={RULE: fit}), 1.0).duration_seconds
        fit = fit.learn(CostSample(work, seconds, predicted), alpha)
    return fit


def test_before_any_job_the_first_pace_and_a_wide_spread_are_taken() -> None:
    cost = predict(RULE, 7_200_000_000.0, NOTHING, 2.0)
    assert cost.duration_seconds == 908.0
    assert cost.gb_hours == 0.504
    assert cost.gb_hours_p90 == pytest.approx(cost.gb_hours * 2, rel=0.02)
    assert (cost.basis, cost.samples) == (CostBasis.DEFAULT, 0)


def test_a_job_of_no_bytes_costs_its_start_up() -> None:
    assert predict(RULE, 0.0, NOTHING, 1.0).duration_seconds == 8
    fit = learn([(0.0, 4.0)] * 8)
    assert predict(
        RULE, 0.0, Calibration(table={RULE: fit}), 1.0
    ).duration_seconds == pytest.approx(4.0, rel=0.03)


def test_start_up_and_pace_are_distinguished() -> None:
    jobs = [(size * MIB, 3.0 + size / 50) for size in (10.0, 2000.0, 100.0, 5000.0, 1.0, 700.0)]
    known = Calibration(table={RULE: learn(jobs)})
    for size in (0.0, 30.0, 1000.0, 20_000.0):
        assert predict(RULE, size * MIB, known, 1.0).duration_seconds == pytest.approx(
            3.0 + size / 50, rel=0.05
        )


def test_the_nearest_jobs_count_most_and_the_wider_ones_fill_in() -> None:
    slow, fast = learn([(1e9, 1000.0)] * 5), learn([(1e9, 10.0)] * 5)
    own = predict(RULE, 1e9, Calibration({RULE: fast}, {RULE: slow}, {RULE: slow}), 1.0)
    of_catalog = predict(RULE, 1e9, Calibration({}, {RULE: fast}, {RULE: slow}), 1.0)
    of_fleet = predict(RULE, 1e9, Calibration({}, {}, {RULE: fast}), 1.0)
    assert [own.basis, of_catalog.basis, of_fleet.basis] == [
        CostBasis.TABLE,
        CostBasis.CATALOG,
        CostBasis.DEFAULT,
    ]
    for cost in (own, of_catalog, of_fleet):
        assert cost.duration_seconds == pytest.approx(10.0, rel=0.1)
        assert cost.samples == 5


def test_of_other_kinds_of_action_nothing_is_learnt() -> None:
    known = Calibration(table={RuleName.REWRITE_MANIFESTS: learn([(1e9, 1.0)] * 9)})
    assert predict(RULE, 1e9, known, 1.0) == predict(RULE, 1e9, NOTHING, 1.0)


def test_what_was_learnt_fades_when_a_table_becomes_slower() -> None:
    fit = learn([(1e9, 10.0)] * 20 + [(1e9, 40.0)] * 20)
    assert predict(
        RULE, 1e9, Calibration(table={RULE: fit}), 1.0
    ).duration_seconds == pytest.approx(40.0, rel=0.1)


def test_jobs_that_take_as_long_as_predicted_narrow_the_spread() -> None:
    steady, unsteady = learn([(1e9, 10.0)] * 30), learn([(1e9, 5.0), (1e9, 20.0)] * 15)
    ratios = [
        cost.gb_hours_p90 / cost.gb_hours
        for cost in (
            predict(RULE, 1e9, Calibration(table={RULE: fit}), 1.0) for fit in (steady, unsteady)
        )
    ]
    assert ratios[0] < 1.6 < ratios[1]


def test_the_90th_percentile_holds_for_about_nine_in_ten_jobs() -> None:
    random = Random(7)
    fit, held, errors = CostFit(), 0, []
    jobs = 400
    for _ in range(jobs):
        work = random.uniform(0.05, 5) * GIB
        actual = (4.0 + work / (40 * MIB)) * random.lognormvariate(0, 0.2)
        cost = predict(RULE, work, Calibration(fleet={RULE: fit}), 3600.0)
        held += actual <= cost.gb_hours_p90
        errors.append(abs(cost.duration_seconds - actual) / actual)
        fit = fit.learn(CostSample(work, actual, cost.duration_seconds), SHARED_ALPHA)
    assert 0.85 <= held / jobs <= 0.96
    assert sum(errors[20:]) / (jobs - 20) < 0.19  # the noise itself is 0.16 on average


@settings(max_examples=examples(60))
@given(
    st.lists(st.tuples(st.floats(0, 1e16), st.floats(0, 1e7)), max_size=12),
    st.lists(st.tuples(st.floats(0, 1e16), st.floats(0, 1e7)), max_size=12),
    st.floats(0, 1e16),
    st.floats(0, 1e16),
)
def test_after_any_samples_costs_are_positive_finite_and_grow_with_the_work(
    own: list[tuple[float, float]], others: list[tuple[float, float]], work: float, more: float
) -> None:
    known = Calibration({RULE: learn(own)}, {RULE: learn(others)}, {RULE: learn(own + others)})
    less, much = predict(RULE, work, known, 2.0), predict(RULE, work + more, known, 2.0)
    assert 0 < less.gb_hours <= less.gb_hours_p90 < float("inf")
    assert less.duration_seconds <= much.duration_seconds


def test_first_predictions_are_within_a_factor_of_three() -> None:
    """Files, groups, bytes and seconds of jobs with Spark on a local disk."""
    for files, groups, size, seconds in (
        (20_001, 1, 11_950_000, 15.4),
        (1631, 48, 4_380_237, 20.5),
        (400, 1, 897_528, 5.6),
        (20_000, 1, 163_840_000, 33),
        (60, 1, 240_000_000, 15),
    ):
        estimate = replace(ESTIMATE, items_before=files, partitions=groups, bytes_rewritten=size)
        work = measure_work(RULE, estimate, health_of_partitions({}))
        predicted = predict(RULE, work, NOTHING, 2.0).duration_seconds
        assert seconds / 3 <= predicted <= seconds * 3, files
    for snapshots, seconds in ((263, 6.5), (5000, 601)):
        predicted = predict(
            RuleName.EXPIRE_SNAPSHOTS, float(snapshots), NOTHING, 2.0
        ).duration_seconds
        assert seconds / 3 <= predicted <= seconds * 3


def test_a_table_of_small_files_has_few_bytes_in_its_work() -> None:
    assert find_byte_share(health_of_partitions({})) == 1.0
    assert find_byte_share(health_of_partitions({"": [600] * 20_000})) < 0.25
    assert find_byte_share(health_of_partitions({"": [512 * MIB] * 10})) > 0.999


def test_work_is_bytes_files_and_groups_or_the_snapshots_of_an_expiry() -> None:
    health = replace(health_of_partitions({"a": [MIB] * 3}), manifest_bytes=77)
    assert measure_work(RULE, ESTIMATE, health) == 1000 + 100 * 8000
    assert measure_work(RuleName.REMOVE_ORPHAN_FILES, ESTIMATE, health) == 1000
    assert measure_work(RuleName.EXPIRE_SNAPSHOTS, ESTIMATE, health) == 90
    assert measure_work(RuleName.COMPUTE_TABLE_STATS, ESTIMATE, health) == 3 * MIB
    assert measure_work(RuleName.COMPUTE_PARTITION_STATS, ESTIMATE, health) == 77
    unknown = replace(health, data_bytes=None, manifest_bytes=None)
    assert (
        measure_work(RuleName.COMPUTE_TABLE_STATS, ESTIMATE, unknown)
        == measure_work(RuleName.COMPUTE_PARTITION_STATS, ESTIMATE, unknown)
        == 0
    )


def test_the_chance_falls_with_commits_and_failures_but_never_to_nothing() -> None:
    health = health_of_partitions({})
    quiet, busy = replace(health, commits_per_hour=None), replace(health, commits_per_hour=60.0)
    untried, failed = RuleHistory(RULE), RuleHistory(RULE, consecutive_failures=2)
    assert find_chance(quiet, 600, untried) == 1
    assert find_chance(busy, 60, untried) == pytest.approx(exp(-1), rel=0.01)
    assert find_chance(quiet, 600, failed) == 0.25
    assert find_chance(busy, 36_000, failed) == LEAST_CHANCE


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (RuleName.REWRITE_DATA_FILES, 90),
        (RuleName.REWRITE_POSITION_DELETE_FILES, 180),
        (RuleName.REWRITE_MANIFESTS, 900),
        (RuleName.EXPIRE_SNAPSHOTS, 45),
        (RuleName.COMPUTE_TABLE_STATS, 10),
        (RuleName.COMPUTE_PARTITION_STATS, 10),
        (RuleName.REMOVE_ORPHAN_FILES, 90),
    ],
)
def test_every_rule_has_its_benefit(rule: RuleName, value: float) -> None:
    assert find_benefit(rule, ESTIMATE).value == value


def test_the_published_gain_counts_small_files_of_all_partitions() -> None:
    health = replace(
        health_of_partitions({"a": [MIB] * 4, "b": [MIB] * 4}),
        is_partitioned=True,
        newest_snapshot_at=NOW,
    )
    worth = find_worth(RULE, Estimate(0, 0, 0, 0), Cost(1, 1, 1), health, RuleHistory(RULE))
    assert (worth.benefit.value, worth.published_files) == (0, 8)
    assert worth.published_gb_hours == pytest.approx(0.502, abs=0.002)


def test_the_published_model_skips_unpartitioned_tables_written_within_a_week() -> None:
    health = replace(
        health_of_partitions({"a": [MIB] * 4}),
        is_partitioned=False,
        newest_snapshot_at=NOW - timedelta(days=6),
        measured_at=NOW,
    )
    rested = replace(health, newest_snapshot_at=NOW - timedelta(days=8))
    unknown = replace(health, small_files=None, small_file_bytes=None, newest_snapshot_at=None)
    assert [
        find_worth(RULE, ESTIMATE, Cost(1, 1, 1), one, RuleHistory(RULE)).published_files
        for one in (health, rested, unknown)
    ] == [0, 4, 0]


def test_other_actions_have_their_estimate_for_a_published_gain() -> None:
    worth = find_worth(
        RuleName.REWRITE_MANIFESTS,
        ESTIMATE,
        Cost(1, 1, 1),
        health_of_partitions({}),
        RuleHistory(RuleName.REWRITE_MANIFESTS),
    )
    assert (worth.published_files, worth.published_gb_hours) == (90, 0.5)


def test_a_rewrite_that_applies_deletes_is_worth_more() -> None:
    benefit = find_benefit(RULE, replace(ESTIMATE, files_with_deletes=10))
    assert (benefit.files_removed, benefit.deletes_applied, benefit.value) == (90, 10, 110)


def test_a_job_for_which_nothing_was_predicted_teaches_its_pace_but_no_spread() -> None:
    fit = CostFit().learn(CostSample(1e9, 10.0), TABLE_ALPHA)
    assert (fit.samples, fit.judged, fit.misses) == (1, 0, 0)
    assert predict(
        RULE, 1e9, Calibration(table={RULE: fit}), 1.0
    ).duration_seconds == pytest.approx(10.0, rel=0.05)
