"""What will be done and when, from a seed alone: the tables, their writers, what each does next,
and the chaos.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from random import Random

from tests.torture.ledger import Operation
from tests.torture.rows import Row

SHARED_PARTS = ("p0", "p1", "p2", "p3")


class Engine(StrEnum):
    """What a writer writes with."""

    PYICEBERG = "pyiceberg"
    SPARK = "spark"


class Kind(StrEnum):
    """What a writer does, over and over."""

    APPEND = "append"
    MERGE = "merge"  # merge-on-read: changes, deletes and inserts
    OVERWRITE = "overwrite"  # of a partition that is its own
    DELETE = "delete"  # by Spark merge-on-read, by PyIceberg copy-on-write; between appends


@dataclass(frozen=True, slots=True)
class WriterPlan:
    """One writer of one table."""

    name: str
    kind: Kind
    engine: Engine


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table and its writers; PyIceberg cannot write to format version 3."""

    name: str
    format_version: int
    is_partitioned: bool
    writers: tuple[WriterPlan, ...]
    has_history: bool = False  # snapshots that are days old, for expiry
    properties: tuple[tuple[str, str], ...] = ()  # beyond those that all have


TABLES = (
    TablePlan(
        "events",
        2,
        is_partitioned=True,
        writers=(
            WriterPlan("events-a", Kind.APPEND, Engine.PYICEBERG),
            WriterPlan("events-b", Kind.MERGE, Engine.SPARK),
            WriterPlan("events-c", Kind.OVERWRITE, Engine.PYICEBERG),
        ),
        has_history=True,
    ),
    TablePlan(
        "orders",
        3,
        is_partitioned=True,
        writers=(
            WriterPlan("orders-a", Kind.APPEND, Engine.SPARK),
            WriterPlan("orders-b", Kind.MERGE, Engine.SPARK),
            WriterPlan("orders-c", Kind.DELETE, Engine.SPARK),
        ),
        has_history=True,
    ),
    TablePlan(
        "readings",
        2,
        is_partitioned=False,
        writers=(
            WriterPlan("readings-a", Kind.APPEND, Engine.PYICEBERG),
            WriterPlan("readings-b", Kind.MERGE, Engine.SPARK),
            WriterPlan("readings-c", Kind.DELETE, Engine.SPARK),
        ),
        has_history=True,
        properties=(
            ("write.delete.granularity", "partition"),
        ),  # one file for each delete, so that there is something in rewriting them
    ),
    TablePlan(
        "accounts",
        3,
        is_partitioned=False,
        writers=(
            WriterPlan("accounts-a", Kind.APPEND, Engine.SPARK),
            WriterPlan("accounts-b", Kind.MERGE, Engine.SPARK),
            WriterPlan("accounts-c", Kind.DELETE, Engine.SPARK),
        ),
    ),
    TablePlan(
        "stock",
        2,
        is_partitioned=True,
        writers=(
            WriterPlan("stock-a", Kind.APPEND, Engine.PYICEBERG),
            WriterPlan("stock-b", Kind.DELETE, Engine.PYICEBERG),
            WriterPlan("stock-c", Kind.OVERWRITE, Engine.SPARK),
        ),
    ),
)


@dataclass(slots=True)
class WriterScript:
    """What one writer does next, given the rows that it has: the same seed and the same answers
    give the same script.
    """

    table: str
    plan: WriterPlan
    random: Random
    pace_seconds: float  # mean rest between two operations
    prefix: str  # of the tokens
    _numbers: Iterator[int] = field(default_factory=count)
    _sequences: Iterator[int] = field(default_factory=count)

    def rest(self) -> float:
        """Seconds until the next operation."""
        return self.random.uniform(0.5, 1.5) * self.pace_seconds

    def next(self, own: Mapping[int, Row]) -> Operation:
        """The next operation."""
        put, drop = self._choose(own)
        kind = self.plan.kind
        token = f"{self.prefix}-{self.plan.name}-{next(self._numbers)}"
        is_append = kind is Kind.DELETE and not drop
        return Operation(
            token,
            self.table,
            self.plan.name,
            (Kind.APPEND if is_append else kind).value,
            tuple(put),
            tuple(drop),
        )

    def _choose(self, own: Mapping[int, Row]) -> tuple[list[Row], list[int]]:
        match self.plan.kind:
            case Kind.APPEND:
                return self._new(SHARED_PARTS), []
            case Kind.OVERWRITE:
                return self._new((f"own-{self.plan.name}",)), sorted(own)
            case Kind.DELETE:
                if len(own) < 8 or self.random.random() < 0.5:
                    return self._new(SHARED_PARTS), []
                return [], self._some(own)
            case Kind.MERGE:
                touched = self._some(own) if own else []
                dropped = touched[: len(touched) // 3]
                changed = [
                    Row(row.writer, row.sequence, row.version + 1, row.part)
                    for row in (own[sequence] for sequence in touched[len(dropped) :])
                ]
                return [*changed, *self._new(SHARED_PARTS)], dropped

    def _new(self, parts: tuple[str, ...]) -> list[Row]:
        rows = range(self.random.randint(3, 12))
        return [
            Row(self.plan.name, next(self._sequences), 0, self.random.choice(parts)) for _ in rows
        ]

    def _some(self, own: Mapping[int, Row]) -> list[int]:
        return self.random.sample(sorted(own), k=min(len(own), self.random.randint(1, 8)))


def make_scripts(
    seed: int, prefix: str, namespace: str, commits_per_second: float
) -> list[WriterScript]:
    """One for each writer of each table; together about as fast as asked for."""
    writers = [(table, writer) for table in TABLES for writer in table.writers]
    pace = len(writers) / commits_per_second
    return [
        WriterScript(
            f"{namespace}.{table.name}", writer, Random(f"{seed}/{writer.name}"), pace, prefix
        )
        for table, writer in writers
    ]


class Trouble(StrEnum):
    """What goes wrong around the daemon."""

    KILL_JVM = "kill_jvm"  # Spark's Java process
    KILL_DRIVER = "kill_driver"  # the driver's Python process
    KILL_DAEMON = "kill_daemon"
    CUT_CATALOG = "cut_catalog"  # connections are cut and refused for a while
    CUT_STORE = "cut_store"
    DELAY_COMMITS = "delay_commits"  # everything that is said to the catalog waits
    # neither the daemon nor Spark can write a file of more than a few hundred bytes
    FILL_DISK = "fill_disk"
    # the connection breaks after a commit took place, before its answer is back; not that of
    # rewrite_manifests
    LOSE_ANSWER = "lose_answer"
    # that one too, and Iceberg itself then makes the table unreadable: see docs/torture.md
    LOSE_ANY_ANSWER = "lose_any_answer"
    CUT_LINK = "cut_link"  # drivers that poll get no answer, perhaps past the fences of their jobs
    FREEZE_DRIVER = "freeze_driver"  # and its JVM, perhaps past its fence


REMOTE_TROUBLES = (Trouble.CUT_LINK, Trouble.FREEZE_DRIVER)
USUAL_TROUBLES = tuple(
    trouble for trouble in Trouble if trouble not in {Trouble.LOSE_ANY_ANSWER, *REMOTE_TROUBLES}
)


LONGEST_GAP_SECONDS = 25.0  # from one trouble to the next
SHORTEST_GAP_SECONDS = 6.0
# Of the gap: how long a trouble lasts, or waits for something to hit.
_SHARES = {
    trouble: (0.6, 0.8) if trouble.value.startswith(("kill", "lose")) else (0.15, 0.4)
    for trouble in Trouble
}


REMOTE_SECONDS = (5.0, 45.0)  # of those that may last longer than a lease of 30 s


@dataclass(frozen=True, slots=True)
class TroublePlan:
    """One event: seconds after the start, and how long it lasts or waits for something to hit."""

    at: float
    trouble: Trouble
    seconds: float


def make_troubles(
    seed: int, total_seconds: float, kinds: tuple[Trouble, ...] = USUAL_TROUBLES
) -> list[TroublePlan]:
    """Every kind once before any comes again, in an order of the seed's; all are over by the
    end, except those of drivers that poll.
    """
    random = Random(f"{seed}/trouble")
    gap = min(LONGEST_GAP_SECONDS, max(SHORTEST_GAP_SECONDS, total_seconds / (len(kinds) + 3)))
    order = _endless(kinds, random)
    planned: list[TroublePlan] = []
    while (
        kinds
        and (at := gap * (1.5 + len(planned) + random.uniform(-0.2, 0.2))) + gap < total_seconds
    ):
        trouble = next(order)
        seconds = (
            random.uniform(*REMOTE_SECONDS)
            if trouble in REMOTE_TROUBLES
            else random.uniform(*_SHARES[trouble]) * gap
        )
        planned.append(TroublePlan(at, trouble, seconds))
    return planned


def _endless(kinds: tuple[Trouble, ...], random: Random) -> Iterator[Trouble]:
    while True:
        yield from random.sample(kinds, k=len(kinds))
