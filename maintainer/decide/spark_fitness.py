"""Whether Spark can run jobs on the tables of a catalog, and which rules its Iceberg forbids.

A version that is not known forbids nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.driver import SparkFacts, Version, read_version, write_version
from maintainer.domain.health import TableHealth
from maintainer.domain.policy import Rule, RuleName
from maintainer.procedures.procedure import KnownFault
from maintainer.procedures.registry import CHAPTERS


def find_faults(facts: SparkFacts | None) -> Iterator[tuple[RuleName, KnownFault]]:
    """The faults of the running version of Iceberg that a newer version does not have."""
    version = None if facts is None else read_version(facts.iceberg)
    if version is not None:
        yield from (
            (chapter.name, fault)
            for chapter in CHAPTERS.values()
            for fault in chapter.faults
            if fault.until and version < fault.until
        )


def find_fault(facts: SparkFacts | None, rule: Rule, health: TableHealth) -> str | None:
    """Why Iceberg must not run the rule on this table; None when it may."""
    passing = (fault for name, fault in find_faults(facts) if name is rule.name)
    lasting = (fault for fault in CHAPTERS[rule.name].faults if fault.until is None)
    fault = next(
        (
            fault
            for fault in (*passing, *lasting)
            if fault.concerns is None or fault.concerns(rule, health)
        ),
        None,
    )
    if fault is None:
        return None
    if fault.until is None or facts is None:
        return fault.sentence
    return f"{fault.sentence}; Spark runs Iceberg {facts.iceberg}"


# Named arguments, and tags of jobs, which are needed to cancel a job. No older version was tested.
LEAST_SPARK: Version = (3, 5, 0)
# partial-progress.max-failed-commits, which every rewrite that commits in parts sets.
LEAST_ICEBERG: Version = (1, 7, 0)

# The time for which a report prevents jobs. Then a job is tried, and its driver reports again.
CATALOG_TRUST = timedelta(minutes=5)
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
    """The versions that are older than the statements of jobs need."""
    for name, text, least in (
        ("Spark", facts.spark, LEAST_SPARK),
        ("Iceberg", facts.iceberg, LEAST_ICEBERG),
    ):
        version = read_version(text)
        if version is not None and version < least:
            yield f"Spark's driver runs {name} {text}; jobs need {write_version(least)} or newer"


def list_restrictions(facts: SparkFacts | None) -> tuple[str, ...]:
    """The sentences about all restrictions that follow from the facts, on any table."""
    if facts is None:
        return ()
    return (
        *find_old_versions(facts),
        *(fault.sentence for _, fault in find_faults(facts)),
        *(f"catalog {name}: {why}" for name, why in sorted(facts.catalogs.items()) if why),
    )
