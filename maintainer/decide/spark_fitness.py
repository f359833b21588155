"""Whether the Spark that a driver described can run jobs on the tables of a catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.decide.known_faults import find_faults
from maintainer.domain.spark_facts import SparkFacts, Version, read_version, write_version

# Named arguments and tags of jobs, by which a job is cancelled; nothing older was run.
LEAST_SPARK: Version = (3, 5, 0)
# partial-progress.max-failed-commits, which every rewrite that commits in parts sets.
LEAST_ICEBERG: Version = (1, 7, 0)

# How long a report counts against jobs. After that a job is tried, and its driver reports anew.
CATALOG_TRUST = timedelta(hours=1)
VERSION_TRUST = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why Spark runs no job on a catalog's tables, and until when this counts."""

    reason: str
    until: datetime


def find_unfit(facts: SparkFacts | None, catalog: str, now: datetime) -> Unfit | None:
    """Why Spark cannot run jobs on the catalog's tables; None when it can or nothing is known."""
    if facts is None:
        return None
    found = (
        *(Unfit(reason, facts.at + VERSION_TRUST) for reason in find_old_versions(facts)),
        *(
            Unfit(f"Spark could not load catalog {catalog}: {reason}", facts.at + CATALOG_TRUST)
            for name, reason in facts.catalogs.items()
            if name == catalog and reason
        ),
    )
    return next((unfit for unfit in found if now < unfit.until), None)


def find_old_versions(facts: SparkFacts) -> Iterator[str]:
    """What is older than the statements of jobs need."""
    for name, text, least in (
        ("Spark", facts.spark, LEAST_SPARK),
        ("Iceberg", facts.iceberg, LEAST_ICEBERG),
    ):
        version = read_version(text)
        if version is not None and version < least:
            yield f"Spark's driver runs {name} {text}; jobs need {write_version(least)} or newer"


def list_restrictions(facts: SparkFacts | None) -> tuple[str, ...]:
    """All that the facts forbid, on any table; empty when they forbid nothing."""
    if facts is None:
        return ()
    return (
        *find_old_versions(facts),
        *(fault.sentence for fault in find_faults(facts)),
        *(f"catalog {name}: {why}" for name, why in sorted(facts.catalogs.items()) if why),
    )
