"""Histories made for the purpose, and what expire_snapshots leaves of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from maintainer.domain.action import ExpireSnapshots
from maintainer.domain.identifier import TableIdentifier
from maintainer.estimate.expire_snapshots import estimate_expire_snapshots, find_expired_refs
from maintainer.procedures.registry import call_statement
from tests.conformance.tables import KIB, Batch, File, Lake, Layout

DAY = timedelta(days=1)
_LAYOUT = Layout([Batch([File(10 * KIB)])])


@dataclass(frozen=True)
class Past:
    """A table's snapshots: number, age in days, number of the parent; the refs by name; and what is
    asked of expiry.
    """

    name: str
    snapshots: Sequence[tuple[int, float, int | None]]
    current: int
    refs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    older_than: float = 5
    retain_last: int = 2


def line(*ages: float) -> list[tuple[int, float, int | None]]:
    """One straight line, the oldest first."""
    return [(number, age, number - 1 or None) for number, age in enumerate(ages, 1)]


def days(number: float) -> int:
    return int(number * DAY.total_seconds() * 1000)


def branch(snapshot: int, **retention: int) -> dict[str, Any]:
    return {
        "snapshot-id": snapshot,
        "type": "branch",
        **{name.replace("_", "-"): value for name, value in retention.items()},
    }


def tag(snapshot: int, **retention: int) -> dict[str, Any]:
    return {**branch(snapshot, **retention), "type": "tag"}


FORKED = [*line(9, 8, 7, 6.5, 6, 1), (20, 6.8, 3), (21, 6.7, 20), (22, 6.6, 21)]
PASTS: Sequence[Past] = (
    Past("old and surplus", line(9, 8, 7, 6, 1), 5),
    Past("old, but not surplus", line(9, 8), 2),
    Past("surplus, but not old", line(4, 3, 2, 1), 4),
    Past("more are kept than there are old ones", line(9, 8, 7, 6, 1), 5, retain_last=4),
    Past("unreferenced snapshots go by age alone", FORKED, 6),
    Past("a young unreferenced snapshot stays", [*line(9, 8, 7, 1), (20, 2, 2)], 4),
    Past("a branch keeps its own line", FORKED, 6, {"audit": branch(22)}),
    Past(
        "a branch's own retention",
        FORKED,
        6,
        {
            "audit": branch(22, min_snapshots_to_keep=3),
            "main": branch(6, max_snapshot_age_ms=days(6.2)),
        },
    ),
    Past(
        "a branch keeps by its own age",
        FORKED,
        6,
        {"audit": branch(22, max_snapshot_age_ms=days(6.75), min_snapshots_to_keep=1)},
    ),
    Past("tags keep single snapshots", line(9, 8, 7, 6, 1), 5, {"v1": tag(2), "v2": tag(1)}),
    Past(
        "refs past their age go",
        FORKED,
        6,
        {
            "audit": branch(22, max_ref_age_ms=days(6)),
            "v1": tag(2, max_ref_age_ms=days(7)),
            "v2": tag(3),
        },
    ),
    Past(
        "the table's own limit for refs",
        FORKED,
        6,
        {"v1": tag(2), "v2": tag(5)},
        {"history.expire.max-ref-age-ms": str(days(7))},
    ),
    Past("main never goes", line(9, 8, 7), 3, {"main": branch(3, max_ref_age_ms=1)}),
    Past("a tag on a line that nobody else holds", FORKED, 6, {"v1": tag(21)}),
    Past("a line rolled back", line(9, 8, 7, 6, 5.5), 3),
    Past(
        "the table's own number kept does not count beside the one that is given",
        line(9, 8, 7, 1),
        4,
        {},
        {"history.expire.min-snapshots-to-keep": "4"},
    ),
)


@dataclass(frozen=True)
class Remainder:
    """What was predicted to remain, and what did."""

    past: str
    predicted: tuple[frozenset[int], frozenset[str]]
    left: tuple[frozenset[int], frozenset[str]]

    @property
    def is_equal(self) -> bool:
        return self.predicted == self.left

    def row(self) -> str:
        """One line of the report."""
        texts = [
            f"{', '.join(map(str, sorted(ids)))}; {', '.join(sorted(refs))}"
            for ids, refs in (self.predicted, self.left)
        ]
        return (
            f"| {self.past} | {texts[0]} | {texts[1]} | {'equal' if self.is_equal else 'WRONG'} |"
        )


def run_one(lake: Lake, past: Past, name: str) -> Remainder:
    """Make the history, predict, expire, compare."""
    now = datetime.now(UTC)
    table = lake.make(name, _LAYOUT)
    _rewrite_history(lake, table, past, now)
    health = lake.read(table)
    older_than = now - past.older_than * DAY
    expired = estimate_expire_snapshots(health, older_than, past.retain_last, now).expired
    ids = frozenset(stamp.snapshot_id for stamp in health.history) - expired
    refs = frozenset(ref.name for ref in set(health.refs) - set(find_expired_refs(health, now)))
    lake.session.sql(call_statement(table, ExpireSnapshots(older_than, past.retain_last)))
    after = lake.read(table)
    left = (
        frozenset(stamp.snapshot_id for stamp in after.history),
        frozenset(ref.name for ref in after.refs),
    )
    return Remainder(past.name, (ids, refs), left)


def _rewrite_history(lake: Lake, table: TableIdentifier, past: Past, now: datetime) -> None:
    """Every snapshot has the files of the one that the table was made with."""
    found = lake.catalog.load_table(("c", table.name))
    source = Path(found.metadata_location.removeprefix("file://"))
    document = json.loads(source.read_bytes())
    model = document["snapshots"][0]
    document["snapshots"] = [
        {
            **{key: value for key, value in model.items() if key != "parent-snapshot-id"},
            "snapshot-id": number,
            "sequence-number": position,
            "timestamp-ms": int((now - age * DAY).timestamp() * 1000),
            **({"parent-snapshot-id": parent} if parent is not None else {}),
        }
        for position, (number, age, parent) in enumerate(past.snapshots, 1)
    ]
    document |= {
        "current-snapshot-id": past.current,
        "last-sequence-number": len(past.snapshots),
        "metadata-log": [],
    }
    current = next(
        snapshot for snapshot in document["snapshots"] if snapshot["snapshot-id"] == past.current
    )
    document["snapshot-log"] = [
        {"snapshot-id": past.current, "timestamp-ms": current["timestamp-ms"]}
    ]
    document["refs"] = {"main": branch(past.current), **past.refs}
    document["properties"] |= past.properties
    target = source.with_name(f"00009-{source.name[6:]}")
    target.write_text(json.dumps(document), encoding="utf-8")
    with sqlite3.connect(lake.directory / "catalog.db") as connection:
        connection.execute(
            "update iceberg_tables set metadata_location = ? where table_name = ?",
            (f"file://{target}", table.name),
        )
    connection.close()
