"""Figures from a table's history, without reading manifests.

Commit rates, growth, the kept files, and what each ref keeps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final

from maintainer.domain.health import RefRetention, WriterRate
from maintainer.domain.inventory import Ref, Snapshot
from maintainer.domain.units import read_whole

COMMIT_WINDOW: Final = timedelta(hours=24)
GROWTH_WINDOW: Final = timedelta(days=7)
# A rate over a shorter time says more about the moment than about the table.
SHORTEST_WINDOW: Final = timedelta(minutes=10)
MAX_WRITERS: Final = 10
MAX_RETENTIONS: Final = 20
OTHER_WRITERS: Final = "others"
UNNAMED_WRITER: Final = "unnamed"
_MAIN: Final = "main"
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
# Summary keys with the writer's name, the most specific first. An engine whose summaries have only
# a query id is named after that key.
_WRITER_KEYS: Final = ("app-name", "engine-name")
_ENGINE_KEYS: Final = (
    ("flink.job-id", "flink"),
    ("trino_query_id", "trino"),
    ("spark.app.id", "spark"),
    ("dremio.query.id", "dremio"),
    ("snapshot.producer", "amoro"),
)


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
        # Files of an expired snapshot are older than the first kept one: they are not new.
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


_REMOVED_KEYS: Final = {
    "added-data-files": "deleted-data-files",
    "added-delete-files": "removed-delete-files",
}


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


def name_writer(snapshot: Snapshot) -> str:
    """The writer: the application's name, else the engine's, else one from summary keys."""
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
    """What each ref keeps, ordered by the oldest kept snapshot; at most MAX_RETENTIONS."""
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
    else:  # a branch keeps its head even when the head is on main's line
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
