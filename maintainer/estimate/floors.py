"""Floors and refusals: actions that never run, even if a policy requests them."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.domain.condition import parse_condition
from maintainer.domain.condition_types import find_type_problem
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import ImportedFiles, Rule
from maintainer.domain.rules import (
    ExpireSnapshotsRule,
)
from maintainer.domain.units import format_count

NEWEST_FORMAT_VERSION = 3
NAME_MAPPING = "schema.name-mapping.default"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an action must not run, even if it would help."""

    code: SkipCode
    reason: str


def is_gc_disabled(health: TableHealth) -> bool:
    """True when the table's owner forbids deleting files.

    This is the case if gc.enabled has any value but true, as in Iceberg.
    """
    return health.properties.get("gc.enabled", "true").lower() != "true"


def is_snapshot_of_another(health: TableHealth) -> bool:
    """True when Spark's procedure `snapshot` created the table.

    Until it is fully rewritten, its files belong to the source table.
    """
    return health.properties.get("snapshot", "").strip().lower() == "true"


def find_import(health: TableHealth) -> str | None:
    """Evidence that migrate or add_files imported files from another table; None without any."""
    if health.properties.get("migrated", "").strip().lower() == "true":
        return "the property migrated=true"
    # Files that Iceberg did not write have no field ids, so an import sets a name mapping for their
    # columns.
    return (
        f"a name mapping ({NAME_MAPPING}), as add_files leaves"
        if health.properties.get(NAME_MAPPING, "").strip()
        else None
    )


def refuse_imported(rule: ExpireSnapshotsRule, health: TableHealth) -> str | None:
    """Why snapshots of a table with imported files must not expire.

    None when it has none, or the operator's policy allows deleting them.
    """
    sign = find_import(health)
    if sign is None or rule.imported_files is ImportedFiles.DELETE:
        return None
    return (
        f"the table has {sign}: expiry would delete files that another table may still read; "
        f"only imported_files: delete in a policy file allows it"
    )


def refuse(rule: Rule, health: TableHealth) -> Refusal | None:
    """The first reason not to run any such rule on this table; None when there is none."""
    if health.format_version > NEWEST_FORMAT_VERSION:
        return Refusal(
            SkipCode.UNSUPPORTED,
            f"format version {health.format_version} is newer than {NEWEST_FORMAT_VERSION}, the "
            f"newest that is supported",
        )
    if rule.discards_files:
        # The lost deletes and the replaced files are needed to mend the table.
        lost = describe_lost_deletes(health)
        if lost is not None:
            reason = f"{lost}; until then nothing that this needs is removed"
            return Refusal(SkipCode.UNSUPPORTED, reason)
    return None


def refuse_wrong_summaries(health: TableHealth) -> Refusal | None:
    """Why nothing may run that finds the deletes of a partition by the manifest list's summaries.

    None if all of them are right (apache/iceberg 19035).
    """
    wrong = describe_wrong_summaries(health)
    if wrong is None:
        return None
    reason = f"{wrong}; before that a rewrite could bring deleted rows back"
    return Refusal(SkipCode.UNSUPPORTED, reason)


def refuse_mistyped(where: str | None, health: TableHealth) -> Refusal | None:
    """Why Iceberg cannot make a filter of a rule's condition on this table."""
    if not where or health.column_types is None:
        return None
    problem = find_type_problem(parse_condition(where), health.column_types, health.table)
    return None if problem is None else Refusal(SkipCode.UNSUPPORTED, f"where {problem}")


def describe_wrong_summaries(health: TableHealth) -> str | None:
    """What is wrong in the manifest list, and what mends it; None if nothing is known to be."""
    first = health.wrong_summary
    if first is None:
        return None
    manifests = format_count(health.wrong_summaries or 1, "manifest")
    return (
        f"the manifest list has wrong summaries of {manifests}, so that queries may miss rows or "
        f"return deleted ones; the first is {first.path} of spec {first.spec_id} "
        f"({first.reason}); rewrite_manifests writes right summaries"
    )


def describe_lost_deletes(health: TableHealth) -> str | None:
    """Which deletes have no effect, and what a person can do; None if no such delete is known."""
    first = health.lost_delete
    if first is None:
        return None
    count, of = health.lost_deletes or 1, f"of snapshot {first.snapshot_id} ({first.writer})"
    what = (
        f"1 delete file {of} is for a data file"
        if count == 1
        else f"{count:,} delete files, the first {of}, are for data files"
    )
    by = "" if first.removed_by is None else f" by snapshot {first.removed_by}"
    return (
        f"{what} that had been replaced{by}: deleted rows are still there, and updated rows are "
        f"doubled; "
        f"the writer does not check for rewrites; run its statement again, or roll back to a "
        f"snapshot before {first.snapshot_id}"
    )
