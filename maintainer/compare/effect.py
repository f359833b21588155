"""The effect of a job's own commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from maintainer.compare.row_proof import read_figure
from maintainer.domain.action import (
    JobAction,
    Procedure,
    RewriteDataFiles,
    RewritePositionDeleteFiles,
)
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.inventory import Snapshot
from maintainer.domain.job import JOBS_MARK, Baseline, Job
from maintainer.domain.units import format_number, format_size

REWRITTEN_ITEMS = {
    Procedure.REWRITE_DATA_FILES: "data files",
    Procedure.REWRITE_POSITION_DELETE_FILES: "delete files",
    Procedure.REWRITE_MANIFESTS: "manifests",
}  # what each rewrite counts as removed


@dataclass(frozen=True, slots=True)
class Commits:
    """The snapshots since the baseline, the job's own and those of others, oldest first."""

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

    If it names no jobs, the application is enough, because a table has one job at a
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
    """Compute a job's effect; only the changes of the job's own commits count."""
    own = commits.own
    before = baseline.measurement
    is_rewrite = job.procedure in _REWRITES_FILES
    # A rewrite of delete files adds no data files that could replace missing ones.
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
    left = job.estimate.items_before - count_claimed(job) - int(failed or 0)
    return left if left > job.estimate.error_bound else 0


def count_claimed(job: Job) -> int:
    """The number of items that Spark reports to have rewritten; 0 for other jobs."""
    items = REWRITTEN_ITEMS.get(job.procedure)
    if job.outcome is None or items is None:
        return 0
    claimed = job.outcome.result.get(f"rewritten_{items.replace(' ', '_')}_count")
    return int(claimed) if claimed is not None else 0


def _count_left(job: Job, own: Sequence[Snapshot]) -> int:
    """Files that were left when Spark was lost, by the job's own estimate.

    0 for a job that makes a single commit.
    """
    if end_of_work(job) != "lost" or not own or not _commits_in_parts(job.action):
        return 0
    replaced = (
        "deleted-data-files"
        if job.procedure is Procedure.REWRITE_DATA_FILES
        else "removed-delete-files"
    )
    left = job.estimate.items_before - _sum_figure(own, replaced)
    return left if left > job.estimate.error_bound else 0


def end_of_work(job: Job) -> str:
    """The end of Spark's work; "lost" when it is unknown."""
    return job.outcome.kind if job.outcome is not None else "lost"


def _commits_in_parts(action: JobAction) -> bool:
    """True when the action makes several commits, so that a part of it may be lost."""
    match action:
        case RewriteDataFiles():
            return (
                dict(action.options).get("partial-progress.enabled") != "false"
            )  # the job's statement sets this option by default
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
                    f"{format_number(before.data_files, 'data files')} became "
                    f"{format_number(after.data_files)}, "
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
                    f"{format_number(before.delete_files, 'delete files')} became "
                    f"{format_number(after.delete_files)}, "
                    f"{format_size(effect.bytes_rewritten)} rewritten."
                )
            case Procedure.COMPUTE_TABLE_STATS | Procedure.COMPUTE_PARTITION_STATS:
                text = f"Statistics of snapshot {before.snapshot_id} are written."
            case Procedure.REWRITE_MANIFESTS:
                text = (
                    f"{format_number(before.manifests, 'manifests')} became "
                    f"{format_number(after.manifests)}."
                )
            case Procedure.EXPIRE_SNAPSHOTS:
                text = f"{before.snapshots:,} snapshots became {after.snapshots:,}."
            case Procedure.REMOVE_ORPHAN_FILES:
                text = "Orphan files were listed; nothing was deleted."
            case _:
                assert_never(procedure)
    return text + _describe_others(effect)


def _describe_others(effect: Effect) -> str:
    text = (
        f" Others committed {effect.other_commits:,} times meanwhile."
        if effect.other_commits
        else ""
    )
    if effect.files_lost:
        text += (
            f" {effect.files_lost:,} files were not rewritten, because the commits of their groups "
            f"conflicted with commits of writers."
        )
    if effect.files_left:
        text += (
            f" {effect.files_left} files were not rewritten, because Spark was lost before that."
        )
    return text
