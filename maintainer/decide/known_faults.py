"""Faults of Iceberg's versions: which rule each one forbids, and on which tables.

A line has its source. A version that is not known forbids nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from maintainer.domain.health import TableHealth
from maintainer.domain.policy import Rule, RuleName
from maintainer.domain.spark_facts import SparkFacts, Version, read_version, write_version


@dataclass(frozen=True, slots=True)
class KnownFault:
    """One fault: a rule does not run on such tables with Iceberg older than `until`."""

    rule: RuleName
    until: Version  # the first version without the fault
    reason: str
    concerns: Callable[[Rule, TableHealth], bool] | None = None  # None: every table

    @property
    def sentence(self) -> str:
        """The fault with the version that it ends with."""
        return f"before Iceberg {write_version(self.until)} {self.reason}"


def _has_several_refs(_: Rule, health: TableHealth) -> bool:
    return health.branches + health.tags > 1


def _has_row_lineage(_: Rule, health: TableHealth) -> bool:
    return health.format_version >= 3  # noqa: PLR2004 - the format version with row lineage


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
        RuleName.COMPUTE_PARTITION_STATS,
        (1, 10, 0),
        "Spark has no procedure compute_partition_stats",  # apache/iceberg 13523
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
    """The faults of the Iceberg that runs."""
    version = None if facts is None else read_version(facts.iceberg)
    if version is not None:
        yield from (fault for fault in KNOWN_FAULTS if version < fault.until)


def find_fault(facts: SparkFacts | None, rule: Rule, health: TableHealth) -> str | None:
    """Why the Iceberg that runs must not run the rule on this table; None when it may."""
    if facts is None:
        return None
    return next(
        (
            f"{fault.sentence}; Spark runs Iceberg {facts.iceberg}"
            for fault in find_faults(facts)
            if fault.rule is rule.name and (fault.concerns is None or fault.concerns(rule, health))
        ),
        None,
    )
