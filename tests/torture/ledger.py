"""What each writer meant to do and what it was told came of it: one line each, written before and
after.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from tests.torture.rows import Row


class Told(StrEnum):
    """What the writer knows of its operation."""

    INTENDED = "intended"  # not told yet
    COMMITTED = "committed"
    FAILED = "failed"  # given up after every attempt; nothing of it may be there
    UNKNOWN = "unknown"  # neither the answer nor the table could be read


@dataclass(frozen=True, slots=True)
class LostAttempt:
    """One attempt that came to nothing; seconds since the epoch."""

    began: float
    ended: float
    error: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One commit of one writer, whatever number of attempts it takes; `token` is in the summary of
    its snapshot.
    """

    token: str
    table: str
    writer: str
    kind: str  # append, merge, overwrite, delete
    put: tuple[Row, ...] = ()
    drop: tuple[int, ...] = ()  # sequences of the writer's own rows
    told: Told = Told.INTENDED
    attempts: int = 0
    is_resolved: bool = (
        False  # an error came back, and the table said that it was committed all the same
    )
    error: str = ""
    lost: tuple[LostAttempt, ...] = ()
    lost_to_writers: int = 0  # of those; found out afterwards


@dataclass(slots=True)
class Ledger:
    """Append-only: the last line of a token counts."""

    path: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, operation: Operation) -> None:
        """Add a line that is on the disk when this returns."""
        line = json.dumps(asdict(operation)) + "\n"
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line)

    def read(self) -> list[Operation]:
        """Each operation as it was last written, in the order in which they began."""
        if not self.path.exists():
            return []
        found: dict[str, Operation] = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            operation = _parse(json.loads(line))
            found[operation.token] = operation
        return list(found.values())


def _parse(document: Mapping[str, object]) -> Operation:
    given = dict(document)
    put, drop, lost = given.pop("put"), given.pop("drop"), given.pop("lost")
    assert isinstance(put, list)
    assert isinstance(drop, list)
    assert isinstance(lost, list)
    operation = Operation(**given)  # type: ignore[arg-type]
    attempts = tuple(LostAttempt(**attempt) for attempt in lost)
    return replace(
        operation,
        put=tuple(Row(**row) for row in put),
        drop=tuple(drop),
        told=Told(operation.told),
        lost=attempts,
    )


def replay(
    operations: Iterable[Operation], is_there: Callable[[str], bool]
) -> dict[tuple[str, int], Row]:
    """The rows that must be there, by writer and sequence; is_there decides what the writer does
    not know itself.
    """
    rows: dict[tuple[str, int], Row] = {}
    for operation in counting(operations, is_there):
        for sequence in operation.drop:
            rows.pop((operation.writer, sequence), None)
        rows.update({(row.writer, row.sequence): row for row in operation.put})
    return rows


def counting(
    operations: Iterable[Operation], is_there: Callable[[str], bool]
) -> Iterator[Operation]:
    """The operations that took place."""
    for operation in operations:
        if operation.told is Told.COMMITTED or (
            operation.told in {Told.UNKNOWN, Told.INTENDED} and is_there(operation.token)
        ):
            yield operation
