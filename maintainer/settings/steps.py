"""Settings of the loop's steps: intervals, bounds, assumptions and leases."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.catalog.limits import (
    DECODE_TIMEOUT_SECONDS,
    MAX_DECODING_BYTES,
    READABLE_SCHEMES,
)
from maintainer.adapters.policies.validation import DurationBetween, SizeBetween, Strict, refuse
from maintainer.domain.replica import LeaseTerms
from maintainer.domain.units import MIB
from maintainer.policy.writing import write_value

RENEWALS_PER_LEASE = 3


class CatalogScanSettings(Strict):
    """Bounds of one catalog that differ from the common ones."""

    requests_per_second: Annotated[float, Field(ge=0.1, le=10_000)] | None = Field(
        default=None, description="The most requests a second to one catalog."
    )
    max_requests: Annotated[int, Field(ge=1, le=512)] | None = Field(
        default=None,
        description="Files that are fetched at the same time, and requests to a catalog at the "
        "same time.",
    )
    min_interval: Annotated[timedelta, DurationBetween("1s")] | None = Field(
        default=None,
        description="The interval of requests for a changing table, in catalogs that need a "
        "request for each table.",
    )
    max_interval: Annotated[timedelta, DurationBetween("1s")] | None = Field(
        default=None, description="The longest interval of requests for an unchanged table."
    )
    interval_growth: Annotated[float, Field(ge=1, le=10)] | None = Field(
        default=None,
        description="The interval of an unchanged table grows by this factor each time.",
    )
    interval_jitter: Annotated[float, Field(ge=0, le=0.5)] | None = Field(
        default=None, description="Each interval is changed at random by up to this share."
    )


def _read_locations(value: object) -> object:
    if not isinstance(value, list):
        return value
    for location in value:
        scheme, _, rest = str(location).partition("://")
        if scheme not in READABLE_SCHEMES or "/" in rest:
            refuse(
                f"has {str(location)[:200]!r}, but a location is a scheme "
                f"({', '.join(sorted(READABLE_SCHEMES))}), alone or with a bucket or a host: "
                f"s3://lake"
            )
    return tuple(value)


class ScanSettings(Strict):
    """How often the catalogs are scanned, and how much is read at the same time.

    An unchanged table is measured again now and then, to notice deleted files. In all but SQL
    catalogs, each table costs a request to find out whether it changed. Its interval lies between
    min_interval and max_interval, and grows while the table does not change.
    """

    interval: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(minutes=5), description="How often the catalogs are scanned."
    )
    workers: int = Field(
        default=8, ge=1, le=64, description="Tables of a catalog that are read at the same time."
    )
    decode_processes: int = Field(
        default=2, ge=0, le=64, description="Processes that decode manifests; 0: the daemon itself."
    )
    decode_memory: Annotated[int, SizeBetween("64MiB", "16GiB")] = Field(
        default=MAX_DECODING_BYTES,
        description="The memory that each of these processes may take beyond what it has when it "
        "starts. A file that needs more is refused.",
    )
    decode_timeout: Annotated[timedelta, DurationBetween("1s", "1h")] = Field(
        default=timedelta(seconds=DECODE_TIMEOUT_SECONDS),
        description="The time limit of these processes for one file, or one batch of manifests.",
    )
    manifest_memory: Annotated[int, SizeBetween("16MiB", "64GiB")] = Field(
        default=256 * MIB, description="Memory for manifests that are fetched and not yet decoded."
    )
    timeout: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(minutes=10),
        description="The time limit for reading one table, and for measuring it.",
    )
    remeasure: Annotated[timedelta, DurationBetween("1m")] = Field(
        default=timedelta(hours=6),
        description="An unchanged table is measured again after this time.",
    )
    rechecks: int = Field(
        default=100,
        ge=0,
        le=1_000_000,
        description="The most unchanged tables of a catalog that one scan rechecks.",
    )
    recheck_share: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="The largest share of a catalog's tables that one scan rechecks.",
    )
    recheck_after: Annotated[timedelta, DurationBetween("0s")] = Field(
        default=timedelta(hours=1),
        description="A table that was measured more recently than this is not rechecked.",
    )
    min_interval: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(minutes=1),
        description="The interval of requests for a changing table, in catalogs that need a "
        "request for each table.",
    )
    max_interval: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(hours=1),
        description="The longest interval of requests for an unchanged table.",
    )
    interval_growth: float = Field(
        default=1.5,
        ge=1,
        le=10,
        description="The interval of an unchanged table grows by this factor each time.",
    )
    interval_jitter: float = Field(
        default=0.1,
        ge=0,
        le=0.5,
        description="Each interval is changed at random by up to this share.",
    )
    requests_per_second: float = Field(
        default=200.0, ge=0.1, le=10_000, description="The most requests a second to one catalog."
    )
    max_requests: int = Field(
        default=64,
        ge=1,
        le=512,
        description="Files that are fetched at the same time, and requests to a catalog at the "
        "same time.",
    )
    locations: Annotated[tuple[str, ...], BeforeValidator(_read_locations)] = Field(
        default=(),
        max_length=1000,
        description="The storages from which metadata of tables is read: schemes, or schemes with "
        "a bucket or a host, such as `[s3://lake, hdfs://namenode.example:8020]`. Default: all "
        "storages of tables. `http` and link-local addresses are never read.",
    )
    catalogs: dict[str, CatalogScanSettings] = Field(
        default_factory=dict, description="Other bounds for one catalog."
    )

    def of(self, catalog: str) -> ScanSettings:
        own = self.catalogs.get(catalog, CatalogScanSettings())
        return self.model_copy(
            update={
                name: value
                for name in CatalogScanSettings.model_fields
                if (value := getattr(own, name)) is not None
            }
        )

    @model_validator(mode="after")
    def _check_intervals(self) -> ScanSettings:
        for where, settings in (
            ("", self),
            *((f"for catalog {name} ", self.of(name)) for name in self.catalogs),
        ):
            if settings.min_interval > settings.max_interval:
                least, greatest = (
                    write_value("", bound)
                    for bound in (settings.min_interval, settings.max_interval)
                )
                refuse(f"has {where}min_interval {least} above max_interval {greatest}")
        return self


class PlanSettings(Strict):
    """How often plans are made from healths."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = Field(
        default=timedelta(seconds=30), description="How often plans are made."
    )


class SubmitSettings(Strict):
    """How often waiting plans are admitted as jobs."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = Field(
        default=timedelta(seconds=5), description="How often planned actions are admitted."
    )


class WatchSettings(Strict):
    """How often running jobs are checked."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = Field(
        default=timedelta(seconds=2), description="How often running jobs are checked."
    )


class ReviewSettings(Strict):
    """How often finished jobs are reviewed: measured again and compared."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = Field(
        default=timedelta(seconds=5), description="How often finished jobs are reviewed."
    )


class PruneSettings(Strict):
    """How long the store keeps samples and jobs.

    Older samples are thinned to one an hour, then one a day.
    """

    interval: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(hours=1), description="How often old entries are removed."
    )
    raw_samples: Annotated[timedelta, DurationBetween("1h")] = Field(
        default=timedelta(days=7), description="How long all samples are kept."
    )
    hourly_samples: Annotated[timedelta, DurationBetween("1h")] = Field(
        default=timedelta(days=90), description="How long one sample an hour is kept."
    )
    samples: Annotated[timedelta, DurationBetween("1h")] = Field(
        default=timedelta(days=730), description="How long one sample a day is kept."
    )
    jobs: Annotated[timedelta, DurationBetween("1h")] = Field(
        default=timedelta(days=365),
        description="How long finished jobs, ended verdicts and orphan lists are kept.",
    )

    @model_validator(mode="after")
    def _check_order(self) -> PruneSettings:
        for finer, coarser in pairwise(("raw_samples", "hourly_samples", "samples")):
            kept, longer = getattr(self, finer), getattr(self, coarser)
            if kept > longer:
                refuse(
                    f"has {finer} {write_value('', kept)} above {coarser} "
                    f"{write_value('', longer)}; coarser samples are kept at least as long as "
                    f"finer ones"
                )
        return self


class LeaseSettings(Strict):
    """How long a process may work on a table without renewing its lease.

    The runner ends a job whose lease is not renewed in time, for example because the store cannot
    be reached or the daemon hangs.
    """

    duration: Annotated[timedelta, DurationBetween("30s", "1h")] = Field(
        default=timedelta(minutes=2),
        description="How long a lease lasts without renewal; at least three times "
        "`watch.interval`.",
    )
    clock_margin: Annotated[timedelta, DurationBetween("1s", "10m")] = Field(
        default=timedelta(seconds=15),
        description="The largest difference of the clocks of two machines. A takeover waits this "
        "much longer.",
    )

    @model_validator(mode="after")
    def _check_margin(self) -> LeaseSettings:
        if self.clock_margin > self.duration:
            refuse(
                f"has clock_margin {write_value('', self.clock_margin)} above duration "
                f"{write_value('', self.duration)}"
            )
        return self

    def as_terms(self) -> LeaseTerms:
        """Return the terms in the steps' form."""
        return LeaseTerms(self.duration, self.clock_margin)
