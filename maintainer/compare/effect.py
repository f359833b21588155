"""The effect of a job's own commits, and the final state that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from maintainer.compare.row_proof import read_figure
from maintainer.domain.action import (
    ComputePartitionStats,
    ComputeTableStats,
    Procedure,
    RewriteDataFiles,
    RewritePositionDeleteFiles,
)
from maintainer.domain.conflict import CONFLICT_WORDS, ConflictKind
from maintainer.domain.effect import ContentProof, Effect, Measurement, RowProof
from maintainer.domain.inventory import Snapshot, StatisticsFile, TableInventory
from maintainer.domain.job import JOBS_MARK, Baseline, FailureReason, Job, JobState, Outcome
from maintainer.domain.rollback import JobAction
from maintainer.domain.safeguards import Checksum
from maintainer.domain.units import format_duration, format_size


@dataclass(frozen=True, slots=True)
class Verdict:
    """The final state of a reviewed job."""

    state: JobState
    reason: FailureReason | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Commits:
    """The snapshots committed since the baseline, ours and those of others, oldest first."""

    own: tuple[Snapshot, ...]
    others: tuple[Snapshot, ...]


def split_commits(
    baseline: Baseline, application: str, job_id: str, snapshots: Iterable[Snapshot]
) -> Commits:
    """Separate a job's commits from others' by their summaries.

    A summary names the application and, where several jobs ran in it at that time, the job ids.
    """
    new = sorted(
        (s for s in snapshots if _is_newer(s, baseline)),
        key=lambda s: (s.sequence_number, s.committed_at),
    )
    own = tuple(
        s
        for s in new
        if s.operation == "replace"
        and s.summary.get("app-name") == application
        and _names(s, job_id)
    )
    return Commits(own, tuple(s for s in new if s not in own))


def _names(snapshot: Snapshot, job_id: str) -> bool:
    """True when the summary names the job.

    It may name no jobs at all: then the application is enough, because a table has one job at a
    time.
    """
    jobs = snapshot.summary.get(JOBS_MARK)
    return jobs is None or job_id in jobs.split(",")


def _is_newer(snapshot: Snapshot, baseline: Baseline) -> bool:
    if snapshot.sequence_number:
        return snapshot.sequence_number > baseline.sequence_number
    # Format version 1 has no sequence numbers; the commit time decides.
    return (
        baseline.newest_snapshot_at is None or snapshot.committed_at > baseline.newest_snapshot_at
    )


def _sum_figure(snapshots: Iterable[Snapshot], key: str) -> int:
    return sum(read_figure(snapshot, key) or 0 for snapshot in snapshots)


def compare(  # noqa: PLR0913, PLR0917 - all facts of one review
    job: Job,
    baseline: Baseline,
    after: Measurement,
    commits: Commits,
    rows: RowProof,
    counted: Mapping[int, int | None],
    statistics_written: int = 0,
) -> Effect:
    """Compute a job's effect; only the changes of our own commits count."""
    own = commits.own
    before = baseline.measurement
    is_rewrite = job.procedure in _REWRITES_FILES
    # A rewrite of delete files adds no data file, so missing data files are not offset.
    added = (
        _sum_figure(own, "added-data-files") if job.procedure is Procedure.REWRITE_DATA_FILES else 0
    )
    is_manifests = job.procedure is Procedure.REWRITE_MANIFESTS
    files_removed = _sum_figure(own, "deleted-data-files") - added if is_rewrite else 0
    manifests_removed = (
        _sum_figure(own, "manifests-replaced") - _sum_figure(own, "manifests-created")
        if is_manifests
        else 0
    )
    snapshots_removed = 0
    if job.procedure is Procedure.EXPIRE_SNAPSHOTS:
        snapshots_removed = max(0, before.snapshots + len(commits.others) - after.snapshots)
    counts = [count for count in counted.values() if count is not None]
    effect = Effect(
        before=before,
        after=after,
        own_commits=len(own),
        own_snapshot_ids=tuple(snapshot.snapshot_id for snapshot in own),
        other_commits=len(commits.others),
        files_removed=files_removed,
        delete_files_removed=_sum_figure(own, "removed-delete-files")
        - _sum_figure(own, "added-delete-files"),
        manifests_removed=manifests_removed,
        snapshots_removed=snapshots_removed,
        bytes_rewritten=_sum_figure(own, "removed-files-size") if is_rewrite else 0,
        duration_seconds=job.duration.total_seconds() if job.duration else None,
        rows=rows,
        rows_before=counts[0]
        if rows is RowProof.COUNTED
        else (before.records if rows is RowProof.EQUAL and not commits.others else None),
        rows_after=counts[-1]
        if rows is RowProof.COUNTED
        else (after.records if rows is RowProof.EQUAL and not commits.others else None),
    )
    effect = replace(
        effect,
        statistics_written=statistics_written,
        files_lost=_count_lost(job) if commits.others else 0,
        files_left=_count_left(job, own),
    )
    return replace(effect, sentence=describe_effect(effect, job.procedure))


def _count_lost(job: Job) -> int:
    """Files that a rewrite with partial progress left because commits were refused.

    Iceberg reports success in that case and does not mention the refused commits.
    """
    if job.outcome is None or job.outcome.kind != "finished" or not _commits_in_parts(job.action):
        return 0
    failed = job.outcome.result.get("failed_data_files_count")
    left = job.estimate.items_before - _claimed_items(job) - int(failed or 0)
    return left if left > job.estimate.error_bound else 0


def _count_left(job: Job, own: Sequence[Snapshot]) -> int:
    """Files that were left when Spark was lost, by the job's own estimate.

    0 for a job that makes a single commit.
    """
    if _kind_of(job) != "lost" or not own or not _commits_in_parts(job.action):
        return 0
    replaced = (
        "deleted-data-files"
        if job.procedure is Procedure.REWRITE_DATA_FILES
        else "removed-delete-files"
    )
    left = job.estimate.items_before - _sum_figure(own, replaced)
    return left if left > job.estimate.error_bound else 0


def _kind_of(job: Job) -> str:
    """How Spark's work ended; "lost" when that is not known."""
    return job.outcome.kind if job.outcome is not None else "lost"


def _commits_in_parts(action: JobAction) -> bool:
    """True when the action makes several commits, so that a part of it may be lost."""
    match action:
        case RewriteDataFiles():
            return (
                dict(action.options).get("partial-progress.enabled") != "false"
            )  # our statement sets it by default
        case RewritePositionDeleteFiles():
            return dict(action.options).get("partial-progress.enabled") == "true"
        case _:
            return False


_REWRITES_FILES = frozenset({Procedure.REWRITE_DATA_FILES, Procedure.REWRITE_POSITION_DELETE_FILES})


def describe_effect(effect: Effect, procedure: Procedure) -> str:
    """Describe the effect in one or two sentences."""
    before, after = effect.before, effect.after
    if effect.is_idle:
        text = "Nothing changed."
    else:
        match procedure:
            case Procedure.REWRITE_DATA_FILES:
                text = (
                    f"{before.data_files} data files became {after.data_files}, "
                    f"{format_size(effect.bytes_rewritten)} rewritten"
                )
                if before.average_file_size_bytes and after.average_file_size_bytes:
                    text += (
                        f"; average file size {format_size(before.average_file_size_bytes)} -> "
                        f"{format_size(after.average_file_size_bytes)}"
                    )
                text += "."
            case Procedure.REWRITE_POSITION_DELETE_FILES:
                text = (
                    f"{before.delete_files} delete files became {after.delete_files}, "
                    f"{format_size(effect.bytes_rewritten)} rewritten."
                )
            case Procedure.COMPUTE_TABLE_STATS | Procedure.COMPUTE_PARTITION_STATS:
                text = f"Statistics of snapshot {before.snapshot_id} are written."
            case Procedure.REWRITE_MANIFESTS:
                text = f"{before.manifests} manifests became {after.manifests}."
            case Procedure.EXPIRE_SNAPSHOTS:
                text = f"{before.snapshots} snapshots became {after.snapshots}."
            case Procedure.REMOVE_ORPHAN_FILES:
                text = "Orphan files were listed; nothing was deleted."
            case _:
                assert_never(procedure)
    return text + _tell_writers(effect)


def _tell_writers(effect: Effect) -> str:
    text = (
        f" Others committed {effect.other_commits} times meanwhile." if effect.other_commits else ""
    )
    if effect.files_lost:
        text += (
            f" {effect.files_lost} files were left as they are: what was to replace them met the "
            f"commits of writers, who won."
        )
    if effect.files_left:
        text += (
            f" {effect.files_left} files were left as they are: Spark was lost before it came to "
            f"them."
        )
    return text


def conclude(job: Job, effect: Effect) -> Verdict:
    """Decide a job's final state from Spark's report and the table's metadata."""
    outcome, kind = job.outcome, _kind_of(job)
    message = outcome.message if outcome is not None else ""
    if effect.rows is RowProof.DIFFERENT:
        return Verdict(
            JobState.FAILED,
            FailureReason.UNPROVED,
            "the rows before and after our commits are not the same; nothing more is done to "
            "this table",
        )
    if effect.failed_proofs:
        return Verdict(
            JobState.FAILED,
            FailureReason.UNPROVED,
            f"{'; '.join(effect.failed_proofs)}; nothing more is done to this table",
        )
    if kind == "finished":
        if _claimed_items(job) and not effect.own_commits and effect.other_commits:
            return Verdict(
                JobState.FAILED,
                FailureReason.CONFLICT,
                f"A writer won: {CONFLICT_WORDS[ConflictKind.TAKEN_BACK]}.",
            )
        unproved = _find_unproved(job, effect)
        done = Verdict(
            JobState.SUCCEEDED, None, _ROWS_UNKNOWN if effect.rows is RowProof.UNKNOWN else ""
        )
        return (
            Verdict(JobState.FAILED, FailureReason.UNPROVED, unproved)
            if unproved
            else _conclude_checked(job, effect, done)
        )
    if kind in {"cancelled", "lost"} and is_timed_out(job):
        return Verdict(
            JobState.FAILED,
            FailureReason.TIMEOUT,
            " ".join(part for part in (describe_timeout(job), _partial(job, effect)) if part),
        )
    if kind == "cancelled":
        return Verdict(JobState.CANCELLED, None, _partial(job, effect))
    if kind == "failed":
        # Dangling deletes are removed after the whole rewrite, so the rewrite itself is
        # complete.
        if (
            outcome is not None
            and outcome.conflict is ConflictKind.SNAPSHOT_CHANGED
            and effect.own_commits
        ):
            return _conclude_checked(
                job, effect, Verdict(JobState.SUCCEEDED, None, _tell_conflict(outcome))
            )
        reason = outcome.reason if outcome is not None else None
        parts = (_tell_conflict(outcome), message, _partial(job, effect))
        return Verdict(
            JobState.FAILED, reason or FailureReason.OTHER, " ".join(part for part in parts if part)
        )
    return _conclude_lost(job, effect, message or "Spark was lost")


def _conclude_lost(job: Job, effect: Effect, message: str) -> Verdict:
    """Decide from the table alone, because Spark was lost; partial work is no success."""
    said = job.outcome.reason if job.outcome is not None else None
    # A job that was asked to end counts as cancelled, even if Spark had to be killed for
    # that.
    state, reason = (
        (JobState.CANCELLED, None)
        if job.cancel_requested_by
        else (JobState.FAILED, said or FailureReason.LOST_RUNNER)
    )
    if effect.is_idle:
        return Verdict(
            state, reason, f"{message}; the table shows that nothing of this job was committed"
        )
    if effect.files_left:
        return Verdict(state, reason, f"{message}; {_partial(job, effect)}")
    if said is FailureReason.CATALOG_UNREACHABLE:
        found = (
            "the catalog did not say whether it made the commit; it was found in the table's "
            "metadata"
        )
    else:
        found = "Spark was lost after its commits; they were found in the table's metadata"
    if job.procedure is Procedure.EXPIRE_SNAPSHOTS:
        found += f", but {_LEFT_BY_EXPIRY}"
    return _conclude_checked(job, effect, Verdict(JobState.SUCCEEDED, None, found))


def _conclude_checked(job: Job, effect: Effect, verdict: Verdict) -> Verdict:
    """Fail a job whose row checksums were required as its proof but could not be taken.

    That is no damage, but no proof either. Other verdicts are returned unchanged.
    """
    if job.safeguards.checksum is not Checksum.FULL or effect.contents is not ContentProof.UNKNOWN:
        return verdict
    outcome = job.outcome
    reason = (
        FailureReason.LOST_RUNNER
        if outcome is None or outcome.kind == "lost"
        else FailureReason.UNPROVED
    )
    said = (outcome.check_failure_reason or outcome.reason) if outcome is not None else None
    why = f": {outcome.check_failure}" if outcome is not None and outcome.check_failure else ""
    message = (
        f"the checksums of all rows, by which it was to be proved, could not be taken{why}. "
        f"{_partial(job, effect)}"
    )
    return Verdict(JobState.FAILED, said or reason, message)


def _tell_conflict(outcome: Outcome | None) -> str:
    return (
        ""
        if outcome is None or outcome.conflict is None
        else f"A writer won: {CONFLICT_WORDS[outcome.conflict]}."
    )


# Iceberg commits first and deletes afterwards.
_LEFT_BY_EXPIRY = "files of the expired snapshots may remain; an orphan scan finds them"
_ROWS_UNKNOWN = (
    "the rows are not proved: the table's metadata no longer has the snapshot before ours, or "
    "its totals, and others may have committed in between"
)
_ITEMS = {
    Procedure.REWRITE_DATA_FILES: "data files",
    Procedure.REWRITE_POSITION_DELETE_FILES: "delete files",
    Procedure.REWRITE_MANIFESTS: "manifests",
}
_STATISTICS = {
    Procedure.COMPUTE_TABLE_STATS: "statistics_file",
    Procedure.COMPUTE_PARTITION_STATS: "partition_statistics_file",
}


def _find_unproved(job: Job, effect: Effect) -> str | None:
    """A claim of Spark that the table does not confirm; None when it confirms all."""
    procedure = job.procedure
    claimed = _claimed_items(job)
    if claimed and not effect.own_commits:
        return (
            f"Spark reported {claimed} rewritten {_ITEMS[procedure]}, but the table has no "
            f"snapshot of ours"
        )
    if procedure is Procedure.REWRITE_POSITION_DELETE_FILES and effect.files_removed:
        return (
            f"a rewrite of delete files must leave the data files alone, but "
            f"{effect.files_removed} of them are gone"
        )
    written = claimed_statistics(job)
    if written and not effect.statistics_written:
        return (
            f"Spark reported {written}, but the table's metadata does not name it for the "
            f"snapshot, or the file is not there"
        )
    return None


def claimed_statistics(job: Job) -> str | None:
    """The path of the statistics that Spark reports to have written; None for other jobs."""
    key = _STATISTICS.get(job.procedure)
    claimed = job.outcome.result.get(key) if key is not None and job.outcome is not None else None
    return str(claimed) if claimed else None


def find_statistics(job: Job, inventory: TableInventory) -> StatisticsFile | None:
    """The table's statistics file for the job's snapshot.

    It is the file that Spark named or, if Spark was lost, any file of that snapshot.
    """
    match job.action:
        case ComputeTableStats(snapshot_id):
            files = inventory.statistics
        case ComputePartitionStats(snapshot_id):
            files = inventory.partition_statistics
        case _:
            return None
    claimed = claimed_statistics(job)
    return next(
        (
            file
            for file in files
            if file.snapshot_id == snapshot_id and claimed in {None, file.path}
        ),
        None,
    )


def _claimed_items(job: Job) -> int:
    items = _ITEMS.get(job.procedure)
    if job.outcome is None or items is None:
        return 0
    claimed = job.outcome.result.get(f"rewritten_{items.replace(' ', '_')}_count")
    return int(claimed) if claimed is not None else 0


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
    left = f" But {_LEFT_BY_EXPIRY}." if job.procedure is Procedure.EXPIRE_SNAPSHOTS else ""
    return f"What was committed before stays: {effect.sentence}{left}"
