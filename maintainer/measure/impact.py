"""The cost of small files, estimated from published measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise
from math import ceil, log
from typing import Final

from maintainer.domain.health import TableHealth

MB: Final = 1_000_000  # the published sizes are decimal
MILLION: Final = 1_000_000
# HDFS: each file has an inode and at least one block; 150 million of them take about 100 GB of
# heap.
HEAP_BYTES_PER_OBJECT: Final = 100_000_000_000 / 150_000_000
HDFS_BLOCK_BYTES: Final = 128 * 1024**2
# The metadata.json and the manifest list.
_REQUESTS_OF_A_SNAPSHOT: Final = 2
_PUBLISHED_REFERENCE_BYTES: Final = 130.0 * MB
_HDFS_SCHEMES: Final = frozenset({"hdfs", "viewfs", "webhdfs"})
_OZONE_SCHEMES: Final = frozenset({"ofs", "o3fs", "o3"})


class StorageProfile(StrEnum):
    """The kind of storage of a table: the cost of small files differs."""

    OBJECT_STORE = "object_store"
    HDFS = "hdfs"
    OZONE = "ozone"


@dataclass(frozen=True, slots=True)
class ImpactModel:
    """The operator's settings.

    Without a profile each table's location decides; without a price no cost is computed.
    """

    profile: StorageProfile | None = None
    request_price_per_million: float | None = None  # in the operator's currency
    round_trip: timedelta = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Impact:
    """The cost of one table's present files: slowdowns are estimated, the rest is computed."""

    profile: StorageProfile
    slowdown_low: float  # 1 is as fast as with files of the reference size
    slowdown_high: float
    # the average is below the smallest measured size: the last measured value is shown, and the
    # true one may be worse
    is_beyond_measured: bool
    requests_per_scan: int  # at least
    # the same data in files of the target size, with deletes applied and as few manifests as
    # possible
    requests_at_target: int
    request_cost_per_scan: float | None
    round_trip_seconds: float  # requests one after the other
    name_node_objects: int | None  # HDFS only; at least
    name_node_heap_bytes: float | None
    source: str
    reference_file_size_bytes: float = _PUBLISHED_REFERENCE_BYTES


# (average file size in bytes, query time relative to files of about 130 MB), largest size first.
Curve = tuple[tuple[float, float], ...]
_IMPALA_S3: Final[Curve] = ((128 * MB, 1.0), (2 * MB, 1.8), (0.25 * MB, 2.5))
_MINIO: Final[Curve] = ((133.6 * MB, 1.0), (2.3 * MB, 9.12))
_OZONE_OFS: Final[Curve] = ((133.6 * MB, 1.0), (2.3 * MB, 3.10))
_OZONE_S3: Final[Curve] = ((133.6 * MB, 1.0), (2.3 * MB, 4.89))
_HDFS: Final[Curve] = ((133.6 * MB, 1.0), (2.3 * MB, 2.48))
_CPU_BOUND: Final[Curve] = ((133.6 * MB, 1.0), (2.3 * MB, 1.0))

_ORC_STUDY: Final = (
    "TPC-DS 100 GB in ORC by Impala, one stream, 72 queries, 134 MB against 2.3 MB files"
)
_CURVES: Final[dict[StorageProfile, tuple[Curve, Curve, str]]] = {
    StorageProfile.OBJECT_STORE: (
        _IMPALA_S3,
        _MINIO,
        (
            f"low: TPC-DS in Iceberg/Parquet by Impala on S3/MinIO, 4 streams, 128 MB to 0.25 MB "
            f"files (up to 2.5x); high: {_ORC_STUDY}, MinIO (9.1x)"
        ),
    ),
    StorageProfile.HDFS: (
        _CPU_BOUND,
        _HDFS,
        (
            f"low: queries bound by the CPU do not move; high: {_ORC_STUDY}, HDFS, mean of the "
            f"queries (2.5x)"
        ),
    ),
    StorageProfile.OZONE: (
        _OZONE_OFS,
        _OZONE_S3,
        f"{_ORC_STUDY}, Ozone; low: its file system (3.1x), high: its S3 API (4.9x)",
    ),
}


def choose_profile(location: str) -> StorageProfile:
    """The storage profile for a location's scheme.

    All schemes other than HDFS's and Ozone's count as object stores.
    """
    scheme = location.partition(":")[0].lower()
    if scheme in _HDFS_SCHEMES:
        return StorageProfile.HDFS
    return StorageProfile.OZONE if scheme in _OZONE_SCHEMES else StorageProfile.OBJECT_STORE


def estimate_impact(health: TableHealth, model: ImpactModel) -> Impact | None:
    """The estimated cost of the table's files.

    None when it has no data file, or the files could not be counted.
    """
    average, files, size, manifests = (
        health.average_file_size_bytes,
        health.data_files,
        health.data_bytes,
        health.manifests,
    )
    deletes = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    counted = [count for count in deletes if count is not None]
    if (
        average is None
        or not files
        or size is None
        or manifests is None
        or len(counted) < len(deletes)
    ):
        return None
    profile = model.profile or choose_profile(health.location)
    low, high, source = _CURVES[profile]
    requests = files + sum(counted) + manifests + _REQUESTS_OF_A_SNAPSHOT
    files_at_target = min(files, max(1, ceil(size / health.target_file_size_bytes)))
    manifests_at_target = max(1, manifests - (health.manifest_excess or 0))
    price = model.request_price_per_million
    objects = _count_objects(health) if profile is StorageProfile.HDFS else None
    slowdowns = (interpolate(low, average), interpolate(high, average))
    return Impact(
        profile=profile,
        slowdown_low=min(slowdowns),
        slowdown_high=max(slowdowns),
        is_beyond_measured=average < max(low[-1][0], high[-1][0]),
        requests_per_scan=requests,
        requests_at_target=min(
            requests, files_at_target + manifests_at_target + _REQUESTS_OF_A_SNAPSHOT
        ),
        request_cost_per_scan=requests * price / MILLION if price is not None else None,
        round_trip_seconds=requests * model.round_trip.total_seconds(),
        name_node_objects=objects,
        name_node_heap_bytes=objects * HEAP_BYTES_PER_OBJECT if objects is not None else None,
        source=f"Estimate from published measurements, not of this table. "
        f"{source[0].upper()}{source[1:]}.",
    )


def interpolate(curve: Sequence[tuple[float, float]], size_bytes: float) -> float:
    """The slowdown at an average file size, by linear interpolation over the size's logarithm.

    Beyond the measured points the outermost values count.
    """
    if size_bytes >= curve[0][0]:
        return curve[0][1]
    for (large, before), (small, after) in pairwise(curve):
        if size_bytes >= small:
            share = log(large / size_bytes) / log(large / small)
            return before + (after - before) * share
    return curve[-1][1]


def _count_objects(health: TableHealth) -> int | None:
    """A lower bound: per file an inode and a block, and one more per full block of live data."""
    if health.storage_files is None or health.data_bytes is None or health.data_files is None:
        return None
    return 2 * health.storage_files + max(
        0, ceil(health.data_bytes / HDFS_BLOCK_BYTES) - health.data_files
    )
