"""How often each step of the loop runs, its bounds, and what it assumes."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from maintainer.adapters.policies.validation import DurationBetween, SizeBetween, Strict, refuse
from maintainer.domain.units import MIB
from maintainer.policy.effective import write_value


class CatalogScanSettings(Strict):
    """The bounds of asking one catalog, where they are to be others than for all."""

    requests_per_second: Annotated[float, Field(ge=0.1, le=10_000)] | None = None
    max_requests: Annotated[int, Field(ge=1, le=512)] | None = None
    min_interval: Annotated[timedelta, DurationBetween("1s")] | None = None
    max_interval: Annotated[timedelta, DurationBetween("1s")] | None = None
    interval_growth: Annotated[float, Field(ge=1, le=10)] | None = None
    interval_jitter: Annotated[float, Field(ge=0, le=0.5)] | None = None


class ScanSettings(Strict):
    """How often the catalogs are measured, and with how much at once.

    `workers` tables are read side by side in each catalog; for all catalogs together at most max_requests files are fetched at once, at most
    manifest_memory of manifests waits to be decoded, and decode_processes decode (0: the daemon itself).

    An unchanged table is measured anew after `remeasure`, and the longest unmeasured ones of a catalog before that, to notice files that were deleted: of
    those that rested for recheck_after, at most `rechecks` and recheck_share of the catalog at every scan. Where asking whether one changed costs a
    request (all but SQL catalogs), it is asked after min_interval to max_interval, by how long it rests, within requests_per_second of its catalog;
    the interval grows by interval_growth each time, and lies up to interval_jitter of itself to either side. `catalogs` has other bounds for some, by
    their names.

    A table of which more than spark_digest_above_files files have to be read is left to a job on Spark, which changes nothing.
    """

    interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=5)
    workers: Annotated[int, Field(ge=1, le=64)] = 8
    decode_processes: Annotated[int, Field(ge=0, le=64)] = 2
    manifest_memory: Annotated[int, SizeBetween("16MiB", "64GiB")] = 256 * MIB
    timeout: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=10)
    remeasure: Annotated[timedelta, DurationBetween("1m")] = timedelta(hours=6)
    rechecks: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    recheck_share: Annotated[float, Field(ge=0, le=1)] = 0.05
    recheck_after: Annotated[timedelta, DurationBetween("0s")] = timedelta(hours=1)
    spark_digest_above_files: Annotated[int, Field(ge=0, le=10**15)] = 20_000_000
    min_interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=1)
    max_interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(hours=1)
    interval_growth: Annotated[float, Field(ge=1, le=10)] = 1.5
    interval_jitter: Annotated[float, Field(ge=0, le=0.5)] = 0.1
    requests_per_second: Annotated[float, Field(ge=0.1, le=10_000)] = 200.0
    max_requests: Annotated[int, Field(ge=1, le=512)] = 64
    catalogs: dict[str, CatalogScanSettings] = Field(default_factory=dict)

    def of(self, catalog: str) -> ScanSettings:
        """The settings that hold for a catalog."""
        own = self.catalogs.get(catalog, CatalogScanSettings())
        return self.model_copy(update={name: value for name in CatalogScanSettings.model_fields if (value := getattr(own, name)) is not None})

    @model_validator(mode="after")
    def _check_intervals(self) -> ScanSettings:
        for where, settings in (("", self), *((f"for catalog {name} ", self.of(name)) for name in self.catalogs)):
            if settings.min_interval > settings.max_interval:
                least, greatest = (write_value("", bound) for bound in (settings.min_interval, settings.max_interval))
                refuse(f"has {where}min_interval {least} above max_interval {greatest}")
        return self


class PlanSettings(Strict):
    """How often plans are made from what was measured."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=30)


class SubmitSettings(Strict):
    """How often waiting plans are admitted as jobs."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=5)


class WatchSettings(Strict):
    """How often running jobs are looked at."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=2)


class ReviewSettings(Strict):
    """How often finished jobs are compared, before and after."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=5)


class PruneSettings(Strict):
    """How long the store keeps what it holds: every sample for raw_samples, then one an hour for hourly_samples, then one a day for samples."""

    interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(hours=1)
    raw_samples: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=7)
    hourly_samples: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=90)
    samples: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=730)
    jobs: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=365)

    @model_validator(mode="after")
    def _check_order(self) -> PruneSettings:
        for finer, coarser in pairwise(("raw_samples", "hourly_samples", "samples")):
            kept, longer = getattr(self, finer), getattr(self, coarser)
            if kept > longer:
                refuse(
                    f"has {finer} {write_value('', kept)} above {coarser} {write_value('', longer)}; coarser samples are kept at least as long as finer ones"
                )
        return self


class ImpactSettings(Strict):
    """What the estimate of small files' cost assumes; without a profile each table's location decides."""

    profile: Literal["object_store", "hdfs", "ozone"] | None = None
    request_price_per_million: Annotated[float, Field(ge=0, le=1_000_000)] | None = None
    round_trip: Annotated[timedelta, DurationBetween("0s", "1m")] = timedelta(milliseconds=1)
