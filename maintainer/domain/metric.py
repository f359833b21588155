"""The figures of a table that a policy's thresholds can compare: each is defined here once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Self

from maintainer.domain.health import TableHealth
from maintainer.domain.units import write_duration, write_size

Observe = Callable[[TableHealth, datetime], float | None]


class Unit(StrEnum):
    """What a metric's number counts; it decides how a bound is written, and its limits."""

    BYTES = "bytes"
    SECONDS = "seconds"
    COUNT = "count"
    SHARE = "share"  # 0 to 1
    RATIO = "ratio"  # at least 0


class Metric(StrEnum):
    """The figures that a threshold can compare.

    A test shows that the procedure of each rule improves the figures of the rule's thresholds. Each
    has its unit, the side of the bound on which it is due, its name in sentences, the meaning
    of its key in a policy file, and how it is read from a table's health.
    """

    unit: Unit
    direction: Literal["above", "below"]
    label: str
    meaning: str
    observe: Observe  # None: not measured or undefined, such as the average of no files

    # The arguments are the columns of the table below.
    def __new__(  # noqa: PLR0913, PLR0917
        cls,
        name: str,
        unit: Unit,
        label: str,
        meaning: str,
        observe: Observe,
        direction: Literal["above", "below"] = "above",
    ) -> Self:
        metric = str.__new__(cls, name)
        metric._value_ = name
        metric.unit, metric.direction, metric.label = unit, direction, label
        metric.meaning, metric.observe = meaning, observe
        return metric

    @property
    def key(self) -> str:
        """The threshold's key in a policy file: ``average_file_size_below``."""
        figure = self.value.removesuffix("_bytes").removesuffix("_seconds")
        return f"{figure}_{self.direction}"

    def write_bound(self, bound: float) -> str:
        """A threshold's bound as in a policy file, not rounded."""
        if self.unit is Unit.BYTES:
            return write_size(bound)
        if self.unit is Unit.SECONDS:
            return write_duration(bound)
        return str(int(bound)) if float(bound).is_integer() else str(bound)

    AVERAGE_FILE_SIZE_BYTES = (
        "average_file_size_bytes",
        Unit.BYTES,
        "average file size",
        "Fires while the live data files are smaller than this on average.",
        lambda health, _: health.average_file_size_bytes,
        "below",
    )
    SMALL_FILE_COUNT = (
        "small_file_count",
        Unit.COUNT,
        "small files",
        "Fires while more data files than this are under 75 % of the target file size.",
        lambda health, _: health.small_files,
    )
    SMALL_FILE_RATIO = (
        "small_file_ratio",
        Unit.SHARE,
        "share of small files",
        "Fires while more than this share of the data files is small; 0 to 1.",
        lambda health, _: health.small_file_ratio,
    )
    MANIFEST_COUNT = (
        "manifest_count",
        Unit.COUNT,
        "manifests",
        "Fires while the current snapshot has more manifests than this.",
        lambda health, _: health.manifests,
    )
    SNAPSHOT_COUNT = (
        "snapshot_count",
        Unit.COUNT,
        "snapshots",
        "Fires while the table keeps more snapshots than this.",
        lambda health, _: health.snapshots,
    )
    OLDEST_SNAPSHOT_AGE_SECONDS = (
        "oldest_snapshot_age_seconds",
        Unit.SECONDS,
        "age of the oldest snapshot",
        "Fires while the oldest snapshot is older than this.",
        lambda health, now: (
            (now - health.oldest_snapshot_at).total_seconds() if health.oldest_snapshot_at else None
        ),
    )
    POSITION_DELETE_FILE_COUNT = (
        "position_delete_file_count",
        Unit.COUNT,
        "position delete files",
        "Fires while the table has more position delete files than this.",
        lambda health, _: health.position_delete_files,
    )
    EQUALITY_DELETE_FILE_COUNT = (
        "equality_delete_file_count",
        Unit.COUNT,
        "equality delete files",
        "Fires while the table has more equality delete files than this.",
        lambda health, _: health.equality_delete_files,
    )
    DELETION_VECTOR_COUNT = (
        "deletion_vector_count",
        Unit.COUNT,
        "deletion vectors",
        "Fires while the table has more deletion vectors than this.",
        lambda health, _: health.deletion_vectors,
    )
    DELETE_RATIO = (
        "delete_ratio",
        Unit.SHARE,
        "share of deleted records",
        "Fires while more than this share of the records is deleted; 0 to 1.",
        lambda health, _: (
            health.delete_records / health.records
            if health.delete_records is not None and health.records
            else None
        ),
    )
    DELETE_FILE_RATIO = (
        "delete_file_ratio",
        Unit.RATIO,
        "delete files to data files",
        "Fires while there are more delete files than this for each data file.",
        lambda health, _: health.delete_file_ratio,
    )
    DANGLING_DELETE_FILE_COUNT = (
        "dangling_delete_file_count",
        Unit.COUNT,
        "dangling position delete files",
        "Fires while more position delete files than this no longer apply to a data file.",
        lambda health, _: health.dangling_delete_files,
    )
    MANIFEST_EXCESS = (
        "manifest_excess",
        Unit.COUNT,
        "manifests beyond those needed",
        "Fires while the snapshot has more manifests than this beyond those that its entries need.",
        lambda health, _: health.manifest_excess,
    )
    LIVE_FILE_RATIO = (
        "live_file_ratio",
        Unit.SHARE,
        "share of kept data files that are live",
        "Fires while less than this share of the kept data files is live; 0 to 1.",
        lambda health, _: health.live_file_ratio,
        "below",
    )
    METADATA_SIZE_BYTES = (
        "metadata_size_bytes",
        Unit.BYTES,
        "size of the metadata file",
        "Fires while the current metadata file is larger than this; each commit writes a new one.",
        lambda health, _: health.metadata_bytes,
    )


@dataclass(frozen=True, slots=True)
class Threshold:
    """One condition: true when the metric is strictly above or below the bound."""

    metric: Metric
    bound: float  # in the metric's unit: bytes, seconds, a ratio or a count
