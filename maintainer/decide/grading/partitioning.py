"""Tables that stay full of small files because their partitions are too fine, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import SMALL_FILE_RATIO, PartitionField, PartitionSpec
from maintainer.domain.units import format_count, format_size
from maintainer.estimate.output_files import count_partitions

LEAST_PARTITIONS: Final = 10  # with fewer partitions there are only few small files
LEAST_SHARE: Final = 0.5  # of small files among the files after the best rewrite
MOST_PARTITIONS_TRIED: Final = 20_000  # with more, no other specs are tried: it takes seconds
_COARSER: Final = {
    "hour": ("day", "month", "year"),
    "day": ("month", "year"),
    "month": ("year",),
    "identity": ("day", "month", "year"),
}


@dataclass(frozen=True, slots=True)
class PartitionAdvice:
    """Why maintenance cannot help, and a better partition spec."""

    partitions: int  # partitions too small to fill one file
    average_bytes: float  # of these partitions
    files_left: int  # small files after the best rewrite, one in each of these partitions
    better: str  # a better partitioning; empty: there is none with the same columns
    better_partitions: int
    better_average_bytes: float
    sentence: str


@dataclass(frozen=True, slots=True)
class _Spec:
    words: str
    partitions: int


def advise_partitions(health: TableHealth) -> PartitionAdvice | None:
    """The advice for a table.

    None if most files after the best rewrite have a good size, and for tables without partition
    fields.
    """
    target, spec = (
        health.target_file_size_bytes,
        next((one for one in health.specs if one.spec_id == health.default_spec_id), None),
    )
    filled = [
        partition
        for partition in health.partitions
        if partition.spec_id == health.default_spec_id and partition.data_bytes > 0
    ]
    fine = [partition for partition in filled if partition.data_bytes < SMALL_FILE_RATIO * target]
    at_best = sum(ceil(partition.data_bytes / target) for partition in filled)
    if spec is None or len(fine) < LEAST_PARTITIONS or len(fine) < LEAST_SHARE * at_best:
        return None
    total = sum(partition.data_bytes for partition in filled)
    better = _find_better(filled, spec, target, total)
    average = sum(partition.data_bytes for partition in fine) / len(fine)
    cause = (
        f"The partitions are too fine for maintenance: {len(fine):,} of {len(filled):,} hold "
        f"{format_size(average)} on average, where one file should have "
        f"{format_size(target)}. A rewrite never merges files of two partitions, so at least "
        f"{len(fine):,} small files stay"
    )
    cure = _describe(better, spec, target, total)
    return PartitionAdvice(
        len(fine),
        average,
        len(fine),
        better.words,
        better.partitions,
        total / better.partitions,
        f"{cause}. {cure}.",
    )


def _describe(better: _Spec, spec: PartitionSpec, target: int, total: int) -> str:
    if better.partitions > 1 and not better.words:
        return (
            f"About {better.partitions:,} partitions would fill a file of that size each: "
            f"partition by a column of fewer values, or by buckets of it"
        )
    if not better.words:
        files = ceil(total / target)
        return (
            f"Without partition fields the table's {format_size(total)} would fit into {files:,} "
            f"file{'' if files == 1 else 's'}"
        )
    partitions = format_count(better.partitions, "partition")
    return (
        f"Partitioned by {better.words} instead of {_write(spec)} the data would be in "
        f"{partitions} of {format_size(total / better.partitions)}"
    )


def _find_better(
    filled: list[PartitionHealth], spec: PartitionSpec, target: int, total: int
) -> _Spec:
    """The finest of the coarser specs whose partitions fill a file on average.

    If there is none: a suitable number of partitions, which is one for little data.
    """
    partitions = [(partition.spec_id, partition.partition) for partition in filled]
    tried = _coarsen(spec) if len(filled) <= MOST_PARTITIONS_TRIED else iter(())
    counted = ((one, count_partitions(partitions, {spec.spec_id: spec}, one)) for one in tried)
    good = [
        _Spec(_write(one), count)
        for one, count in counted
        if count is not None and total / count >= SMALL_FILE_RATIO * target
    ]
    return max(
        good,
        key=lambda found: found.partitions,
        default=_Spec("", total // target if total >= LEAST_PARTITIONS * target else 1),
    )


def _coarsen(spec: PartitionSpec) -> Iterator[PartitionSpec]:
    """Specs with one field coarser or removed, but at least one field left."""
    fields = [field for field in spec.fields if field.transform != "void"]
    for index, field in enumerate(fields):
        before, after = fields[:index], fields[index + 1 :]
        for transform in _COARSER.get(field.transform, ()):
            yield PartitionSpec(-1, (*before, replace(field, transform=transform), *after))
        if before or after:
            yield PartitionSpec(-1, (*before, *after))


def _write(spec: PartitionSpec) -> str:
    return ", ".join(_write_field(field) for field in spec.fields if field.transform != "void")


def _write_field(field: PartitionField) -> str:
    """The field as SQL: `day(ts)`, `bucket(16, id)`."""
    column = ".".join(field.column) or field.name
    if field.transform == "identity":
        return column
    name, _, width = field.transform.rstrip("]").partition("[")
    return f"{name}({width}, {column})" if width else f"{name}({column})"
