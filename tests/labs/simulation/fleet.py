"""The tables of a simulated fleet: drawn from published distributions, or from healths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from math import exp, log
from random import Random

from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import DEFAULT_TARGET_FILE_SIZE_BYTES
from maintainer.domain.units import GIB, KIB, MIB
from maintainer.measure.health import target_file_size

# Shares of files by size in a real name-node image of a billion files, without directories and
# empty files: (upper bound in bytes, share in percent).
PUBLISHED_FILE_SIZES: tuple[tuple[int, float], ...] = (
    (128 * KIB, 33.66), (MIB, 16.71), (8 * MIB, 15.49), (64 * MIB, 18.18), (512 * MIB, 9.26),
    (2 * GIB, 2.82),
)  # fmt: skip
SMALLEST_FILE_BYTES = 4 * KIB

# Assumptions, not measurements, about the commits of tables: (share of tables, fewest, most commits
# an hour).
COMMIT_RATES: tuple[tuple[float, float, float], ...] = (
    (0.05, 12, 60),  # streams
    (0.15, 1, 4),  # micro-batches
    (0.30, 0.5, 1),  # hourly loads
    (0.40, 0.03, 0.06),  # daily loads
    (0.10, 0.001, 0.01),  # idle tables
)
_MOST_FILES_AT_START = 20_000
_DAYS_AT_START = 30


class Layout(StrEnum):
    """How a table is partitioned."""

    UNPARTITIONED = "unpartitioned"
    BY_DAY = "by_day"
    BY_BUCKET = "by_bucket"


class Writer(StrEnum):
    """An append never conflicts with a rewrite; a merge to the same partition does."""

    APPEND = "append"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Traits:
    """The constant properties of a simulated table; sizes in bytes."""

    table: TableIdentifier
    layout: Layout
    writer: Writer
    commits_per_hour: float
    files_per_commit: int
    file_bytes: int  # median size of the files that a commit adds
    files_at_start: int
    buckets: int = 16
    target_bytes: int = DEFAULT_TARGET_FILE_SIZE_BYTES
    bytes_per_second: float = 64.0 * MIB  # that one job rewrites
    properties: Mapping[str, str] = field(default_factory=dict)
    start_up: timedelta | None = None  # of the table's jobs; None: the value of the conditions
    conflicts_per_hour: float | None = None  # of rewrites; None: any merge may conflict
    fitting_files_at_start: int = 0  # files that no rewrite selects
    fitting_file_bytes: int = 0


def draw_file_size(random: Random) -> int:
    """Draw a file size in bytes from the published distribution, log-uniform within each class."""
    pick = random.uniform(0, sum(share for _, share in PUBLISHED_FILE_SIZES))
    lower = SMALLEST_FILE_BYTES
    for upper, share in PUBLISHED_FILE_SIZES:
        if pick <= share:
            break
        pick, lower = pick - share, upper
    return round(exp(random.uniform(log(lower), log(upper))))


def draw_fleet(tables: int, seed: int) -> tuple[Traits, ...]:
    """Draw this many tables, the same for the same seed.

    File sizes and file counts are drawn independently, so the fleet's files have the published
    sizes.
    """
    random = Random(seed)
    return tuple(_draw_table(number, random) for number in range(tables))


def _draw_table(number: int, random: Random) -> Traits:
    layout = random.choices(tuple(Layout), (0.25, 0.55, 0.20))[0]
    writer = random.choices(tuple(Writer), (0.75, 0.25))[0]
    _, fewest, most = random.choices(COMMIT_RATES, [share for share, _, _ in COMMIT_RATES])[0]
    return Traits(
        table=TableIdentifier("simulated", (f"group_{number % 100:02}",), f"table_{number:06}"),
        layout=layout,
        writer=writer,
        commits_per_hour=exp(random.uniform(log(fewest), log(most))),
        files_per_commit=random.choice((1, 1, 2, 4, 8, 16)),
        file_bytes=draw_file_size(random),
        files_at_start=min(_MOST_FILES_AT_START, round(random.lognormvariate(log(200), 1.5))),
        # The speed of jobs differs with the columns and codecs of tables.
        bytes_per_second=64.0 * MIB * random.lognormvariate(0, 0.4),
    )


def take_table(health: TableHealth) -> Traits:
    """Make a table like a measured one: its known partitioning, rates, sizes and target."""
    commits = health.commits_per_hour or 0.0
    small = health.small_files and health.small_file_bytes
    size = (
        health.small_file_bytes / health.small_files
        if small and health.small_file_bytes and health.small_files
        else health.average_file_size_bytes or MIB
    )
    growth = max(0.0, health.growth_bytes_per_day or 0.0)
    files_per_day = growth / size if size else 0.0
    has_deletes = bool(
        health.position_delete_files or health.equality_delete_files or health.deletion_vectors
    )
    changes_rows = (
        health.last_change_at is not None and health.last_change_at == health.last_write_at
    )
    files, fitting_files, fitting_bytes = _count_files(health)
    return Traits(
        table=health.table,
        layout=_find_layout(health),
        writer=Writer.MERGE if has_deletes or changes_rows else Writer.APPEND,
        commits_per_hour=commits,
        files_per_commit=max(1, round(files_per_day / (commits * 24))) if commits else 1,
        file_bytes=max(SMALLEST_FILE_BYTES, round(size)),
        files_at_start=min(_MOST_FILES_AT_START, files),
        buckets=max(1, len(health.partitions)),
        # Not the target of the current policies, because simulated policies may have another.
        target_bytes=target_file_size(health.properties),
        properties=health.properties,
        fitting_files_at_start=fitting_files,
        fitting_file_bytes=fitting_bytes,
    )


def _count_files(health: TableHealth) -> tuple[int, int, int]:
    """Return the number of small files, of other files, and the mean size of the latter.

    All files count alike if it is unknown which are small.
    """
    files, size = health.data_files or 0, health.data_bytes or 0
    if health.small_files is None or health.small_file_bytes is None:
        return files, 0, 0
    others = files - health.small_files
    return health.small_files, others, (size - health.small_file_bytes) // others if others else 0


def _find_layout(health: TableHealth) -> Layout:
    names = [partition.partition for partition in health.partitions]
    if all(not name for name in names):
        return Layout.UNPARTITIONED
    # If partition values contain a date or a time, new data is in new partitions.
    return (
        Layout.BY_DAY
        # As in 2026-03-04.
        if sum(name.count("-") >= 2 for name in names) * 2 > len(names)
        else Layout.BY_BUCKET
    )


def days_at_start(traits: Traits) -> int:
    """Return how many daily partitions a table by day has at the start."""
    return min(_DAYS_AT_START, max(1, (traits.files_at_start + traits.fitting_files_at_start) // 4))
