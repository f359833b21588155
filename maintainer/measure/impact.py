"""The cost of small files, estimated from published measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise
from math import ceil, log
from typing import Final

from maintainer.domain.health import Compaction, TableHealth
from maintainer.domain.units import format_count, format_size
from maintainer.measure.name_node import NameNodeLoad, load_name_node

MB: Final = 1_000_000  # the published sizes are decimal
GB: Final = 1_000_000_000
MILLION: Final = 1_000_000
KEYS_PER_LIST: Final = 1000  # in one answer of an object store
# The metadata.json and the manifest list.
_REQUESTS_OF_A_SNAPSHOT: Final = 2
_PUBLISHED_REFERENCE_BYTES: Final = 130.0 * MB
_HDFS_SCHEMES: Final = frozenset({"hdfs", "viewfs", "webhdfs"})
_OZONE_SCHEMES: Final = frozenset({"ofs", "o3fs", "o3"})


class StorageProfile(StrEnum):
    """The kind of storage of a table, which decides the cost of small files."""

    OBJECT_STORE = "object_store"
    HDFS = "hdfs"
    OZONE = "ozone"


# 2,038 files of 276 MB took 15.9 s one by one, and 2.46 s as one object in an object store. HDFS
# within a data centre takes half a millisecond. For Ozone there is no published time.
_ROUND_TRIPS: Final = {
    StorageProfile.OBJECT_STORE: timedelta(milliseconds=6.6),
    StorageProfile.HDFS: timedelta(milliseconds=0.5),
    StorageProfile.OZONE: timedelta(milliseconds=1),
}
_BANDWIDTH: Final = 112.0 * MB
_PARALLELISM: Final = 1


@dataclass(frozen=True, slots=True)
class ImpactModel:
    """The operator's settings for the storage of one catalog.

    Without a profile each table's location decides; without a price no cost is computed. Prices
    are in the operator's currency.
    """

    profile: StorageProfile | None = None
    get_price_per_million: float | None = None
    put_price_per_million: float | None = None
    list_price_per_million: float | None = None
    price_per_gb_month: float | None = None
    round_trip: timedelta | None = None  # None: the default of the storage profile
    bandwidth: float | None = None  # bytes a second
    parallelism: int | None = None  # requests at the same time

    def at(self, location: str) -> Storage:
        """The storage of a table at that location."""
        profile = self.profile or choose_profile(location)
        return Storage(
            profile,
            self.get_price_per_million,
            self.put_price_per_million,
            self.list_price_per_million,
            self.price_per_gb_month,
            _ROUND_TRIPS[profile] if self.round_trip is None else self.round_trip,
            _BANDWIDTH if self.bandwidth is None else self.bandwidth,
            _PARALLELISM if self.parallelism is None else self.parallelism,
        )


@dataclass(frozen=True, slots=True)
class Storage:
    """The prices and the speed of one kind of storage, as the estimate uses them."""

    profile: StorageProfile
    get_price_per_million: float | None
    put_price_per_million: float | None
    list_price_per_million: float | None
    price_per_gb_month: float | None
    round_trip: timedelta
    bandwidth: float
    parallelism: int

    @property
    def round_trip_seconds(self) -> float:
        return self.round_trip.total_seconds()

    @property
    def sentence(self) -> str:
        """The speed from which the time of a scan is computed, as a sentence."""
        return (
            f"Storage {self.profile.replace('_', ' ')}: a round trip of "
            f"{self.round_trip_seconds * 1000:g} ms, {format_size(self.bandwidth)} a second, "
            f"{format_count(self.parallelism, 'request')} at the same time."
        )

    def seconds(self, size_bytes: float, requests: int) -> float:
        """The time to read so many bytes with so many requests."""
        return size_bytes / self.bandwidth + self.wait_seconds(requests)

    def wait_seconds(self, requests: int) -> float:
        """The round trips of so many requests."""
        return requests * self.round_trip.total_seconds() / self.parallelism


@dataclass(frozen=True, slots=True)
class ImpactModels:
    """The storage of each catalog; `common` applies to catalogs without their own settings."""

    common: ImpactModel = ImpactModel()
    by_catalog: Mapping[str, ImpactModel] = field(default_factory=dict)

    def of(self, catalog: str) -> ImpactModel:
        """The storage of the catalog's tables."""
        return self.by_catalog.get(catalog, self.common)

    def on(self, profile: StorageProfile) -> ImpactModels:
        """The same prices and speeds as if all tables were on this kind of storage."""
        return ImpactModels(
            replace(self.common, profile=profile),
            {name: replace(model, profile=profile) for name, model in self.by_catalog.items()},
        )


@dataclass(frozen=True, slots=True)
class Impact:
    """The cost of one table's present files: slowdowns are estimated, the rest is computed."""

    profile: StorageProfile
    slowdown_low: float  # 1: as fast as with files of the reference size
    slowdown_high: float
    # the average is below the smallest measured size: the last measured value is used, and the
    # real value may be worse
    is_beyond_measured: bool
    requests_per_scan: int  # at least
    # for the same data in files of the target size, with deletes applied and as few manifests as
    # possible
    requests_at_target: int
    # after compaction of the present partitions, which cannot join files of different partitions
    requests_after_compaction: int
    request_cost_per_scan: float | None  # of GET requests
    request_cost_per_scan_at_target: float | None
    request_cost_per_scan_after_compaction: float | None
    write_cost: float | None  # of a PUT request for each of these files
    list_cost: float | None  # of listing all files once, as in an orphan scan
    storage_cost_per_month: float | None  # of the live files
    round_trip_seconds: float  # of the requests, as many at the same time as the storage allows
    scan_seconds: float  # of the round trips, and of the bytes at the bandwidth
    scan_seconds_at_target: float
    name_node: NameNodeLoad | None  # only for HDFS; None also if the files are unknown
    storage: Storage
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


def estimate_impact(
    health: TableHealth, model: ImpactModel, compaction: Compaction | None
) -> Impact | None:
    """The estimated cost of the table's files, and what is left of it after this compaction.

    Without one, nothing is known to be avoidable.

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
    storage = model.at(health.location)
    profile = storage.profile
    low, high, source = _CURVES[profile]
    requests = files + sum(counted) + manifests + _REQUESTS_OF_A_SNAPSHOT
    files_at_target = min(files, max(1, ceil(size / health.target_file_size_bytes)))
    manifests_at_target = max(1, manifests - (health.manifest_excess or 0))
    at_target = min(requests, files_at_target + manifests_at_target + _REQUESTS_OF_A_SNAPSHOT)
    saved = compaction or Compaction(0, applies_deletes=False)
    deletes_left = 0 if saved.applies_deletes else sum(counted)
    after = max(1, files - saved.files_removed) + deletes_left + manifests_at_target
    after = max(at_target, min(requests, after + _REQUESTS_OF_A_SNAPSHOT))
    # A manifest has an entry for each file.
    manifest_bytes_at_target = (health.manifest_bytes or 0) * files_at_target // files
    size_bytes = size + (health.delete_bytes or 0) + (health.manifest_bytes or 0)
    lists = None if health.storage_files is None else ceil(health.storage_files / KEYS_PER_LIST)
    stored = storage.price_per_gb_month
    # The published tables had the same data in fewer files. A single file cannot become fewer.
    curves = (low, high) if files > 1 else ()
    slowdowns = [interpolate(curve, average) for curve in curves] or [1.0]
    return Impact(
        profile=profile,
        slowdown_low=min(slowdowns),
        slowdown_high=max(slowdowns),
        is_beyond_measured=any(average < curve[-1][0] for curve in curves),
        requests_per_scan=requests,
        requests_at_target=at_target,
        requests_after_compaction=after,
        request_cost_per_scan=_cost(requests, storage.get_price_per_million),
        request_cost_per_scan_at_target=_cost(at_target, storage.get_price_per_million),
        request_cost_per_scan_after_compaction=_cost(after, storage.get_price_per_million),
        write_cost=_cost(requests, storage.put_price_per_million),
        list_cost=None if lists is None else _cost(lists, storage.list_price_per_million),
        storage_cost_per_month=None if stored is None else size_bytes / GB * stored,
        round_trip_seconds=storage.wait_seconds(requests),
        scan_seconds=storage.seconds(size_bytes, requests),
        scan_seconds_at_target=storage.seconds(size + manifest_bytes_at_target, at_target),
        name_node=load_name_node(health) if profile is StorageProfile.HDFS else None,
        storage=storage,
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


def _cost(requests: int, price_per_million: float | None) -> float | None:
    return None if price_per_million is None else requests * price_per_million / MILLION
