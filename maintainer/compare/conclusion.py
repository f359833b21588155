"""The final state of a job, which follows from Spark's report and the job's effect."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.compare.effect import count_claimed, end_of_work
from maintainer.domain.action import (
    Checksum,
)
from maintainer.domain.conflict import CONFLICT_WORDS, ConflictKind
from maintainer.domain.effect import ContentProof, Effect, RowProof
from maintainer.domain.inventory import StatisticsFile, TableInventory
from maintainer.domain.job import FailureReason, Job, JobState, Outcome
from maintainer.domain.units import format_count, format_duration, is_ahead
from maintainer.procedures.registry import chapter_of


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The final state of a reviewed job."""

    state: JobState
    reason: FailureReason | None = None
    message: str = ""


def _offer_way_back(job: Job, effect: Effect) -> str:
    """The command that undoes the job's commits; empty if there is nothing to roll back."""
    if not job.is_rewrite:
        return ""
    if not effect.own_snapshot_ids:
        return ""
    commits = format_count(len(effect.own_snapshot_ids), "commit")
    return (
        f"`maintainer rollback {job.job_id}` undoes the job's {commits}, unless others have "
        f"committed since: "
    )


def conclude(job: Job, effect: Effect) -> Conclusion:
    """Decide a job's final state from Spark's report and the table's metadata."""
    outcome, kind = job.outcome, end_of_work(job)
    message = outcome.message if outcome is not None else ""
    if effect.rows is RowProof.DIFFERENT:
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            _offer_way_back(job, effect)
            + "the rows before and after the job's commits are not the same; no further job starts "
            "on this table",
        )
    if effect.failed_proofs:
        return Conclusion(
            JobState.FAILED,
            FailureReason.UNPROVED,
            _offer_way_back(job, effect)
            + f"{'; '.join(effect.failed_proofs)}; no further job starts on this table",
        )
    if kind == "finished":
        if count_claimed(job) and not effect.own_commits and effect.other_commits:
            return Conclusion(
                JobState.FAILED,
                FailureReason.CONFLICT,
                f"A writer won: {CONFLICT_WORDS[ConflictKind.TAKEN_BACK]}.",
            )
        unproved = _find_unproved(job, effect)
        done = Conclusion(
            JobState.SUCCEEDED, None, _ROWS_UNKNOWN if effect.rows is RowProof.UNKNOWN else ""
        )
        return (
            Conclusion(JobState.FAILED, FailureReason.UNPROVED, unproved)
            if unproved
            else _conclude_checked(job, effect, done)
        )
    if kind in {"cancelled", "lost"} and is_timed_out(job):
        return Conclusion(
            JobState.FAILED,
            FailureReason.TIMEOUT,
            " ".join(part for part in (describe_timeout(job), _partial(job, effect)) if part),
        )
    if kind == "cancelled":
        return Conclusion(JobState.CANCELLED, None, _partial(job, effect))
    if kind == "failed":
        # Dangling deletes are removed after the complete rewrite, so the rewrite itself is
        # complete.
        if (
            outcome is not None
            and outcome.conflict is ConflictKind.SNAPSHOT_CHANGED
            and effect.own_commits
        ):
            return _conclude_checked(
                job, effect, Conclusion(JobState.SUCCEEDED, None, _describe_conflict(outcome))
            )
        reason = outcome.reason if outcome is not None else None
        parts = (_describe_conflict(outcome), message, _partial(job, effect))
        return Conclusion(
            JobState.FAILED, reason or FailureReason.OTHER, " ".join(part for part in parts if part)
        )
    return _conclude_lost(job, effect, message or "Spark was lost")


def _conclude_lost(job: Job, effect: Effect, message: str) -> Conclusion:
    """Decide from the table alone, because Spark was lost; partial work is no success."""
    said = job.outcome.reason if job.outcome is not None else None
    # A job whose end was requested counts as cancelled, even if Spark had to be killed for
    # that.
    state, reason = (
        (JobState.CANCELLED, None)
        if job.cancel_requested_by
        else (JobState.FAILED, said or FailureReason.LOST_RUNNER)
    )
    if effect.is_idle:
        return Conclusion(
            state, reason, f"{message}; the table shows that nothing of this job was committed"
        )
    if effect.files_left:
        return Conclusion(state, reason, f"{message}; {_partial(job, effect)}")
    if said is FailureReason.CATALOG_UNREACHABLE:
        found = (
            "the catalog did not say whether it made the commit; it was found in the table's "
            "metadata"
        )
    else:
        found = "Spark was lost after its commits; they were found in the table's metadata"
    left = chapter_of(job.procedure).left_over
    if left:
        found += f", but {left}"
    return _conclude_checked(job, effect, Conclusion(JobState.SUCCEEDED, None, found))


def _conclude_checked(job: Job, effect: Effect, conclusion: Conclusion) -> Conclusion:
    """Fail a job whose row checksums were required as its proof but could not be taken.

    This is not damage, but it is no proof. Another conclusion is returned unchanged.
    """
    if job.safeguards.checksum is not Checksum.FULL or effect.contents is not ContentProof.UNKNOWN:
        return conclusion
    outcome = job.outcome
    reason = (
        FailureReason.LOST_RUNNER
        if outcome is None or outcome.kind == "lost"
        else FailureReason.UNPROVED
    )
    said = (outcome.check_failure_reason or outcome.reason) if outcome is not None else None
    why = f": {outcome.check_failure}" if outcome is not None and outcome.check_failure else ""
    message = (
        f"the checksums of all rows, which the proof needs, could not be computed{why}. "
        f"{_partial(job, effect)}"
    )
    return Conclusion(JobState.FAILED, said or reason, message)


def _describe_conflict(outcome: Outcome | None) -> str:
    return (
        ""
        if outcome is None or outcome.conflict is None
        else f"A writer won: {CONFLICT_WORDS[outcome.conflict]}."
    )


_ROWS_UNKNOWN = (
    "the rows are not proved: the table's metadata no longer has the snapshot before the job, or "
    "its totals, and others may have committed in between"
)


def _find_unproved(job: Job, effect: Effect) -> str | None:
    """A claim of Spark that the table does not confirm; None if it confirms all claims."""
    chapter = chapter_of(job.procedure)
    claimed = count_claimed(job)
    if claimed and not effect.own_commits:
        return (
            f"Spark reported {claimed} rewritten {chapter.items}, but the table has "
            f"no snapshot of this job"
        )
    violation = chapter.find_violation(effect)
    if violation is not None:
        return violation
    written = claimed_statistics(job)
    if written and not effect.statistics_written:
        return (
            f"Spark reported {written}, but the table's metadata does not name it for the "
            f"snapshot, or the file is not there"
        )
    return None


def claimed_statistics(job: Job) -> str | None:
    """The path of the statistics that Spark reports to have written; None for other jobs."""
    key = chapter_of(job.procedure).statistics_figure
    claimed = job.outcome.result.get(key) if key and job.outcome is not None else None
    return str(claimed) if claimed else None


def find_statistics(job: Job, inventory: TableInventory) -> StatisticsFile | None:
    """The table's statistics file for the job's snapshot.

    It is the file that Spark named or, if Spark was lost, any file of that snapshot.
    """
    files = chapter_of(job.procedure).find_statistics(job.action, inventory)
    claimed = claimed_statistics(job)
    return next((file for file in files if claimed in {None, file.path}), None)


def is_timed_out(job: Job) -> bool:
    """True when the job exceeded its time limit before anybody requested its end."""
    return job.is_overdue and not job.cancel_requested_by


def describe_timeout(job: Job) -> str:
    """Describe the time limit that the job exceeded."""
    if job.deadline is None or job.submitted_at is None:
        return "Ended because its time was up."
    return (
        f"Ended because it took longer than its timeout of "
        f"{format_duration(job.deadline - job.submitted_at)}."
    )


def _partial(job: Job, effect: Effect) -> str:
    if effect.is_idle:
        return ""
    left = chapter_of(job.procedure).left_over
    return f"Its earlier commits stay: {effect.sentence}" + (f" But {left}." if left else "")


# longer than the restart of a catalog; after it a notice is sent and the table is paused
PATIENCE = timedelta(minutes=15)
LONGEST_WAIT = timedelta(days=1)


def is_worth_a_notice(since: datetime, now: datetime) -> bool:
    """True when the wait has lasted long enough to notify people."""
    return now - since >= PATIENCE or is_ahead(since, now)


def find_end_of_wait(job: Job, now: datetime) -> str | None:
    """Why the job no longer waits; None while it waits.

    It waits until somebody requests its end, for a day at most.
    """
    since = job.unreadable_since
    if since is None:
        return None
    if job.given_up_by:
        return f"{job.given_up_by} cancelled it while its table could not be read"
    return (
        f"its table could not be read for {format_duration(LONGEST_WAIT)}"
        if now - since >= LONGEST_WAIT
        else None
    )
