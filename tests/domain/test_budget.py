from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from maintainer.domain.admission import (
    AdmissionDecision,
    Candidate,
    PausesInForce,
    ScopePause,
    Wait,
    WaitCode,
    read_scope,
)
from maintainer.domain.cost import Benefit, Cost, Score, Worth
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import Budget, Charge, RuleName, Spending, day_of
from tests.adapters.store.values import NOW, make_job

TABLE = TableIdentifier("lake", ("sales",), "orders")


def test_spending_is_summed_by_catalog_and_by_policy() -> None:
    spending = Spending(
        "2026-11-21",
        {
            ("lake", ""): Charge(1, 0.5),
            ("lake", "a.yaml"): Charge(2, 1),
            ("other", "a.yaml"): Charge(4, 2),
        },
    )
    assert spending.total == Charge(7, 3.5)
    assert spending.of_catalog("lake") == Charge(3, 1.5)
    assert spending.of_policy("a.yaml") == Charge(6, 3)
    assert spending.of_policy("unknown") == Charge()


def test_a_day_is_named_by_its_date() -> None:
    assert day_of(datetime(2026, 11, 21, 23, 59, tzinfo=UTC)) == "2026-11-21"


def test_a_budget_without_limits_limits_nothing() -> None:
    assert Budget(name="the fleet").is_unlimited
    assert not Budget(gb_hours_per_day=1.0).is_unlimited


@pytest.mark.parametrize(
    ("scope", "is_covered"),
    [
        ("*", True),
        ("lake.*", True),
        ("lake.sales.*", True),
        ("lake.sales.orders", True),
        ("lake.sales", False),
        ("lake.sal.*", False),
        ("other.*", False),
    ],
)
def test_a_pause_covers_the_tables_of_its_scope(scope: str, is_covered: bool) -> None:
    assert ScopePause(scope, "ann", NOW).covers(TABLE) is is_covered


def test_each_recent_conflict_halves_the_scope_down_to_a_sixty_fourth() -> None:
    factors = [
        RuleHistory(RuleName.REWRITE_DATA_FILES, recent_conflicts=conflicts).scope_factor
        for conflicts in (0, 1, 2, 6, 50)
    ]
    assert factors == [1, 0.5, 0.25, 1 / 64, 1 / 64]


def test_a_job_is_charged_at_most_what_was_predicted_until_it_is_over_and_then_what_it_took() -> (
    None
):
    job = replace(make_job(), cost=Cost(1.0, 2.0, 60.0), memory_gb=4.0)
    assert job.charge == Charge(float(job.estimate.bytes_rewritten), 2.0)
    assert job.gb_hours is None
    ran = replace(
        job,
        state=JobState.FAILED,
        submitted_at=NOW,
        started_at=NOW,
        ended_at=NOW + timedelta(minutes=15),
    )
    assert ran.charge.gb_hours == ran.gb_hours == 1.0
    assert replace(ran, ended_at=None).charge.gb_hours == 2.0  # lost: nobody knows
    assert replace(job, state=JobState.CANCELLED).charge == Charge()  # it never reached Spark
    assert replace(job, cost=None, memory_gb=None).charge.gb_hours == 0.0
    assert job.cost is not None
    assert job.cost.duration == timedelta(minutes=1)


def test_a_verdict_without_a_wait_is_an_admission() -> None:
    candidate = Candidate(
        TABLE, "uuid", RuleName.EXPIRE_SNAPSHOTS, Cost(1, 1, 1), Worth(Benefit()), 0, NOW
    )
    assert AdmissionDecision(candidate, Score("maintainer", 1.0)).is_admitted
    assert not AdmissionDecision(
        candidate, Score("maintainer", 1.0), Wait(WaitCode.QUEUED, "later")
    ).is_admitted


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("", "*"),
        ("lake", "lake.*"),
        ("lake.sales", "lake.sales.*"),
        ("lake.sales.orders", "lake.sales.orders"),
        ("lake.*.orders", "lake.*.orders"),
        ("lake.`a.b`", "lake.`a.b`.*"),
    ],
)
def test_a_scope_is_a_table_or_a_glob(text: str, scope: str) -> None:
    assert read_scope(text) == scope


@pytest.mark.parametrize("text", ["a b", "x" * 501, "lake..orders", "a\nb"])
def test_what_names_no_scope_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError):
        read_scope(text)


def test_a_drain_is_of_everything() -> None:
    with pytest.raises(InvalidValueError, match=r"a drain is of everything \(\*\), not of lake"):
        ScopePause("lake.*", "ann", NOW, is_drain=True)


def test_it_is_drained_when_everything_was_asked_to_end_and_nothing_runs() -> None:
    drain = ScopePause("*", "ann", NOW, is_drain=True)
    assert PausesInForce((drain,), is_draining=True, running=()).is_drained
    assert not PausesInForce((drain,), is_draining=True, running=(make_job(),)).is_drained
    assert not PausesInForce((), is_draining=False, running=()).is_drained
