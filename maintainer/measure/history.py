"""Figures from a table's history, without reading manifests.

Commit rates, growth, the kept files, what each ref keeps, writers, and roles of snapshots.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from statistics import median
from typing import Final

from maintainer.domain.health import RefRetention, Rewriter, SnapshotRole, SnapshotStamp, WriterRate
from maintainer.domain.inventory import Ref, Snapshot
from maintainer.domain.units import read_whole

COMMIT_WINDOW: Final = timedelta(hours=24)
GROWTH_WINDOW: Final = timedelta(days=7)
# A rate over a shorter time says little about the table.
SHORTEST_WINDOW: Final = timedelta(minutes=10)
# With fewer gaps between commits, the pace of a writer is unknown.
LEAST_GAPS: Final = 5
MAX_WRITERS: Final = 10
MAX_RETENTIONS: Final = 20
OTHER_WRITERS: Final = "others"
UNNAMED_WRITER: Final = "unnamed"
_MAIN: Final = "main"
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
# Summary keys with the writer's name, the most specific first. If an engine writes no name into
# summaries, a key that only this engine writes gives the name; see docs/health.md.
_WRITER_KEYS: Final = ("app-name", "engine-name")
_ENGINE_KEYS: Final = (
    ("flink.job-id", "flink"),
    ("trino_query_id", "trino"),
    ("spark.app.id", "spark"),
    ("dremio.query.id", "dremio"),
    ("snapshot.producer", "amoro"),
    ("risingwave.commit.epoch", "risingwave"),  # in commits of sinks and of compactions
    # Iceberg's Java library adds this key to each snapshot, also for engines without a name.
    ("iceberg-version", "iceberg-java"),
)
_REMOVED_KEYS: Final = {
    "added-data-files": "deleted-data-files",
    "added-delete-files": "removed-delete-files",
}
WAP_ID = "wap.id"
PUBLISHED_WAP_ID = "published-wap-id"
FLINK_JOB_ID = "flink.job-id"
# of a sink; Flink restores a sink from the last checkpoint with both ids
FLINK_OPERATOR_ID = "flink.operator-id"
FLINK_CHECKPOINT_ID = "flink.max-committed-checkpoint-id"
EQUALITY_CONVERT_STAGING = "equality-convert-staging-snapshot"
REWRITER_WINDOW: Final = timedelta(days=7)
MAX_REWRITERS: Final = 10
_BETWEEN_RUNS: Final = timedelta(hours=1)  # a rewrite may commit in parts
_REPLACE: Final = "replace"
# without an operation in the summary, every change is possible
_KEEPS_ROWS: Final = frozenset({"append", _REPLACE})
Samples = Sequence[tuple[datetime, float | None]]  # oldest first; None: unknown at that time


def read_figure(snapshot: Snapshot, key: str) -> int | None:
    """A number from the snapshot's summary; None when it is missing or not a number."""
    return read_whole(snapshot.summary.get(key, ""))


def find_snapshot(snapshots: Sequence[Snapshot], snapshot_id: int | None) -> Snapshot | None:
    """The snapshot with that id; None when there is none."""
    return next((snapshot for snapshot in snapshots if snapshot.snapshot_id == snapshot_id), None)


def date_writes(snapshots: Sequence[Snapshot]) -> Callable[[int], datetime | None]:
    """A function from a file's sequence number to its latest possible commit time.

    None: before any kept snapshot. Format version 1 has no sequence numbers (0): there the newest
    snapshot that is no rewrite counts for every file.
    """
    numbered = sorted(
        (snapshot.sequence_number, snapshot.committed_at)
        for snapshot in snapshots
        if snapshot.sequence_number > 0
    )
    numbers = [number for number, _ in numbered]
    earliest = list(accumulate((moment for _, moment in reversed(numbered)), min))[::-1]
    unnumbered = max(
        (s.committed_at for s in snapshots if s.sequence_number <= 0 and s.operation != "replace"),
        default=None,
    )

    def date(sequence_number: int) -> datetime | None:
        if sequence_number <= 0:
            return unnumbered
        found = bisect_left(numbers, sequence_number)
        # Files of an expired snapshot are older than the first kept snapshot, so they are not new.
        return (
            earliest[found] if found < len(numbers) and numbers[found] == sequence_number else None
        )

    return date


def count_kept_files(snapshots: Sequence[Snapshot], total_key: str, added_key: str) -> int | None:
    """The number of files that the kept snapshots reference, from summaries alone.

    It is the files of the oldest snapshot plus all added files. None when the summaries do not
    suffice: a gap in the history, a missing figure, a total that does not follow from its parent's,
    a cherry-pick.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in snapshots}
    roots = [snapshot for snapshot in snapshots if snapshot.parent_id not in by_id]
    if len(roots) > 1:
        return None
    kept = 0
    for snapshot in snapshots:
        total = read_figure(snapshot, total_key)
        if total is None:
            return None
        if snapshot.parent_id not in by_id:
            kept += total
            continue
        added = _change(snapshot, added_key)
        if (
            added is None
            or "source-snapshot-id" in snapshot.summary
            or not _follows(snapshot, by_id[snapshot.parent_id], total_key, added_key, added)
        ):
            return None
        kept += added
    return kept


def _change(snapshot: Snapshot, key: str) -> int | None:
    """A change from the summary. A missing key is 0, because writers leave out zeros."""
    return read_figure(snapshot, key) if key in snapshot.summary else 0


def _follows(
    snapshot: Snapshot, parent: Snapshot, total_key: str, added_key: str, added: int
) -> bool:
    before, removed, after = (
        read_figure(parent, total_key),
        _change(snapshot, _REMOVED_KEYS[added_key]),
        read_figure(snapshot, total_key),
    )
    return before is not None and removed is not None and before + added - removed == after


@dataclass(frozen=True, slots=True)
class CommitRate:
    """Commits per hour over a time span, in total and by writer."""

    commits_per_hour: float
    window: timedelta
    writers: tuple[WriterRate, ...]


def rate_commits(snapshots: Sequence[Snapshot], now: datetime) -> CommitRate | None:
    """Commits of the last 24 hours, or since the oldest kept snapshot if that is younger.

    None when the span is too short, or without snapshots. With sequence numbers, commits of expired
    snapshots count too; the writers are those of kept snapshots.
    """
    oldest = min((snapshot.committed_at for snapshot in snapshots), default=now)
    since = max(oldest, now - COMMIT_WINDOW)
    window = now - since
    if window < SHORTEST_WINDOW:
        return None
    within = [snapshot for snapshot in snapshots if snapshot.committed_at > since]
    hours = window / _HOUR
    newest = max(snapshot.sequence_number for snapshot in snapshots)
    before = max(
        snapshot.sequence_number for snapshot in snapshots if snapshot.committed_at <= since
    )
    commits = max(len(within), newest - before)
    return CommitRate(commits / hours, window, _rate_writers(within, hours))


def _rate_writers(snapshots: Sequence[Snapshot], hours: float) -> tuple[WriterRate, ...]:
    counts = Counter(name_writer(snapshot) for snapshot in snapshots)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in ranked[MAX_WRITERS:])
    shown = ranked[:MAX_WRITERS] + ([(OTHER_WRITERS, rest)] if rest else [])
    return tuple(WriterRate(name, count, count / hours) for name, count in shown)


def find_commit_gap(snapshots: Iterable[Snapshot], now: datetime) -> float | None:
    """Seconds between two commits of the writer that has most in the last 24 hours: the median.

    Rewrites do not count. None with less than LEAST_GAPS gaps.
    """
    commits: dict[str, list[datetime]] = defaultdict(list)
    for snapshot in snapshots:
        if snapshot.operation != _REPLACE and snapshot.committed_at > now - COMMIT_WINDOW:
            commits[name_writer(snapshot)].append(snapshot.committed_at)
    by_count: list[list[datetime]] = sorted(commits.values(), key=len)
    busiest = sorted(by_count[-1]) if by_count else []
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(busiest)]
    return median(gaps) if len(gaps) >= LEAST_GAPS else None


def name_writer(snapshot: Snapshot) -> str:
    """The writer: the application's name, else the engine's name, else a name from summary keys."""
    summary = snapshot.summary
    named = next((summary[key] for key in _WRITER_KEYS if summary.get(key)), None)
    return named or next((engine for key, engine in _ENGINE_KEYS if key in summary), UNNAMED_WRITER)


def grow_per_day(
    snapshots: Sequence[Snapshot], current_id: int | None, total_key: str, now: datetime
) -> float | None:
    """Daily change of a total over the last 7 days of the current line, or its kept part.

    None when that is too short, or the total is missing.
    """
    line = list(walk_back({snapshot.snapshot_id: snapshot for snapshot in snapshots}, current_id))
    if not line:
        return None
    since = max(line[-1].committed_at, now - GROWTH_WINDOW)
    base = next((snapshot for snapshot in line if snapshot.committed_at <= since), line[-1])
    before, after = read_figure(base, total_key), read_figure(line[0], total_key)
    span = now - since
    if before is None or after is None or span < SHORTEST_WINDOW:
        return None
    return (after - before) / (span / _DAY)


def walk_back(by_id: Mapping[int, Snapshot], snapshot_id: int | None) -> Iterator[Snapshot]:
    """A snapshot and its kept ancestors; a cycle ends at its start."""
    seen: set[int] = set()
    while snapshot_id is not None and snapshot_id in by_id and snapshot_id not in seen:
        seen.add(snapshot_id)
        yield by_id[snapshot_id]
        snapshot_id = by_id[snapshot_id].parent_id


def find_ref_retention(
    snapshots: Sequence[Snapshot], refs: Sequence[Ref]
) -> tuple[RefRetention, ...]:
    """The retention of each ref, ordered by the oldest kept snapshot; at most MAX_RETENTIONS."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in snapshots}
    main = next((ref.snapshot_id for ref in refs if ref.name == _MAIN), None)
    main_line = {snapshot.snapshot_id for snapshot in walk_back(by_id, main)}
    retentions = [_retention_of(ref, by_id, main_line) for ref in refs]
    retentions.sort(
        key=lambda retention: (
            retention.oldest_retained_at is None,
            retention.oldest_retained_at.timestamp() if retention.oldest_retained_at else 0,
            retention.name == _MAIN,
            retention.name,
        )
    )
    return tuple(retentions[:MAX_RETENTIONS])


def _retention_of(ref: Ref, by_id: Mapping[int, Snapshot], main_line: set[int]) -> RefRetention:
    own = by_id.get(ref.snapshot_id)
    held: list[Snapshot]
    if own is None:
        held = []
    elif not ref.is_branch:
        held = [own]
    elif ref.name == _MAIN:
        held = [by_id[snapshot_id] for snapshot_id in main_line]
    else:  # a branch keeps its head even if the head is on main's line
        held = [
            own,
            *(
                snapshot
                for snapshot in walk_back(by_id, own.parent_id)
                if snapshot.snapshot_id not in main_line
            ),
        ]
    times = [snapshot.committed_at for snapshot in held]
    return RefRetention(
        ref.name,
        ref.is_branch,
        ref.snapshot_id,
        own.committed_at if own else None,
        len(held),
        min(times, default=None),
    )


def stamp_snapshots(snapshots: Iterable[Snapshot]) -> tuple[SnapshotStamp, ...]:
    """The snapshots as stamps for expiry, in the given order."""
    every = tuple(snapshots)
    published = {
        snapshot.summary[PUBLISHED_WAP_ID]
        for snapshot in every
        if PUBLISHED_WAP_ID in snapshot.summary
    }
    return tuple(_stamp(snapshot, published) for snapshot in every)


def _stamp(snapshot: Snapshot, published: set[str]) -> SnapshotStamp:
    role, role_of = _find_role(snapshot.summary, published)
    removed = snapshot.summary.get("removed-files-size", "")
    # A writer that removes nothing omits the key. Without any summary, any files may have been
    # removed.
    removed_bytes = 0 if snapshot.summary and not removed else read_whole(removed)
    return SnapshotStamp(
        snapshot.snapshot_id,
        snapshot.parent_id,
        snapshot.committed_at,
        removed_bytes,
        role,
        role_of,
    )


def _find_role(summary: Mapping[str, str], published: set[str]) -> tuple[SnapshotRole | None, str]:
    if EQUALITY_CONVERT_STAGING in summary:
        return SnapshotRole.MARKER, summary[EQUALITY_CONVERT_STAGING]
    if FLINK_CHECKPOINT_ID in summary:
        job, operator = summary.get(FLINK_JOB_ID, ""), summary.get(FLINK_OPERATOR_ID)
        return SnapshotRole.CHECKPOINT, job if operator is None else f"{job}, operator {operator}"
    if WAP_ID in summary and summary[WAP_ID] not in published:
        return SnapshotRole.STAGED, summary[WAP_ID]
    return None, ""


def find_last_write(snapshots: Sequence[Snapshot], current_id: int | None) -> datetime | None:
    """The time of the current line's newest commit that is no rewrite; None: none is kept."""
    return max(
        (one.committed_at for one in _line(snapshots, current_id) if one.operation != _REPLACE),
        default=None,
    )


def find_last_change(snapshots: Sequence[Snapshot], current_id: int | None) -> datetime | None:
    """The time when other writers last deleted or replaced rows.

    A rewrite of the same files would have conflicted with that commit.
    """
    return max(
        (
            one.committed_at
            for one in _line(snapshots, current_id)
            if one.operation not in _KEEPS_ROWS
        ),
        default=None,
    )


def find_rewriters(snapshots: Sequence[Snapshot], now: datetime) -> tuple[Rewriter, ...]:
    """Programs that committed rewrites in the last 7 days, latest first; at most MAX_REWRITERS."""
    commits: dict[str, list[datetime]] = defaultdict(list)
    for snapshot in snapshots:
        if snapshot.operation == _REPLACE and snapshot.committed_at > now - REWRITER_WINDOW:
            commits[name_writer(snapshot)].append(snapshot.committed_at)
    found = [
        Rewriter(name, _count_runs(sorted(moments)), max(moments))
        for name, moments in commits.items()
    ]
    return tuple(
        sorted(found, key=lambda one: (-one.last_at.timestamp(), one.name))[:MAX_REWRITERS]
    )


def _count_runs(moments: Sequence[datetime]) -> int:
    return 1 + sum(later - earlier >= _BETWEEN_RUNS for earlier, later in pairwise(moments))


def _line(snapshots: Sequence[Snapshot], current_id: int | None) -> list[Snapshot]:
    return list(walk_back({snapshot.snapshot_id: snapshot for snapshot in snapshots}, current_id))


def drop_unknown(samples: Samples) -> list[tuple[datetime, float]]:
    """The samples with a value."""
    return [(at, value) for at, value in samples if value is not None]


def sum_rises(samples: Sequence[tuple[datetime, float]]) -> float:
    """The sum of all increases; decreases do not count, because rewrites and expiry cause them."""
    return sum(max(0.0, after - before) for (_, before), (_, after) in pairwise(samples))


def mean_over_time(samples: Sequence[tuple[datetime, float]]) -> float:
    """The mean weighted by time, because tables are measured more often during writes."""
    span = samples[-1][0] - samples[0][0]
    if not span:
        return samples[-1][1]
    return sum(before * ((then - at) / span) for (at, before), (then, _) in pairwise(samples))
