"""The last writes of others to a table, and the programs that rewrite it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from maintainer.domain.health import Rewriter
from maintainer.domain.inventory import Snapshot
from maintainer.measure.history import name_writer, walk_back

REWRITER_WINDOW: Final = timedelta(days=7)
MAX_REWRITERS: Final = 10
_BETWEEN_RUNS: Final = timedelta(hours=1)  # a rewrite may commit in parts
_REPLACE: Final = "replace"
_KEEPS_ROWS: Final = frozenset(
    {"append", _REPLACE}
)  # without an operation in the summary, any change is possible


def find_last_write(snapshots: Sequence[Snapshot], current_id: int | None) -> datetime | None:
    """The time of the current line's newest commit that is no rewrite; None: no kept one."""
    return max(
        (one.committed_at for one in _line(snapshots, current_id) if one.operation != _REPLACE),
        default=None,
    )


def find_last_change(snapshots: Sequence[Snapshot], current_id: int | None) -> datetime | None:
    """The time when other writers last deleted or replaced rows.

    A rewrite of the same files would have lost to that commit.
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
