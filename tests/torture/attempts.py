"""To whom writers lost their attempts: to another writer, as they do everywhere, or to anything
else, which is then held against the daemon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.torture.ledger import LostAttempt, Operation
from tests.torture.reading import TableReading
from tests.torture.writers import TOKEN

# A snapshot has the time at which it was made, and is committed a little later, with delayed
# commits by more than one delay.
COMMIT_SECONDS = 3.0
# Iceberg looks for new position deletes in commits that overwrite or delete alone, and the daemon
# makes no such commit.
_BY_DELETES_OF_WRITERS = "Found new conflicting delete files"


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of a table's metadata; seconds since the epoch."""

    at: float
    writer: str | None  # None: the daemon, or somebody who set a tag


def list_commits(reading: TableReading, operations: Sequence[Operation]) -> list[Commit]:
    """Everything that was committed to the table."""
    writers = {operation.token: operation.writer for operation in operations}
    made = {
        one["timestamp-ms"]: writers.get(one["summary"].get(TOKEN, "")) for one in reading.snapshots
    }
    return [
        Commit(milliseconds / 1000, made.get(milliseconds))
        for milliseconds in sorted(reading.commit_times() | set(made))
    ]


def attribute_losses(
    operations: Sequence[Operation], readings: Mapping[str, TableReading]
) -> list[Operation]:
    """The operations with the number of attempts that each lost to other writers."""
    commits = {table: list_commits(reading, operations) for table, reading in readings.items()}
    return [
        replace(
            one,
            lost_to_writers=sum(
                is_lost_to_writers(attempt, one.writer, commits[one.table]) for attempt in one.lost
            ),
        )
        for one in operations
    ]


def is_lost_to_writers(attempt: LostAttempt, writer: str, commits: Sequence[Commit]) -> bool:
    """True when other writers committed meanwhile, and nobody else did or can have been in the
    way.
    """
    meanwhile = {
        commit.writer
        for commit in commits
        if attempt.began - COMMIT_SECONDS <= commit.at <= attempt.ended
    } - {writer}
    return bool(meanwhile - {None}) and (
        None not in meanwhile or _BY_DELETES_OF_WRITERS in attempt.error
    )
