"""The effect of a job's own commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from maintainer.compare.row_proof import read_figure
from maintainer.domain.action import Procedure
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.inventory import Snapshot
from maintainer.domain.job import JOBS_MARK, Baseline, Job
from maintainer.procedures.registry import chapter_of


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
    removed = chapter_of(job.procedure).count_removed(
        partial(_sum_figure, own), before, after, len(commits.others)
    )
    counts = [count for count in counted.values() if count is not None]
    effect = Effect(
        before=before,
        after=after,
        own_commits=len(own),
        own_snapshot_ids=tuple(snapshot.snapshot_id for snapshot in own),
        other_commits=len(commits.others),
        files_removed=removed.files,
        delete_files_removed=_sum_figure(own, "removed-delete-files")
        - _sum_figure(own, "added-delete-files"),
        manifests_removed=removed.manifests,
        snapshots_removed=removed.snapshots,
        bytes_rewritten=removed.bytes_rewritten,
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
    if job.outcome is None or job.outcome.kind != "finished" or not _commits_in_parts(job):
        return 0
    failed = job.outcome.result.get("failed_data_files_count")
    left = job.estimate.items_before - count_claimed(job) - int(failed or 0)
    return left if left > job.estimate.error_bound else 0


def count_claimed(job: Job) -> int:
    """The number of items that Spark reports to have rewritten; 0 for other jobs."""
    items = chapter_of(job.procedure).items
    if job.outcome is None or not items:
        return 0
    claimed = job.outcome.result.get(f"rewritten_{items.replace(' ', '_')}_count")
    return int(claimed) if claimed is not None else 0


def _count_left(job: Job, own: Sequence[Snapshot]) -> int:
    """Files that were left when Spark was lost, by the job's own estimate.

    0 for a job that makes a single commit.
    """
    if end_of_work(job) != "lost" or not own or not _commits_in_parts(job):
        return 0
    replaced = chapter_of(job.procedure).replaced_figure
    left = job.estimate.items_before - _sum_figure(own, replaced)
    return left if left > job.estimate.error_bound else 0


def end_of_work(job: Job) -> str:
    """The end of Spark's work; "lost" when it is unknown."""
    return job.outcome.kind if job.outcome is not None else "lost"


def _commits_in_parts(job: Job) -> bool:
    return chapter_of(job.procedure).commits_in_parts(job.action)


def describe_effect(effect: Effect, procedure: Procedure) -> str:
    """Describe the effect in one or two sentences."""
    text = "Nothing changed." if effect.is_idle else chapter_of(procedure).describe(effect)
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
