"""What happens on a table now and next, in one sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.explanation import DOING
from maintainer.decide.outlook import Outlook, OutlookKind, find_outlook
from maintainer.domain.action import Repair, RewriteDataFiles
from maintainer.domain.admission import (
    AdmissionDecision,
    ScopePause,
    Wait,
    WaitCode,
    find_candidates,
)
from maintainer.domain.cost import Benefit, Cost, Score, Worth
from maintainer.domain.driver import Progress, Stage
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import Estimate, Plan, PlannedAction, SkipCode, SkippedRule
from maintainer.domain.policy import Mode, RuleName
from tests.samples import NOW, TABLE, UUID

REWRITE, EXPIRE, MANIFESTS = (
    RuleName.REWRITE_DATA_FILES,
    RuleName.EXPIRE_SNAPSHOTS,
    RuleName.REWRITE_MANIFESTS,
)
ESTIMATE = Estimate(100, 2, 98, 1000)
COMPACT = PlannedAction(
    REWRITE,
    RewriteDataFiles(),
    (),
    ESTIMATE,
    "100 files become 2",
    Cost(1.0, 1.0, 9.0),
    worth=Worth(Benefit(value=98.0)),
)
HOUR = timedelta(hours=1)
PAUSED = ScopePause(str(TABLE), "ann", NOW, "we look into it.")


def plan(*verdicts: PlannedAction | SkippedRule) -> Plan:
    planned = tuple(verdict for verdict in verdicts if isinstance(verdict, PlannedAction))
    skipped = tuple(verdict for verdict in verdicts if isinstance(verdict, SkippedRule))
    return Plan(TABLE, UUID, 1, "m.json", "v1", Mode.ENFORCE, 50, NOW, planned, skipped)


def job(state: JobState = JobState.RUNNING, **more: object) -> Job:
    made = Job(
        "m-1",
        TABLE,
        UUID,
        REWRITE,
        RewriteDataFiles(),
        (),
        ESTIMATE,
        "small",
        "v1",
        50,
        "policy",
        NOW,
        state=state,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def wait_for(wait: Wait | None) -> tuple[AdmissionDecision, ...]:
    return tuple(
        AdmissionDecision(candidate, Score("maintainer", 1.0), wait)
        for candidate in find_candidates(plan(COMPACT))
    )


WITHOUT_WORK = plan(
    SkippedRule(
        REWRITE,
        SkipCode.IN_FLIGHT,
        "job m-1 is working on this table; a table has one job at a time",
    )
)


def test_a_running_job_is_named_with_its_progress_in_spite_of_an_older_plan() -> None:
    progress = Progress(47, 48, "running on Spark", 3, 4, stage=Stage.WORKING)
    found = find_outlook(TABLE, WITHOUT_WORK, job(progress=progress), ())
    assert found == Outlook(
        OutlookKind.RUNNING, "Compacting data files is running (3 of 4 file groups)."
    )
    assert find_outlook(TABLE, None, job(progress=progress), ()) == found


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (JobState.PENDING, "Compacting data files is requested and starts next."),
        (JobState.SUBMITTED, "Compacting data files is submitted (starting Spark)."),
        (
            JobState.UNKNOWN,
            (
                "Compacting data files: Spark was lost, and the table's snapshots are read to "
                "find its commits."
            ),
        ),
    ],
)
def test_a_job_that_does_not_run_yet_or_any_more_says_so(state: JobState, sentence: str) -> None:
    assert (
        find_outlook(
            TABLE, WITHOUT_WORK, job(state, progress=Progress(phase="starting Spark")), ()
        ).sentence
        == sentence
    )


def test_a_running_job_says_what_follows_and_that_the_table_is_paused_after_it() -> None:
    found = find_outlook(TABLE, None, job(then=(EXPIRE,)), (PAUSED,))
    assert found.sentence == (
        f"Compacting data files is running. Then: expiring snapshots. After that nothing starts: "
        f"ann paused {TABLE} at 2026-03-04 12:00 UTC: we look into it."
    )


@pytest.mark.parametrize(
    ("pause", "cause"),
    [
        (PAUSED, f"ann paused {TABLE} at 2026-03-04 12:00 UTC: we look into it"),
        (ScopePause("*", "bob", NOW), "bob paused * at 2026-03-04 12:00 UTC"),
        (
            ScopePause("*", "bob", NOW, "upgrade", is_drain=True),
            "bob started a drain at 2026-03-04 12:00 UTC: upgrade",
        ),
    ],
)
def test_a_paused_table_says_who_paused_what_and_what_is_due(pause: ScopePause, cause: str) -> None:
    skipped = (
        SkippedRule(EXPIRE, SkipCode.OUTSIDE_WINDOW, "outside the window"),
        SkippedRule(MANIFESTS, SkipCode.BELOW_THRESHOLD, "few"),
    )
    found = find_outlook(TABLE, plan(COMPACT, *skipped), None, (pause,))
    assert found == Outlook(
        OutlookKind.PAUSED,
        f"Nothing starts until this ends: {cause}. Due until then: compacting data files, "
        f"expiring snapshots.",
    )
    assert (
        find_outlook(TABLE, plan(), None, (pause,)).sentence
        == f"Nothing starts until this ends: {cause}."
    )


def test_a_pause_of_other_tables_changes_nothing() -> None:
    assert (
        find_outlook(TABLE, plan(COMPACT), None, (ScopePause("other.*", "ann", NOW),)).kind
        is OutlookKind.PLANNED
    )


def test_what_is_planned_says_whether_it_starts_or_why_it_waits() -> None:
    assert (
        find_outlook(TABLE, plan(COMPACT), None, ()).sentence == "Compacting data files is planned."
    )
    assert (
        find_outlook(TABLE, plan(COMPACT), None, (), wait_for(None)).sentence
        == "Compacting data files starts next."
    )
    queued = Wait(WaitCode.QUEUED, "no free slot")
    assert (
        find_outlook(TABLE, plan(COMPACT), None, (), wait_for(queued)).sentence
        == "Compacting data files waits: no free slot."
    )


def test_of_several_waiting_rules_the_one_with_the_earliest_check_is_named() -> None:
    held = [
        SkippedRule(MANIFESTS, SkipCode.BELOW_THRESHOLD, "few", NOW),
        SkippedRule(EXPIRE, SkipCode.PAUSED, "held"),
        SkippedRule(REWRITE, SkipCode.COOLING_DOWN, "ran 1 h ago", NOW + HOUR),
    ]
    assert find_outlook(TABLE, plan(*held), None, ()) == Outlook(
        OutlookKind.WAITING,
        "Compacting data files is due and waits for the end of its cooldown: ran 1 h ago.",
        next_at=NOW + HOUR,
    )


def test_a_table_with_nothing_due_says_why_and_when_it_is_checked_again() -> None:
    few = SkippedRule(MANIFESTS, SkipCode.BELOW_THRESHOLD, "few", NOW + HOUR)
    fine = SkippedRule(REWRITE, SkipCode.NOTHING_TO_GAIN, "no group is worth it")
    expected = Outlook(
        OutlookKind.IDLE,
        "Nothing is due.",
        "Compacting data files would achieve nothing: no group is worth it.",
        NOW + HOUR,
    )
    assert find_outlook(TABLE, plan(few, fine), None, ()) == expected
    assert find_outlook(TABLE, plan(few), None, ()).why == "Rewriting manifests is not due: few."
    assert find_outlook(TABLE, plan(), None, ()) == Outlook(
        OutlookKind.IDLE, "Nothing is due.", "The policy has no rules for this table."
    )


def test_a_table_without_a_plan_says_so() -> None:
    assert find_outlook(TABLE, None, None, ()) == Outlook(
        OutlookKind.UNKNOWN, "No plan has been made yet."
    )
    assert find_outlook(TABLE, None, None, (PAUSED,)).kind is OutlookKind.PAUSED


def test_every_rule_of_a_job_has_words() -> None:
    assert set(DOING) == {*RuleName, *Repair}
