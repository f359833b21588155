"""Was anything lost? What the writers were told, held against what independent readers find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b

from tests.torture.lake import PAST
from tests.torture.ledger import Operation, Told, counting, replay
from tests.torture.reading import FoundRow, TableReading
from tests.torture.rows import Row
from tests.torture.writers import TOKEN

MOST_NAMED = 5  # of one kind in one table


class Fault(StrEnum):
    """What must not be."""

    ROW_LOST = "row_lost"  # told as committed, and not there
    ROW_TWICE = "row_twice"
    ROW_IS_BACK = "row_is_back"  # told as deleted, and there
    ROW_STALE = "row_stale"  # there in another version than the last one that was committed
    ROW_FOREIGN = "row_foreign"  # nobody wrote it, or not so
    COMMIT_LOST = (
        "commit_lost"  # told as committed, and no snapshot of the main branch has its token
    )
    COMMIT_OF_FAILED = "commit_of_failed"  # told as failed, and a snapshot has its token
    READERS_DIFFER = "readers_differ"
    FILE_GONE = "file_gone"
    SNAPSHOT_GONE = "snapshot_gone"  # held by a pin or a tag
    SNAPSHOT_CHANGED = "snapshot_changed"  # reads otherwise than when it was held
    UNREADABLE = "unreadable"
    WRITER_FAILS_MORE = "writer_fails_more"
    WRITER_LOSES_MORE = "writer_loses_more"  # attempts, and not to another writer
    JOB_NOT_ENDED = "job_not_ended"
    JOB_UNTRUE = "job_untrue"
    COMMIT_UNEXPLAINED = (
        "commit_unexplained"  # ours by its name, and no job of the audit log has it
    )
    TABLE_PAUSED = "table_paused"  # the daemon's own proof found something
    DAEMON = "daemon"  # it did not come up, or did not end in order


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that must not be."""

    fault: Fault
    where: str
    what: str


@dataclass(slots=True)
class Checked:
    """What was looked at, and what was found."""

    findings: list[Finding] = field(default_factory=list)
    rows: int = 0
    files: int = 0
    snapshots_listed: int = 0
    snapshots_read: int = 0
    commits: int = 0  # of writers, on the main branches

    def add(self, fault: Fault, where: str, whats: Iterable[str]) -> None:
        """Add findings; many of a kind are named by a few and their number."""
        listed = list(whats)
        self.findings += [Finding(fault, where, what) for what in listed[:MOST_NAMED]]
        if len(listed) > MOST_NAMED:
            self.findings.append(Finding(fault, where, f"and {len(listed) - MOST_NAMED} more"))


def summarise_rows(rows: Iterable[FoundRow]) -> str:
    """The number of rows and the sum of their hashes, whatever their order."""
    listed = list(rows)
    total = sum(
        int.from_bytes(blake2b(repr(row).encode(), digest_size=8).digest()) for row in listed
    )
    return f"{len(listed)} rows {total % 2**64:016x}"


def compare_rows(
    checked: Checked,
    table: str,
    operations: Sequence[Operation],
    expected: Mapping[tuple[str, int], Row],
    found: Sequence[FoundRow],
) -> None:
    """Every row that was told as committed exactly once, in its last version, and no other."""
    checked.rows += len(found)
    counts = Counter((writer, sequence) for _, writer, sequence, _, _ in found)
    versions = {row.values for operation in operations for row in operation.put}
    dropped = {
        (operation.writer, sequence)
        for operation in operations
        if operation.told is Told.COMMITTED
        for sequence in operation.drop
    }
    strange = [row for row in found if row not in versions]
    known = [row for row in found if row in versions]
    unexpected = [row for row in known if (row[1], row[2]) not in expected]
    stale = [
        row
        for row in known
        if (row[1], row[2]) in expected and expected[row[1], row[2]].values != row
    ]
    checked.add(
        Fault.ROW_LOST,
        table,
        (f"{row}" for key, row in sorted(expected.items()) if key not in counts),
    )
    checked.add(
        Fault.ROW_TWICE,
        table,
        (
            f"{writer} {sequence}: {count} times"
            for (writer, sequence), count in sorted(counts.items())
            if count > 1
        ),
    )
    checked.add(
        Fault.ROW_IS_BACK,
        table,
        (f"{row[:4]}" for row in unexpected if (row[1], row[2]) in dropped),
    )
    checked.add(
        Fault.ROW_FOREIGN,
        table,
        (
            f"{row[:4]}"
            for row in [*strange, *(row for row in unexpected if (row[1], row[2]) not in dropped)]
        ),
    )
    checked.add(
        Fault.ROW_STALE, table, (f"{row[:4]}, not {expected[row[1], row[2]]}" for row in stale)
    )


def compare_tokens(
    checked: Checked, table: str, operations: Sequence[Operation], tokens: set[str]
) -> None:
    """What was told of each commit, against the snapshots of the main branch."""
    written = [operation for operation in operations if operation.kind != PAST]
    checked.commits += len(list(counting(written, tokens.__contains__)))
    checked.add(
        Fault.COMMIT_LOST,
        table,
        (one.token for one in written if one.told is Told.COMMITTED and one.token not in tokens),
    )
    checked.add(
        Fault.COMMIT_OF_FAILED,
        table,
        (one.token for one in written if one.told is Told.FAILED and one.token in tokens),
    )


def check_table(
    checked: Checked,
    table: str,
    reading: TableReading,
    operations: Sequence[Operation],
    by_another: Sequence[FoundRow] | None,
) -> None:
    """Rows, commits and files of one table; by_another: the current rows as another reader sees
    them.
    """
    checked.snapshots_listed += len(reading.snapshots)
    files, faults = reading.find_files()
    checked.files += files
    checked.add(Fault.FILE_GONE, table, faults)
    tokens = {
        str(snapshot["summary"][TOKEN])
        for snapshot in reading.lineage()
        if TOKEN in snapshot["summary"]
    }
    compare_tokens(checked, table, operations, tokens)
    try:
        current = next(reading.lineage(), None)
        found = reading.read_rows(current) if current is not None else []
    except Exception as error:  # noqa: BLE001 - whatever keeps the table from being read
        checked.add(Fault.UNREADABLE, table, [f"{type(error).__name__}: {error}"])
        return
    checked.snapshots_read += 1
    compare_rows(checked, table, operations, replay(operations, tokens.__contains__), found)
    if by_another is not None and summarise_rows(found) != summarise_rows(by_another):
        checked.add(
            Fault.READERS_DIFFER,
            table,
            [
                (
                    f"{summarise_rows(found)} without Iceberg's libraries, "
                    f"{summarise_rows(by_another)} by PyIceberg"
                )
            ],
        )


@dataclass(frozen=True, slots=True)
class Held:
    """A snapshot that somebody needs, with what it held when that was said."""

    table: str
    snapshot_id: int
    by: str  # tag NAME, pin NAME
    summary: str


def check_held(checked: Checked, reading: TableReading, held: Held) -> None:
    """A held snapshot is there and reads as it did."""
    where = f"{held.table} {held.by}"
    snapshot = reading.snapshot(held.snapshot_id)
    if snapshot is None or (
        held.by.startswith("tag ")
        and reading.refs.get(held.by.removeprefix("tag ")) != held.snapshot_id
    ):
        checked.add(Fault.SNAPSHOT_GONE, where, [f"snapshot {held.snapshot_id}"])
        return
    try:
        summary = summarise_rows(reading.read_rows(snapshot))
    except Exception as error:  # noqa: BLE001 - as above
        checked.add(Fault.UNREADABLE, where, [f"{type(error).__name__}: {error}"])
        return
    checked.snapshots_read += 1
    if summary != held.summary:
        checked.add(Fault.SNAPSHOT_CHANGED, where, [f"{summary}, but was {held.summary}"])
