from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.explanation import (
    explain,
    explain_admission,
    give_verdicts,
    give_wait,
    key_of,
    write_next_check,
)
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles
from maintainer.domain.admission import AdmissionDecision, Candidate, Wait, WaitCode
from maintainer.domain.cost import Benefit, Cost, Score, Worth
from maintainer.domain.health import Finding
from maintainer.domain.plan import PLANNED, Estimate, Plan, PlannedAction, SkipCode, SkippedRule
from maintainer.domain.policy import BudgetState, Mode, Resource, RuleName
from tests.samples import NOW, TABLE, UUID

REWRITE, EXPIRE = RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS
SMALL = Finding(
    "average_file_size_bytes",
    36_000,
    33_554_432,
    sentence="average file size 35 KiB, threshold below 32 MiB",
)
ESTIMATE = Estimate(1536, 96, 1440, 55_000_000, 96)
COMPACT = PlannedAction(
    REWRITE,
    RewriteDataFiles(),
    (SMALL,),
    ESTIMATE,
    "average file size 35 KiB, threshold below 32 MiB; 1,536 files in 96 groups would become 96",
)


def skip(code: SkipCode, reason: str, **more: object) -> SkippedRule:
    return SkippedRule(REWRITE, code, reason, **more)  # type: ignore[arg-type]


def plan(*verdicts: PlannedAction | SkippedRule) -> Plan:
    planned = tuple(verdict for verdict in verdicts if isinstance(verdict, PlannedAction))
    skipped = tuple(verdict for verdict in verdicts if isinstance(verdict, SkippedRule))
    return Plan(TABLE, UUID, 1, "m.json", "v1", Mode.ENFORCE, 50, NOW, planned, skipped)


def test_a_planned_action_says_what_is_wrong_and_what_it_would_change() -> None:
    assert explain(COMPACT) == (
        "Compacting data files is worth doing: average file size 35 KiB, threshold below 32 MiB; "
        "1,536 files in 96 groups would become 96."
    )


def test_four_small_files_in_each_partition_have_nothing_to_gain_in_words() -> None:
    reason = (
        "48 small files are in 12 partitions, at most 4 in one; a rewrite selects a partition "
        "with at least 5 of them"
    )
    reported = explain(
        skip(SkipCode.NOTHING_TO_GAIN, reason, findings=(SMALL,), estimate=Estimate(0, 0, 0, 0))
    )
    assert reported == f"Compacting data files would achieve nothing: {reason}."


def test_what_waits_also_says_why_it_is_due() -> None:
    reported = explain(
        skip(SkipCode.PAUSED, "ann paused this table", findings=(SMALL,), estimate=ESTIMATE)
    )
    assert reported == (
        "Compacting data files is due and waits, because the table is paused: ann paused this "
        "table; average file size 35 KiB, threshold below 32 MiB."
    )


@pytest.mark.parametrize("code", list(SkipCode))
@pytest.mark.parametrize("rule", list(RuleName))
def test_every_rule_and_every_code_has_words(rule: RuleName, code: SkipCode) -> None:
    reported = explain(replace(skip(code, "because."), rule=rule))
    assert reported[0].isupper()
    assert reported.endswith(": because.")
    assert "_" not in reported


def test_the_next_check_is_given_in_utc_or_as_a_change() -> None:
    assert write_next_check(NOW + timedelta(hours=2)) == "2026-03-04 14:00 UTC"
    assert write_next_check(None) == "when the table or its policy changes"


def test_an_action_that_is_planned_says_whether_it_starts_or_why_and_until_when_it_waits() -> None:
    candidate = Candidate(TABLE, UUID, REWRITE, Cost(0.5, 0.8, 90.0), Worth(Benefit(98)), 1000, NOW)
    starts = AdmissionDecision(candidate, Score("maintainer", 1.0))
    assert explain_admission(starts) == "Compacting data files starts next."
    queued = replace(
        starts, wait=Wait(WaitCode.QUEUED, "no free slot; 3 ahead in the queue", ahead=3)
    )
    assert (
        explain_admission(queued)
        == "Compacting data files waits: no free slot; 3 ahead in the queue."
    )
    blackout = replace(
        starts,
        wait=Wait(
            WaitCode.BLACKOUT,
            "nothing starts in the blackout window (0 8 * * *, UTC)",
            NOW + timedelta(hours=1),
        ),
    )
    assert explain_admission(blackout) == (
        "Compacting data files waits, until 2026-03-04 13:00 UTC at the earliest: nothing starts "
        "in the blackout window (0 8 * * *, UTC)."
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "average file size 35 KiB, threshold below 32 MiB",
            "average file size 1.2 MiB, threshold below 32 MiB",
        ),
        (
            "last run at 2026-03-04 11:00 UTC, at most every 6 h",
            "last run at 2026-03-05 09:30 UTC, at most every 12 h",
        ),
        (
            "job m-1f2e is working on this table; a table has one job at a time",
            "job m-99aa is working on this table; a table has one job at a time",
        ),
        (
            "s3://lake/m-17.avro cannot be read: truncated",
            "s3://lake/m-18.avro cannot be read: truncated",
        ),
        (
            "share of small files 12%, threshold above 20%",
            "share of small files 9%, threshold above 20%",
        ),
        ("manifests 7, threshold above 100", "manifests 1,234, threshold above 5,000"),
    ],
)
def test_figures_that_move_are_the_same_verdict(before: str, after: str) -> None:
    assert key_of(skip(SkipCode.BELOW_THRESHOLD, before)) == key_of(
        skip(SkipCode.BELOW_THRESHOLD, after)
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("average file size 40 MiB, threshold below 32 MiB", "small files 4, threshold above 50"),
        ("ann paused this table", "bob paused this table"),
        (
            "failed once (conflict), last at 2026-03-04 11:00 UTC; waits 1 h",
            "failed once (out_of_memory), last at 2026-03-04 11:00 UTC; waits 1 h",
        ),
    ],
)
def test_another_reason_is_another_verdict(before: str, after: str) -> None:
    assert key_of(skip(SkipCode.COOLING_DOWN, before)) != key_of(skip(SkipCode.COOLING_DOWN, after))


def test_another_threshold_that_holds_is_another_verdict_and_its_figures_are_not() -> None:
    many = Finding("small_file_count", 1536, 50)
    assert key_of(replace(COMPACT, findings=(SMALL, many))) != key_of(COMPACT)
    assert key_of(replace(COMPACT, findings=(many, SMALL))) == key_of(
        replace(COMPACT, findings=(SMALL, replace(many, observed=1600.0)), reason="1,600 files")
    )


def test_the_history_gets_each_rule_once_in_the_order_of_execution() -> None:
    later = NOW + timedelta(hours=5)
    waiting = SkippedRule(
        EXPIRE, SkipCode.COOLING_DOWN, "ran 1 h ago", later, would_do=ExpireSnapshots(NOW, 10)
    )
    costly = replace(
        COMPACT, cost=Cost(0.5, 0.8, 90.0), score=Score("ours", 12.0, (("chance", 0.9),))
    )
    verdicts = give_verdicts(
        plan(
            SkippedRule(RuleName.REWRITE_MANIFESTS, SkipCode.BELOW_THRESHOLD, "7 manifests"),
            waiting,
            costly,
        )
    )
    assert [(verdict.rule, verdict.code, verdict.next_at) for verdict in verdicts] == [
        (REWRITE, PLANNED, NOW), (RuleName.REWRITE_MANIFESTS, "below_threshold", None), (EXPIRE,
        "cooling_down", later),
    ]  # fmt: skip
    assert (verdicts[0].cost, verdicts[0].score, verdicts[0].estimate, verdicts[0].findings) == (
        costly.cost,
        costly.score,
        ESTIMATE,
        (SMALL,),
    )
    assert {(verdict.at, verdict.policy_version, verdict.until) for verdict in verdicts} == {
        (NOW, "v1", None)
    }


def test_every_code_has_words_of_its_own() -> None:
    reported = {code: explain(SkippedRule(REWRITE, code, "x")) for code in SkipCode}
    assert not [code for code, sentence in reported.items() if "is not done now" in sentence]


def test_what_admission_holds_back_says_why_it_waits_and_why_it_was_wanted() -> None:
    spent = Wait(
        WaitCode.OVER_BUDGET,
        "3 GB-hours of 3 GB-hours of the fleet are spent today, and this needs up to 1 GB-hours",
        NOW + timedelta(hours=12),
    )
    spent = replace(
        spent, budget=BudgetState("the fleet", Resource.GB_HOURS_PER_DAY, 3.0, 3.0, spent.next_at)
    )
    held = give_wait(plan(COMPACT), COMPACT, spent, NOW + timedelta(minutes=5))
    assert held.sentence == (
        "Compacting data files is due and waits for the budget: 3 GB-hours of 3 GB-hours of the "
        "fleet are spent today, and this needs up to 1 GB-hours; "
        "average file size 35 KiB, threshold below 32 MiB; 1,536 files in 96 groups would become "
        "96."
    )
    assert (held.code, held.at, held.next_at) == (
        "over_budget",
        NOW + timedelta(minutes=5),
        NOW + timedelta(hours=12),
    )
    assert held.key == "average_file_size_bytes|admission: gb_hours_per_day of the fleet"
    assert (held.findings, held.estimate, held.policy_version) == ((SMALL,), ESTIMATE, "v1")
    dark = give_wait(
        plan(COMPACT),
        COMPACT,
        Wait(WaitCode.BLACKOUT, "nothing starts in the blackout window (0 8 * * *, UTC)", NOW),
        NOW,
    )
    assert (dark.code, dark.sentence.partition(": ")[0]) == (
        "outside_window",
        "Compacting data files is due and waits for its maintenance window",
    )


def test_what_waits_no_more_is_planned_as_it_was() -> None:
    (made,) = give_verdicts(plan(COMPACT))
    later = NOW + timedelta(hours=1)
    assert give_wait(plan(COMPACT), COMPACT, None, later) == replace(made, at=later, next_at=later)
