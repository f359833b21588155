"""Whether the equality deletes of a rewrite fit in a job's memory, and how to make them fit.

A task that rewrites a data file keeps in memory all equality deletes that may apply to it: those of
the file's partition, and those without a partition. The number of files in a group does not matter;
the number of concurrent tasks and groups does.
"""

from __future__ import annotations

from collections.abc import Mapping

from maintainer.decide.rewrite.limits import GROUP_SIZE, Fit
from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.units import GIB, format_count, format_size

GROUPS_AT_ONCE = "max-concurrent-file-group-rewrites"
# An upper bound from measurements with Iceberg 1.12, of the heap for 400,000 deletes. One long took
# 108 bytes per row (4.7 bytes in the file), a string of 26 characters 157 (5.2), both 173 (9.9).
# Files are encoded and compressed; the sets in memory consist of objects.
BYTES_PER_ROW = 120
BYTES_PER_FILE_BYTE = 15
# The share of a job's heap for deletes; the rest is for data that it reads and writes. Spark
# leaves 40 % of the heap to objects that it does not manage.
USABLE_SHARE = 0.4


def weigh_deletes(health: TableHealth) -> dict[PartitionKey, int]:
    """Bytes of memory that one copy of each partition's equality deletes takes."""
    unpartitioned = {
        spec.spec_id
        for spec in health.specs
        if not any(field.transform != "void" for field in spec.fields)
    }
    weights = {
        (p.spec_id, p.partition): _weigh(p.equality_delete_records, p.equality_delete_bytes)
        for p in health.partitions
    }
    everywhere = sum(weight for (spec_id, _), weight in weights.items() if spec_id in unpartitioned)
    return {
        key: weight + (0 if key[0] in unpartitioned else everywhere)
        for key, weight in weights.items()
    }


def _weigh(records: int, size: int) -> int:
    return records * BYTES_PER_ROW + size * BYTES_PER_FILE_BYTE


def fit_deletes(
    options: Mapping[str, str], health: TableHealth, memory_gb: float, tasks_at_once: int
) -> Fit:
    """The options of the rewrite, changed so that its deletes fit.

    They stay as they are, or it runs one task at a time, or leaves out partitions with too many
    deletes.
    """
    if not health.equality_delete_files:
        return Fit(options)
    room = memory_gb * GIB * USABLE_SHARE
    weights = {(p.spec_id, p.partition): 0 for p in health.partitions if p.data_files}
    weights = {key: weight for key, weight in weigh_deletes(health).items() if key in weights}
    too_heavy = frozenset(key for key, weight in weights.items() if weight > room)
    refusal = _refuse(weights, too_heavy, room, memory_gb)
    heaviest = max((weight for key, weight in weights.items() if key not in too_heavy), default=0)
    if heaviest * tasks_at_once <= room:
        return Fit(options, too_heavy, refusal=refusal)
    target = int(options.get("target-file-size-bytes", health.target_file_size_bytes))
    group = min(target, int(options.get(GROUP_SIZE, target)))
    narrowed = dict(options) | {GROUPS_AT_ONCE: "1", GROUP_SIZE: str(group)}
    sentence = (
        f"in groups of {format_size(group)}, one at a time, because the equality deletes of one "
        f"take about {format_size(heaviest)} "
        f"of the {format_size(room)} of memory that a job has for them"
    )
    return Fit(narrowed, too_heavy, sentence, refusal)


def _refuse(
    weights: Mapping[PartitionKey, int],
    too_heavy: frozenset[PartitionKey],
    room: float,
    memory_gb: float,
) -> str:
    if not too_heavy:
        return ""
    number, heaviest = len(too_heavy), max(weights[key] for key in too_heavy)
    return (
        f"the equality deletes of {format_count(number, 'partition')} take up to "
        f"about {format_size(heaviest)} of memory in each task, "
        f"more than the {format_size(room)} that a job of {format_size(memory_gb * GIB)} has for "
        f"them (spark.driver_memory, spark.max_jobs)"
    )
