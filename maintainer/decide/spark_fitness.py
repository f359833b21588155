"""Whether Spark can run jobs on the tables of a catalog, and which rules its Iceberg forbids.

A version that is not known forbids nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.driver import SparkFacts, Version, read_version, write_version
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionSpec
from maintainer.domain.policy import Rule, RuleName


@dataclass(frozen=True, slots=True)
class KnownFault:
    """One fault: a rule does not run on such tables with Iceberg older than `until`."""

    rule: RuleName
    until: Version | None  # the first version without the fault; None: every version has it
    reason: str
    concerns: Callable[[Rule, TableHealth], bool] | None = None  # None: every table

    @property
    def sentence(self) -> str:
        """The fault with the version that it ends with."""
        if self.until is None:
            return f"in every version of Iceberg so far {self.reason}"
        return f"before Iceberg {write_version(self.until)} {self.reason}"


def _has_several_refs(_: Rule, health: TableHealth) -> bool:
    return health.branches + health.tags > 1


def _has_row_lineage(_: Rule, health: TableHealth) -> bool:
    return health.format_version >= 3  # noqa: PLR2004 - the format version with row lineage


def _has_replaced_partition_fields(_: Rule, health: TableHealth) -> bool:
    """Whether the fields of a spec are not the first of all fields that the table ever had."""
    specs = [[part.name for part in spec.fields] for spec in _by_age(health)]
    every = list(dict.fromkeys(name for names in specs for name in names))
    return any(names != every[: len(names)] for names in specs)


def _by_age(health: TableHealth) -> list[PartitionSpec]:
    return sorted(health.specs, key=lambda spec: spec.spec_id)


def _drops_equality_deletes(rule: Rule, health: TableHealth) -> bool:
    return dict(rule.options).get("remove-dangling-deletes") == "true" and bool(
        health.equality_delete_files
    )


KNOWN_FAULTS = (
    KnownFault(
        RuleName.EXPIRE_SNAPSHOTS,
        (1, 10, 0),
        "expiry may delete files that are still needed if the table has several branches or tags",
        _has_several_refs,  # apache/iceberg 13568
    ),
    KnownFault(
        RuleName.REWRITE_DATA_FILES,
        (1, 10, 0),
        "a rewrite loses the row lineage of a table in format version 3",
        _has_row_lineage,  # Spark keeps it since 1.10
    ),
    KnownFault(
        RuleName.REWRITE_MANIFESTS,
        (1, 11, 1),
        "rewrite_manifests gives the rows of a table in format version 3 new row ids",
        _has_row_lineage,  # apache/iceberg 16699
    ),
    KnownFault(
        RuleName.COMPUTE_PARTITION_STATS,
        (1, 10, 0),
        "Spark has no procedure compute_partition_stats",  # apache/iceberg 13523
    ),
    KnownFault(
        RuleName.COMPUTE_PARTITION_STATS,
        None,
        "partition statistics are wrong after a partition field was dropped or replaced",
        _has_replaced_partition_fields,  # apache/iceberg 17915
    ),
    KnownFault(
        RuleName.REMOVE_ORPHAN_FILES,
        (1, 11, 0),
        "remove_orphan_files has no stream_results, without which no list of files is removed",
        # apache/iceberg 14278
    ),
    KnownFault(
        RuleName.REWRITE_DATA_FILES,
        (1, 12, 0),
        "remove-dangling-deletes drops equality deletes that files of another partition spec need",
        _drops_equality_deletes,  # apache/iceberg 15727
    ),
)


def find_faults(facts: SparkFacts | None) -> Iterator[KnownFault]:
    """The faults of the running version of Iceberg that a newer version does not have."""
    version = None if facts is None else read_version(facts.iceberg)
    if version is not None:
        yield from (fault for fault in KNOWN_FAULTS if fault.until and version < fault.until)


def find_fault(facts: SparkFacts | None, rule: Rule, health: TableHealth) -> str | None:
    """Why Iceberg must not run the rule on this table; None when it may."""
    lasting = (fault for fault in KNOWN_FAULTS if fault.until is None)
    fault = next(
        (
            fault
            for fault in (*find_faults(facts), *lasting)
            if fault.rule is rule.name and (fault.concerns is None or fault.concerns(rule, health))
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
        *(fault.sentence for fault in find_faults(facts)),
        *(f"catalog {name}: {why}" for name, why in sorted(facts.catalogs.items()) if why),
    )
