"""The outlook of a table: the running job, a pause, what starts next, or why nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from maintainer.decide.explanation import DOING, explain, explain_admission
from maintainer.domain.admission import AdmissionDecision, ScopePause
from maintainer.domain.driver import Stage
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import Plan, SkipCode, SkippedRule
from maintainer.domain.units import format_instant
from maintainer.policy.restriction import find_scope_pause

# The codes of rules that are due, but delayed for a limited time.
WAITING = (
    SkipCode.IN_FLIGHT,
    SkipCode.OUTSIDE_WINDOW,
    SkipCode.COOLING_DOWN,
    SkipCode.OVER_BUDGET,
    SkipCode.HOT_PARTITION,
    SkipCode.NOT_QUIET,
    SkipCode.PAUSED,
    SkipCode.OBSERVE_ONLY,
    SkipCode.OTHER_MAINTAINER,
)


class OutlookKind(StrEnum):
    """The kinds of outlook."""

    RUNNING = "running"  # it has an unfinished job
    PAUSED = "paused"  # somebody paused the table
    PLANNED = "planned"  # an action is planned, and starts or waits in the queue
    WAITING = "waiting"  # a rule is due, but the policy or another writer delays it
    IDLE = "idle"  # no rule is due
    UNKNOWN = "unknown"  # there is no plan yet


@dataclass(frozen=True, slots=True)
class Outlook:
    """What happens next as a sentence, and why nothing starts."""

    kind: OutlookKind
    sentence: str
    why: str = ""  # why nothing starts; empty if the sentence says why, or if something starts
    # for WAITING and IDLE: the next check; None: when the table or its policy changes
    next_at: datetime | None = None


def find_outlook(
    table: TableIdentifier,
    plan: Plan | None,
    job: Job | None,
    scope_pauses: Sequence[ScopePause],
    admissions: Sequence[AdmissionDecision] = (),
) -> Outlook:
    """Return the first that applies: a job runs; the table is paused, planned, waiting, idle.

    The plan may be older than the job and the pauses, which are current. `scope_pauses` has all
    pauses, including those of other tables.
    """
    pause = find_scope_pause(scope_pauses, table)
    if job is not None:
        after = f" After that nothing starts: {_describe(pause)}." if pause is not None else ""
        return Outlook(OutlookKind.RUNNING, _describe_job(job) + after)
    if pause is not None:
        due = "" if plan is None else _describe_due(plan)
        return Outlook(
            OutlookKind.PAUSED, f"Nothing starts until this ends: {_describe(pause)}.{due}"
        )
    if plan is None:
        return Outlook(OutlookKind.UNKNOWN, "No plan has been made yet.")
    if plan.planned:
        said = {decision.candidate.rule: explain_admission(decision) for decision in admissions}
        return Outlook(
            OutlookKind.PLANNED,
            " ".join(
                said.get(planned.rule, f"{DOING[planned.rule]} is planned.")
                for planned in plan.planned
            ),
        )
    return _find_obstacle(plan)


def _describe_job(job: Job) -> str:
    doing, progress = DOING[job.rule], job.progress
    if job.state is JobState.UNKNOWN:
        return f"{doing}: Spark was lost, and the table's snapshots are read to find its commits."
    if job.state is JobState.PENDING:
        return f"{doing} is requested and starts next."
    details = (progress.sentence if progress.stage is Stage.WORKING else "") or progress.phase
    verb = "is running" if job.state is JobState.RUNNING else "is submitted"
    then = f" Then: {', '.join(DOING[rule].lower() for rule in job.then)}." if job.then else ""
    return f"{doing} {verb}{f' ({details})' if details else ''}.{then}"


def _describe(pause: ScopePause) -> str:
    asked = "started a drain" if pause.is_drain else f"paused {pause.scope}"
    because = f": {pause.reason.rstrip('.')}" if pause.reason else ""
    return f"{pause.by} {asked} at {format_instant(pause.at)}{because}"


def _describe_due(plan: Plan) -> str:
    rules = [
        *(planned.rule for planned in plan.planned),
        *(skipped.rule for skipped in plan.skipped if skipped.code in WAITING),
    ]
    return f" Due until then: {', '.join(DOING[rule].lower() for rule in rules)}." if rules else ""


def _find_obstacle(plan: Plan) -> Outlook:
    """The due rule with the earliest next check; if none is due, why."""
    waiting = [skipped for skipped in plan.skipped if skipped.code in WAITING]
    if waiting:
        first = min(waiting, key=next_check_of)
        return Outlook(OutlookKind.WAITING, explain(first), next_at=first.next_at)
    if not plan.skipped:
        return Outlook(
            OutlookKind.IDLE, "Nothing is due.", "The policy has no rules for this table."
        )
    main = next(
        (skipped for skipped in plan.skipped if skipped.code is SkipCode.NOTHING_TO_GAIN),
        plan.skipped[0],
    )
    return Outlook(
        OutlookKind.IDLE,
        "Nothing is due.",
        explain(main),
        min(plan.skipped, key=next_check_of).next_at,
    )


def next_check_of(skipped: SkippedRule) -> tuple[bool, datetime]:
    """A sort key: the earliest next check first, unknown ones last."""
    return (skipped.next_at is None, skipped.next_at or datetime.max.replace(tzinfo=UTC))
