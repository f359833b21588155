"""One simulated table, which is written, measured and rewritten.

Rewrites follow Iceberg, independently of the estimate to which they are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp
from random import Random

from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import (
    DEFAULT_TARGET_MANIFEST_SIZE_BYTES,
    PartitionField,
    PartitionSpec,
    SizeClasses,
)
from tests.labs.simulation.fleet import Layout, Traits, Writer, days_at_start

MIN_INPUT_FILES = 5  # Iceberg: min-input-files
SPREAD_LIMIT = 1.1  # Iceberg: while the other files stay under this multiple of the target
LATE_SHARE = 0.05  # of the commits of a table by day are for the day before
_MANY = 30.0  # above this mean, the normal distribution is close to Poisson's


@dataclass(slots=True)
class Partition:
    """The files of one partition by size class; "fitting" files are no candidates of a rewrite."""

    small_files: int = 0
    small_bytes: int = 0
    fitting_files: int = 0
    fitting_bytes: int = 0
    large_files: int = 0
    large_bytes: int = 0
    written_at: datetime | None = None

    @property
    def files(self) -> int:
        """Return the number of data files of all sizes."""
        return self.small_files + self.fitting_files + self.large_files

    @property
    def bytes(self) -> int:
        return self.small_bytes + self.fitting_bytes + self.large_bytes

    def add(self, files: int, size: int, classes: SizeClasses) -> None:
        """Add this many files of one size in bytes."""
        if size < classes.small_below_bytes:
            self.small_files += files
            self.small_bytes += files * size
        elif size > classes.large_above_bytes:
            self.large_files += files
            self.large_bytes += files * size
        else:
            self.fitting_files += files
            self.fitting_bytes += files * size


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The effect of a rewrite: data files, and the bytes that it read."""

    files_before: int = 0
    files_after: int = 0
    bytes: int = 0
    partitions: int = 0

    @property
    def files_removed(self) -> int:
        """Return by how much the number of files fell."""
        return self.files_before - self.files_after


@dataclass(frozen=True, slots=True)
class Share:
    """The files of one partition that a rewrite takes, and the number that it writes."""

    small_files: int
    small_bytes: int
    large_files: int
    large_bytes: int
    files_after: int

    @property
    def files(self) -> int:
        """Return the number of data files that it reads."""
        return self.small_files + self.large_files

    @property
    def bytes(self) -> int:
        return self.small_bytes + self.large_bytes


def draw_count(expected: float, random: Random) -> int:
    """Draw the number of events with this expectation (Poisson)."""
    if expected > _MANY:
        return max(0, round(random.gauss(expected, expected**0.5)))
    limit, product, count = exp(-expected), random.random(), 0
    while product > limit:
        product *= random.random()
        count += 1
    return count


def _draw_last(now: datetime, hours: float, commits: int, random: Random) -> datetime:
    """Draw the time of the last of these commits; a table between two commits is not hot."""
    return now - timedelta(hours=hours * (1 - random.random() ** (1 / commits)))


def count_outputs(size: int, classes: SizeClasses) -> int:
    """Return how many files Iceberg writes for a group of this many bytes.

    A remainder too small for a file of its own is spread over the others.
    """
    whole, remainder = divmod(size, classes.target_bytes)
    if not whole:
        return 1
    is_spread = remainder <= classes.small_below_bytes and size / whole < min(
        SPREAD_LIMIT * classes.target_bytes, (classes.target_bytes + classes.large_above_bytes) / 2
    )
    return whole if is_spread or not remainder else whole + 1


@dataclass(slots=True)
class SimulatedTable:
    """A table's state; the version grows with each change, like a real table's snapshot id."""

    traits: Traits
    started_at: datetime
    partitions: dict[str, Partition] = field(default_factory=dict)
    version: int = 1
    classes: SizeClasses = field(init=False)

    def __post_init__(self) -> None:
        self.classes = SizeClasses.around(self.traits.target_bytes)

    def fill(self, random: Random) -> None:
        """Add the table's first files, as its writers left them over the days before."""
        names = self._names_at_start()
        left, fitting_left = self.traits.files_at_start, self.traits.fitting_files_at_start
        for position, name in enumerate(names):
            share, written_at = (
                len(names) - position,
                self.started_at - timedelta(days=len(names) - position),
            )
            files, fitting = left // share, fitting_left // share
            left, fitting_left = left - files, fitting_left - fitting
            self._add(name, files, self._draw_size(random), written_at)
            self._add(name, fitting, self.traits.fitting_file_bytes, written_at)

    def _names_at_start(self) -> list[str]:
        match self.traits.layout:
            case Layout.UNPARTITIONED:
                return [""]
            case Layout.BY_DAY:
                days = days_at_start(self.traits)
                return [
                    _day(self.started_at - timedelta(days=days - number)) for number in range(days)
                ]
            case Layout.BY_BUCKET:
                return [f"bucket={number}" for number in range(self.traits.buckets)]

    def _draw_size(self, random: Random) -> int:
        return max(1, round(self.traits.file_bytes * random.lognormvariate(0, 0.3)))

    def _add(self, name: str, files: int, size: int, now: datetime) -> None:
        if not files:
            return
        partition = self.partitions.setdefault(name, Partition())
        partition.add(files, size, self.classes)
        partition.written_at = now

    def write(self, now: datetime, hours: float, random: Random) -> int:
        """Write the commits of the hours up to now; return their number."""
        commits = draw_count(self.traits.commits_per_hour * hours, random)
        if not commits:
            return 0
        self.version += commits
        files, size = commits * self.traits.files_per_commit, self._draw_size(random)
        last = _draw_last(now, hours, commits, random)
        match self.traits.layout:
            case Layout.UNPARTITIONED:
                self._add("", files, size, last)
            case Layout.BY_DAY:
                late = round(files * LATE_SHARE)
                self._add(_day(now - timedelta(days=1)), late, size, last)
                self._add(_day(now), files - late, size, last)
            case Layout.BY_BUCKET:
                first, each = (
                    random.randrange(self.traits.buckets),
                    max(1, files // self.traits.buckets),
                )
                for number in range(min(files, self.traits.buckets)):
                    self._add(f"bucket={(first + number) % self.traits.buckets}", each, size, last)
        return commits

    def measure(self, now: datetime) -> TableHealth:
        """Return the health as a scan would; partitions without candidates are merged into one."""
        parts = self.partitions.values()
        files, size = sum(p.files for p in parts), sum(p.bytes for p in parts)
        small = sum(p.small_files for p in parts)
        return TableHealth(
            table=self.traits.table,
            table_uuid=str(self.traits.table),
            format_version=2,
            location=f"file:///{self.traits.table.name}",
            metadata_location=f"{self.traits.table.name}/{self.version}",
            snapshot_id=self.version,
            measured_at=now,
            target_file_size_bytes=self.traits.target_bytes,
            target_manifest_size_bytes=DEFAULT_TARGET_MANIFEST_SIZE_BYTES,
            data_files=files,
            data_bytes=size,
            average_file_size_bytes=size / files if files else None,
            small_files=small,
            small_file_ratio=small / files if files else None,
            small_file_bytes=sum(p.small_bytes for p in parts),
            records=size,
            position_delete_files=0,
            equality_delete_files=0,
            deletion_vectors=0,
            delete_bytes=0,
            delete_records=0,
            manifests=1,
            manifest_bytes=0,
            data_manifests=1,
            delete_manifests=0,
            snapshots=1,
            oldest_snapshot_at=now,
            newest_snapshot_at=now,
            branches=1,
            tags=0,
            metadata_bytes=0,
            commits_per_hour=self.traits.commits_per_hour,
            partitions=self._measure_partitions(),
            specs=(_SPECS[self.traits.layout],),
            properties=self.traits.properties,
        )

    def _measure_partitions(self) -> tuple[PartitionHealth, ...]:
        reported, settled = [], Partition()
        for name, p in self.partitions.items():
            if p.small_files or p.large_files:
                reported.append(
                    PartitionHealth(
                        0,
                        name,
                        p.files,
                        p.bytes,
                        p.small_files,
                        p.small_bytes,
                        p.large_files,
                        p.large_bytes,
                        0,
                        written_at=p.written_at,
                    )
                )
            else:
                settled.fitting_files += p.fitting_files
                settled.fitting_bytes += p.fitting_bytes
        if settled.files:
            reported.append(
                PartitionHealth(0, "settled", settled.files, settled.bytes, 0, 0, 0, 0, 0)
            )
        return tuple(reported)

    def rewrite(self, only: frozenset[str] | None = None, *, is_dry: bool = False) -> Rewritten:
        """Run rewrite_data_files over all partitions or the given ones; is_dry changes nothing."""
        planned = self.plan(only)
        return _sum_up(planned) if is_dry else self.replace(planned)

    def plan(
        self, only: frozenset[str] | None = None, most_files: int | None = None
    ) -> dict[str, Share]:
        """Return the files that Iceberg's planner takes from all partitions or the given ones.

        With most_files it takes only the first files, and of the last partition a part.
        """
        planned: dict[str, Share] = {}
        left = most_files
        for name, partition in self.partitions.items():
            if left == 0:
                break
            if (only is None or name in only) and self._is_taken(partition):
                planned[name] = share = self._take(partition, left)
                left = None if left is None else left - share.files
        return planned

    def replace(self, planned: Mapping[str, Share]) -> Rewritten:
        """Commit the planned rewrite or a part of it."""
        for name, share in planned.items():
            partition = self.partitions[name]
            partition.small_files -= share.small_files
            partition.small_bytes -= share.small_bytes
            partition.large_files -= share.large_files
            partition.large_bytes -= share.large_bytes
            each = share.bytes // share.files_after
            partition.add(share.files_after - 1, each, self.classes)
            partition.add(1, share.bytes - each * (share.files_after - 1), self.classes)
        if planned:
            self.version += 1
        return _sum_up(planned)

    def _is_taken(self, partition: Partition) -> bool:
        """Return whether Iceberg's planner takes a partition."""
        files, size = (
            partition.small_files + partition.large_files,
            partition.small_bytes + partition.large_bytes,
        )
        return (
            files > 1 and (files >= MIN_INPUT_FILES or size > self.traits.target_bytes)
        ) or size > self.classes.large_above_bytes

    def _take(self, partition: Partition, most: int | None) -> Share:
        """Take all candidates or the first of them: small and large ones mixed, of mean size."""
        files = partition.small_files + partition.large_files
        taken = files if most is None else min(most, files)
        small = partition.small_files * taken // files
        large = taken - small
        small_bytes = partition.small_bytes * small // max(1, partition.small_files)
        large_bytes = partition.large_bytes * large // max(1, partition.large_files)
        return Share(
            small,
            small_bytes,
            large,
            large_bytes,
            count_outputs(small_bytes + large_bytes, self.classes),
        )

    def conflict_chance(self, seconds: float, only: frozenset[str] | None = None) -> float:
        """Return the probability that a rewrite this long loses to a commit in its partitions."""
        if self.traits.writer is Writer.APPEND:
            return 0.0
        rate = (
            self.traits.commits_per_hour
            if self.traits.conflicts_per_hour is None
            else self.traits.conflicts_per_hour
        )
        newest = max((p.written_at for p in self.partitions.values() if p.written_at), default=None)
        touched = [p for name, p in self.partitions.items() if only is None or name in only]
        is_hot = self.traits.layout is not Layout.BY_DAY or any(
            p.written_at == newest for p in touched
        )
        return 1 - exp(-rate * seconds / 3600) if is_hot else 0.0


def _sum_up(planned: Mapping[str, Share]) -> Rewritten:
    shares = planned.values()
    return Rewritten(
        sum(s.files for s in shares),
        sum(s.files_after for s in shares),
        sum(s.bytes for s in shares),
        len(planned),
    )


_SPECS = {
    Layout.UNPARTITIONED: PartitionSpec(0, ()),
    Layout.BY_DAY: PartitionSpec(0, (PartitionField("day", "identity", ("day",), "date"),)),
    Layout.BY_BUCKET: PartitionSpec(0, (PartitionField("bucket", "identity", ("bucket",), "int"),)),
}


def _day(moment: datetime) -> str:
    return f"day={moment:%Y-%m-%d}"
