"""The status of a table: its one state, from what scan, plan, jobs, pauses and queue say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from shlex import quote

from maintainer.decide.explanation import explain
from maintainer.decide.grading.bands import DAMAGE, WRONG_SUMMARY
from maintainer.decide.notices import entry_of_pause
from maintainer.decide.outlook import WAITING, Outlook, find_outlook, next_check_of
from maintainer.domain.admission import EVERYTHING, AdmissionDecision, ScopePause
from maintainer.domain.health import Band, Finding, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.metric import Metric
from maintainer.domain.plan import Plan, SkipCode, SkippedRule, Unenforced
from maintainer.domain.policy import RuleName
from maintainer.domain.rules import RULES
from maintainer.domain.status import TableState, TableStatus
from maintainer.policy.restriction import find_scope_pause

_SIZES = frozenset({Metric.AVERAGE_FILE_SIZE_BYTES.value, Metric.SMALL_FILE_RATIO.value})
# Why a compaction that would help is refused until a person acts. What stops a whole pool, and
# what the table's owner switched off, are not problems of the table.
_REFUSALS = frozenset(
    {
        SkipCode.UNSAFE,
        SkipCode.UNSUPPORTED,
        SkipCode.GC_DISABLED,
        SkipCode.RETENTION_FLOOR,
        SkipCode.PINNED,
        SkipCode.AMBIGUOUS_POLICY,
    }
)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What is known about one table. The job and the pauses may be newer than the plan."""

    table: TableIdentifier
    fault: TableFault | None = None
    grade: Grade | None = None  # None: it was never measured
    plan: Plan | None = None
    job: Job | None = None  # the unfinished one
    scope_pauses: Sequence[ScopePause] = ()  # all pauses, including those of other tables
    admissions: Sequence[AdmissionDecision] = ()  # of its planned actions
    is_covered: bool = True  # a policy selects it
    is_partitioned: bool | None = None


def find_status(facts: TableFacts) -> TableStatus:
    """The first state that applies, the most urgent first."""
    if facts.fault is not None:
        return _write(
            facts,
            TableState.UNREADABLE,
            f"The table cannot be read: {_end(facts.fault.reason)}",
            facts.fault.seen_at,
            command="scan",
            needs_person=True,
        )
    outlook = find_outlook(facts.table, facts.plan, facts.job, facts.scope_pauses, facts.admissions)
    damage = _find_damage(facts.grade)
    if damage is not None:
        return _describe_damage(facts, damage, outlook)
    if facts.job is not None:
        return _describe_job(facts, facts.job, outlook)
    pause = find_scope_pause(facts.scope_pauses, facts.table)
    if pause is not None:
        return _describe_pause(facts, pause, outlook)
    if facts.grade is None:
        return _write(
            facts, TableState.WAITING, "The table waits for its first scan.", command="scan"
        )
    if not facts.is_covered:
        return _describe_uncovered(facts, facts.grade)
    if facts.plan is None:
        return _write(facts, TableState.WAITING, outlook.sentence, command="plan")
    return _describe_plan(facts, facts.plan, facts.grade, outlook)


def _find_damage(grade: Grade | None) -> Finding | None:
    """The finding that readers fail, or return wrong rows."""
    findings = grade.findings if grade is not None else ()
    return next((finding for finding in findings if finding.metric in DAMAGE), None)


def _write(  # noqa: PLR0913, PLR0917 - the fields of a status
    facts: TableFacts,
    state: TableState,
    sentence: str,
    since: datetime | None = None,
    until: datetime | None = None,
    command: str = "",
    *,
    needs_person: bool = False,
) -> TableStatus:
    """The status; `command` is the name of a command on this table."""
    return TableStatus(
        facts.table,
        state,
        sentence,
        since,
        until,
        f"maintainer {command} {quote(str(facts.table))}" if command else "",
        facts.grade.band if facts.grade is not None else None,
        needs_person,
    )


def _describe_damage(facts: TableFacts, damage: Finding, outlook: Outlook) -> TableStatus:
    """Wrong summaries are mended by a rewrite of manifests; all else needs a person."""
    mends = RuleName.REWRITE_MANIFESTS
    rules = {planned.rule for planned in facts.plan.planned} if facts.plan is not None else set()
    is_mended = damage.metric == WRONG_SUMMARY and (
        mends in rules if facts.job is None else facts.job.rule is mends
    )
    sentence = f"The table is damaged: {_end(damage.sentence)}"
    return _write(
        facts,
        TableState.DAMAGED,
        f"{sentence} {outlook.sentence}" if facts.job is not None or is_mended else sentence,
        facts.grade.entered_at if facts.grade is not None else None,
        command="why",
        needs_person=not is_mended,
    )


def _describe_job(facts: TableFacts, job: Job, outlook: Outlook) -> TableStatus:
    began = job.started_at or job.submitted_at
    predicted = began + job.cost.duration if began is not None and job.cost is not None else None
    return TableStatus(
        facts.table,
        TableState.BEING_MAINTAINED,
        outlook.sentence,
        began or job.created_at,
        job.progress.ends_at or predicted,
        f"maintainer jobs show {quote(job.job_id)}",
        facts.grade.band if facts.grade is not None else None,
    )


def _describe_pause(facts: TableFacts, pause: ScopePause, outlook: Outlook) -> TableStatus:
    scope = "" if pause.scope == EVERYTHING else f" {quote(pause.scope)}"
    return TableStatus(
        facts.table,
        TableState.PAUSED,
        outlook.sentence,
        pause.at,
        None,
        f"maintainer resume{scope}",
        facts.grade.band if facts.grade is not None else None,
        # The daemon's own pauses: a proof failed, or a job's result cannot be read.
        entry_of_pause(facts.table, pause.by, pause.reason, pause.at) is not None,
    )


def _describe_uncovered(facts: TableFacts, grade: Grade) -> TableStatus:
    observed = _find_observed(facts.plan)
    why = explain(observed[0]) if observed else _end(grade.reason)
    found = _write(
        facts, TableState.NOT_COVERED, f"No policy selects the table. {why}", command="suggest"
    )
    return _add_unenforced(found, observed) if observed else found


def _describe_plan(facts: TableFacts, plan: Plan, grade: Grade, outlook: Outlook) -> TableStatus:
    if plan.planned:
        return _describe_planned(facts, plan, grade, outlook)
    observed = _find_observed(plan)
    if observed:
        since = _since(grade, [one.waiting_since for one in observed])
        found = _write(facts, TableState.OBSERVED, explain(observed[0]), since, command="plan")
        return _add_unenforced(found, observed)
    held = [one for one in plan.skipped if one.code in WAITING and _would_help(one)]
    if held:
        first = min(held, key=next_check_of)
        since = _since(grade, [one.waiting_since for one in held])
        return _write(
            facts, TableState.WAITING, explain(first), since, first.next_at, command="plan"
        )
    if grade.band is not Band.HEALTHY:
        refused = _find_refused(plan)
        why = outlook.why if refused is None else explain(refused)
        return _write(
            facts,
            TableState.WAITING,
            f"{_end(grade.reason)} {outlook.sentence} {why}".rstrip(),
            grade.entered_at,
            outlook.next_at,
            command="why",
            needs_person=grade.band is Band.CRITICAL and refused is not None,
        )
    return _describe_rest(facts, grade)


def _find_refused(plan: Plan) -> SkippedRule | None:
    """The refused compaction: only small files make a table critical that is not damaged."""
    return next(
        (
            one
            for one in plan.skipped
            if RULES[one.rule].replaces_data_files and one.code in _REFUSALS
        ),
        None,
    )


def _find_observed(plan: Plan | None) -> tuple[SkippedRule, ...]:
    """The rules that would run if the policy were in mode enforce."""
    skipped = plan.skipped if plan is not None else ()
    return tuple(one for one in skipped if one.code is SkipCode.OBSERVE_ONLY)


def _add_unenforced(found: TableStatus, observed: Sequence[SkippedRule]) -> TableStatus:
    files = sum(
        one.estimate.items_removed
        for one in observed
        if one.estimate is not None and RULES[one.rule].replaces_data_files
    )
    gb_hours = sum(one.cost.gb_hours for one in observed if one.cost is not None)
    return replace(found, needs_person=True, unenforced=Unenforced(1, files, gb_hours))


def _describe_planned(facts: TableFacts, plan: Plan, grade: Grade, outlook: Outlook) -> TableStatus:
    waits = {decision.candidate.rule: decision.wait for decision in facts.admissions}
    found = [waits.get(planned.rule) for planned in plan.planned]
    since = _since(grade, [planned.waiting_since for planned in plan.planned])
    if None in found:
        return _write(facts, TableState.DUE, outlook.sentence, since, command="plan")
    ends = [wait.next_at for wait in found if wait is not None and wait.next_at is not None]
    return _write(
        facts,
        TableState.WAITING,
        outlook.sentence,
        since,
        min(ends, default=None),
        command="plan",
    )


def _describe_rest(facts: TableFacts, grade: Grade) -> TableStatus:
    """A table for which nothing is due: healthy, or small by nature."""
    small = next((finding for finding in grade.findings if finding.metric in _SIZES), None)
    if small is None:
        return _write(facts, TableState.HEALTHY, _end(grade.reason), grade.entered_at)
    cure = "Coarser partitions or more data" if facts.is_partitioned else "More data"
    return _write(
        facts,
        TableState.SMALL_BY_NATURE,
        f"Maintenance cannot help: {_end(small.sentence)} {cure} would.",
        grade.entered_at,
        command="why",
    )


def _would_help(skipped: SkippedRule) -> bool:
    """False for a run by schedule that would remove nothing, such as a listing of orphan files."""
    estimate = skipped.estimate
    return estimate is None or estimate.items_removed > 0 or estimate.files_with_deletes > 0


def _since(grade: Grade, known: Sequence[datetime | None]) -> datetime | None:
    """Since when a rule waits, or else since when the table has its band."""
    return min((one for one in known if one is not None), default=grade.entered_at)


def _end(reason: str) -> str:
    return f"{reason.rstrip('.')}."
