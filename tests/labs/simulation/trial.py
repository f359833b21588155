"""One contender maintains one fleet in virtual time under a budget; the result is in figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Protocol

from maintainer.domain.units import MIB
from tests.labs.simulation.fleet import Traits
from tests.labs.simulation.table import SimulatedTable

STARTS_AT = datetime(2026, 1, 5, tzinfo=UTC)  # a Monday, so that weeks are whole
# A table needs maintenance if a rewrite would remove at least so many files of a small average
# size.
NEED_FILES_REMOVED = 20
NEED_AVERAGE_BELOW_BYTES = 32 * MIB
HOURS_A_DAY = 24
PARTIAL_COMMITS = 10  # Iceberg: partial-progress.max-commits


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a trial.

    A job's cost is the real one, which no contender knows in advance.
    """

    length: timedelta = timedelta(weeks=2)
    cycle: timedelta = timedelta(hours=6)
    gb_hours_per_day: float | None = None  # None: no limit
    max_jobs: int = 8  # at the same time
    memory_gb: float = 4.0
    start_up: timedelta = timedelta(seconds=20)
    sla: timedelta = timedelta(days=7)  # a table that needs a rewrite for longer is starved
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Work:
    """One rewrite that a contender wants.

    The table's number, its partitions (None: all) and files, and the expected result.
    """

    table: int
    only: frozenset[str] | None = None
    is_partial: bool = False  # the job commits in parts, so that a conflict loses only a part
    most_files: int | None = None  # the job takes only the first files; None: all files
    expected_files_removed: float | None = None
    expected_gb_hours: float | None = None
    memory_gb: float | None = None  # of the job; None: the value of the conditions
    starts_after: timedelta = timedelta(0)  # since the beginning of the cycle


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a rewrite."""

    started_at: datetime
    seconds: float
    gb_hours: float
    files_removed: int
    bytes: int
    is_conflict: bool


class Contender(Protocol):
    """Chooses what to maintain."""

    @property
    def name(self) -> str:
        """Return its name in the comparison."""

    def target_of(self, traits: Traits) -> int:
        """Return the size in bytes at which it aims for the table's files."""

    def choose(
        self, now: datetime, tables: Sequence[SimulatedTable], left_gb_hours: float | None
    ) -> Iterable[Work]:
        """Yield the rewrites of this cycle, best first; left_gb_hours is the remaining budget."""

    def learn(self, work: Work, table: SimulatedTable, outcome: Outcome) -> None:
        """Take the outcome of a rewrite."""


@dataclass(frozen=True, slots=True)
class Day:
    """The fleet at the end of one day."""

    day: int
    data_files: int
    data_bytes: int
    tables_in_need: int


@dataclass(frozen=True, slots=True)
class Result:
    """A contender's result; the first of its days is the fleet before any maintenance."""

    contender: str
    tables: int
    jobs: int
    idle_jobs: int  # jobs that removed nothing, without a conflict
    conflicts: int
    files_removed: int
    bytes_rewritten: int
    gb_hours: float
    starved_tables: int  # tables that needed a rewrite for longer than the SLA, at any time
    longest_need: timedelta
    days: tuple[Day, ...]
    # The mean of |expected - actual| / actual over the later half of the jobs with an estimate; the
    # earlier half is for learning.
    files_error: float | None = None
    cost_error: float | None = None

    @property
    def files_removed_per_gb_hour(self) -> float:
        """Return 0 if nothing was spent."""
        return self.files_removed / self.gb_hours if self.gb_hours else 0.0

    @property
    def average_file_size_bytes(self) -> float:
        """Return the average over the fleet at the end."""
        last = self.days[-1]
        return last.data_bytes / last.data_files if last.data_files else 0.0


@dataclass(slots=True)
class _Sums:
    jobs: int = 0
    idle_jobs: int = 0
    conflicts: int = 0
    files_removed: int = 0
    bytes: int = 0
    gb_hours: float = 0.0
    files_errors: list[float] = field(default_factory=list)
    cost_errors: list[float] = field(default_factory=list)

    def count(self, work: Work, outcome: Outcome) -> None:
        self.jobs += 1
        self.conflicts += outcome.is_conflict
        self.idle_jobs += not outcome.is_conflict and not outcome.files_removed
        self.files_removed += outcome.files_removed
        self.bytes += outcome.bytes
        self.gb_hours += outcome.gb_hours
        if work.expected_files_removed is not None and outcome.files_removed:
            self.files_errors.append(
                abs(work.expected_files_removed - outcome.files_removed) / outcome.files_removed
            )
        if work.expected_gb_hours is not None:
            self.cost_errors.append(
                abs(work.expected_gb_hours - outcome.gb_hours) / outcome.gb_hours
            )


@dataclass(slots=True)
class _Needs:
    """When each table's need began, and the longest wait so far."""

    since: dict[int, datetime] = field(default_factory=dict)
    # the version at which a table was last checked
    seen: dict[int, int] = field(default_factory=dict)
    longest: timedelta = timedelta(0)
    starved: set[int] = field(default_factory=set)

    def look(self, number: int, table: SimulatedTable, now: datetime, sla: timedelta) -> None:
        if self.seen.get(number) != table.version:
            self.seen[number] = table.version
            if is_in_need(table):
                self.since.setdefault(number, now)
            else:
                self.since.pop(number, None)
        if number in self.since:
            self.longest = max(self.longest, now - self.since[number])
            if now - self.since[number] > sla:
                self.starved.add(number)

    def served(self, number: int) -> None:
        self.since.pop(number, None)
        self.seen.pop(number, None)


def is_in_need(table: SimulatedTable) -> bool:
    """Return whether a table is in need, by one rule for every contender."""
    files, size = (
        sum(p.files for p in table.partitions.values()),
        sum(p.bytes for p in table.partitions.values()),
    )
    return (
        bool(files)
        and size / files < NEED_AVERAGE_BELOW_BYTES
        and table.rewrite(is_dry=True).files_removed >= NEED_FILES_REMOVED
    )


def run_trial(
    fleet: Sequence[Traits],
    contender: Contender,
    conditions: Conditions,
    tell: Callable[[float], None] = lambda _: None,
) -> Result:
    """Run a trial in virtual time, cycle by cycle.

    `tell` is called with the finished share. The writers of one seed are the same in each trial,
    for every contender.
    """
    tables, writes = _begin(
        [replace(traits, target_bytes=contender.target_of(traits)) for traits in fleet], conditions
    )
    chance = Random(conditions.seed)
    sums, needs, days = _Sums(), _Needs(), [_close_day(0, tables, {})]
    cycles = int(conditions.length / conditions.cycle)
    hours = conditions.cycle.total_seconds() / 3600
    allowance = (
        None
        if conditions.gb_hours_per_day is None
        else conditions.gb_hours_per_day * hours / HOURS_A_DAY
    )
    left = None if allowance is None else 0.0
    today = STARTS_AT.date()
    for cycle in range(1, cycles + 1):
        now = STARTS_AT + cycle * conditions.cycle
        for number, table in enumerate(tables):
            table.write(now, hours, writes[number])
            needs.look(number, table, now, conditions.sla)
        if now.date() != today:
            days.append(_close_day(len(days), tables, needs.since))
            today = now.date()
        if left is not None and allowance is not None and conditions.gb_hours_per_day is not None:
            # The last job of a cycle may cost more than is left; the rest is subtracted later.
            # Budget that is not spent within a day is lost.
            left = min(conditions.gb_hours_per_day, left + allowance)
        spent = _run_cycle(now, tables, contender, conditions, left, chance, sums, needs)
        left = None if left is None else left - spent
        tell(cycle / cycles)
    return Result(
        contender=contender.name,
        tables=len(tables),
        jobs=sums.jobs,
        idle_jobs=sums.idle_jobs,
        conflicts=sums.conflicts,
        files_removed=sums.files_removed,
        bytes_rewritten=sums.bytes,
        gb_hours=sums.gb_hours,
        starved_tables=len(needs.starved),
        longest_need=needs.longest,
        days=(*days, _close_day(len(days), tables, needs.since)),
        files_error=_mean_of_later(sums.files_errors),
        cost_error=_mean_of_later(sums.cost_errors),
    )


def _begin(
    fleet: Sequence[Traits], conditions: Conditions
) -> tuple[list[SimulatedTable], list[Random]]:
    tables = [SimulatedTable(traits, STARTS_AT) for traits in fleet]
    # Each table has its own random stream, so that work on other tables does not change its
    # writes.
    writes = [Random(conditions.seed * 1_000_003 + number) for number in range(len(tables))]
    for table, random in zip(tables, writes, strict=True):
        table.fill(random)
    return tables, writes


def _run_cycle(  # noqa: PLR0917 - the parts of one trial's state
    now: datetime,
    tables: Sequence[SimulatedTable],
    contender: Contender,
    conditions: Conditions,
    left: float | None,
    chance: Random,
    sums: _Sums,
    needs: _Needs,
) -> float:
    """Run the contender's rewrites within budget and slots; return the GB-hours spent."""
    spent = slot_seconds = 0.0
    time_limit = conditions.max_jobs * conditions.cycle.total_seconds()
    if left is not None and left <= 0:
        return 0.0
    for work in contender.choose(now, tables, left):
        table = tables[work.table]
        outcome = _carry_out(now, table, work, conditions, chance)
        spent += outcome.gb_hours
        slot_seconds += outcome.seconds
        sums.count(work, outcome)
        if not outcome.is_conflict:
            needs.served(work.table)
        contender.learn(work, table, outcome)
        if slot_seconds >= time_limit or (left is not None and spent >= left):
            break
    return spent


def _carry_out(
    now: datetime, table: SimulatedTable, work: Work, conditions: Conditions, chance: Random
) -> Outcome:
    planned = table.plan(work.only, work.most_files)
    size = sum(share.bytes for share in planned.values())
    start_up = conditions.start_up if table.traits.start_up is None else table.traits.start_up
    seconds = (
        start_up.total_seconds() + size / table.traits.bytes_per_second
    ) * chance.lognormvariate(0, 0.1)
    gb_hours = (conditions.memory_gb if work.memory_gb is None else work.memory_gb) * seconds / 3600
    started_at = now + work.starts_after
    kept = _commit(table, list(planned), seconds, chance, is_partial=work.is_partial)
    if planned and not kept:
        return Outcome(started_at, seconds, gb_hours, 0, size, is_conflict=True)
    done = table.replace({name: planned[name] for name in kept})
    return Outcome(started_at, seconds, gb_hours, done.files_removed, size, is_conflict=False)


def _commit(
    table: SimulatedTable, names: Sequence[str], seconds: float, chance: Random, *, is_partial: bool
) -> list[str]:
    """Return the partitions whose rewrite is committed before any writer's conflict.

    One commit has all or none; partial progress commits in parts.
    """
    shares = min(PARTIAL_COMMITS, len(names)) if is_partial else 1
    kept: list[str] = []
    for number in range(shares):
        share = names[number::shares]
        # Iceberg checks for conflicts since the job began, for every part.
        if share and chance.random() >= table.conflict_chance(
            seconds * (number + 1) / shares, frozenset(share)
        ):
            kept += share
    return kept


def _close_day(day: int, tables: Sequence[SimulatedTable], in_need: dict[int, datetime]) -> Day:
    files = sum(p.files for table in tables for p in table.partitions.values())
    return Day(
        day,
        files,
        sum(p.bytes for table in tables for p in table.partitions.values()),
        len(in_need),
    )


def _mean_of_later(values: Sequence[float]) -> float | None:
    later = values[len(values) // 2 :]
    return sum(later) / len(later) if later else None
