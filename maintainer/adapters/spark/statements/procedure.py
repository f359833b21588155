"""Writes an action as a CALL statement for Spark: values are escaped, options are allow-listed."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import assert_never

from maintainer.domain.action import (
    Action,
    ApprovedList,
    ComputePartitionStats,
    ComputeTableStats,
    Disposal,
    ExpireSnapshots,
    Procedure,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    RollBack,
)
from maintainer.domain.condition import rewrite_condition
from maintainer.domain.condition_tokens import MAX_NAME_CHARACTERS, quote_identifier, quote_text
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.option import (
    PROCEDURE_OPTIONS,
    OptionKind,
    check_option,
    options_of_strategy,
)
from maintainer.domain.orphan import quarantine_of

__all__ = [
    "LISTING_VIEW", "call_statement", "name_table", "quote_identifier", "quote_text", "view_of",
]  # fmt: skip

LISTING_VIEW = "maintainer_listing"  # the temporary view of the files in a table's location

_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1
_LEAST_KEPT = 2  # snapshots: the floor of every policy, which this module enforces again
_MAX_TEXT_CHARACTERS = 10_000  # in a where or sort_order clause
PARTS_OF_SCOPE = 2  # of a where clause: the policy's condition and the job's partitions
_MAX_COLUMNS = 1_000  # of compute_table_stats

_PARTIAL_PROGRESS = {"partial-progress.enabled": "true", "partial-progress.max-commits": "10"}
_TOLERATED_COMMITS = 3  # commits of a rewrite in parts that may fail
_AT_ONCE = {"partial-progress.enabled": "false"}
_SORT = "sort"
_STRATEGIES = ("binpack", _SORT)


def call_statement(table: TableIdentifier, action: Action) -> str:
    """Write the action's statement; InvalidValueError for an unknown option or an invalid value."""
    match action:
        case RewriteDataFiles():
            arguments = _rewrite_data_files(action)
        case RewritePositionDeleteFiles():
            options = _read_options(action.procedure, action.options)
            # The grammar of CALL in Spark 3.5 has no empty map.
            given = [("options", _write_map(options))] if options else []
            arguments = [*_clauses(action.procedure, ("where", action.where)), *given]
        case RewriteManifests():
            spec_id = _within("spec_id of rewrite_manifests", action.spec_id, 0, _MAX_INT)
            arguments = [
                ("spec_id", str(spec_id)),
                *_further_arguments(action.procedure, action.options),
            ]
        case ComputeTableStats():
            arguments = [_snapshot(action.procedure, action.snapshot_id), *_columns(action.columns)]
        case ComputePartitionStats():
            arguments = [_snapshot(action.procedure, action.snapshot_id)]
        case ExpireSnapshots():
            retain_last = _within(
                "retain_last of expire_snapshots", action.retain_last, _LEAST_KEPT, _MAX_INT
            )
            bounds = [
                ("older_than", _timestamp(action.older_than)),
                ("retain_last", str(retain_last)),
            ]
            arguments = [*bounds, *_further_arguments(action.procedure, action.options)]
        case RemoveOrphanFiles():
            arguments = _remove_orphan_files(action)
        case _:  # pragma: no cover
            assert_never(action)
    return _call(table, action.procedure, arguments)


def rollback_statement(table: TableIdentifier, action: RollBack) -> str:
    """Write the statement that sets main back; it fails if the snapshot is not an ancestor."""
    return _call(
        table, "rollback_to_snapshot", [_snapshot("rollback_to_snapshot", action.snapshot_id)]
    )


def _call(table: TableIdentifier, procedure: str, arguments: list[tuple[str, str]]) -> str:
    # The table has its catalog in front: otherwise Spark would take a namespace with the name of a
    # catalog for that catalog.
    written = ", ".join(
        f"{name} => {value}"
        for name, value in [("table", quote_text(name_table(table))), *arguments]
    )
    return f"CALL {quote_identifier(table.catalog)}.system.{procedure}({written})"


def name_table(table: TableIdentifier) -> str:
    """Return the table's SQL name, which begins with the catalog."""
    return ".".join(
        quote_identifier(level) for level in (table.catalog, *table.namespace, table.name)
    )


def view_of(approved: ApprovedList) -> str:
    """Return the name of the temporary view that contains exactly the approved files."""
    return f"maintainer_{sha256(approved.list_id.encode()).hexdigest()[:16]}"


def _remove_orphan_files(action: RemoveOrphanFiles) -> list[tuple[str, str]]:
    """Write a dry run, or the deletion of exactly the files in an approved list's view.

    A path with another prefix than the table's own paths must be an error.
    """
    approved = action.approved
    deletes = approved is not None and approved.disposal in {Disposal.DELETE, Disposal.EMPTY}
    fixed = [
        ("older_than", _timestamp(action.older_than, action.procedure)),
        ("dry_run", str(not deletes).lower()),
    ]
    fixed.append(("prefix_mismatch_mode", quote_text("ERROR")))
    own = (
        action.location.rstrip("/") + "/"
        # A view's paths are compared with startsWith. Without the slash at its end the location
        # would also match neighbouring directories.
    )
    if approved is None:
        listing = (
            [("location", quote_text(own)), ("file_list_view", quote_text(LISTING_VIEW))]
            if action.is_listed
            else []
        )
        listed_so = tuple(
            option for option in action.options if option[0] != "max_concurrent_deletes"
        )  # a dry run deletes nothing
        return [*fixed, *listing, *_further_arguments(action.procedure, listed_so)]
    place = (
        quarantine_of(action.location, approved.list_id)
        if approved.disposal is Disposal.EMPTY
        else own
    )
    listed = [("location", quote_text(place)), ("file_list_view", quote_text(view_of(approved)))]
    if not deletes:
        return [*fixed, *listed]
    threads = tuple(option for option in action.options if option[0] == "max_concurrent_deletes")
    return [
        *fixed,
        *listed,
        *_further_arguments(action.procedure, threads),
        ("stream_results", "true"),
    ]  # the rows of the result are then a sample


def _rewrite_data_files(action: RewriteDataFiles) -> list[tuple[str, str]]:
    if action.strategy not in _STRATEGIES:
        raise InvalidValueError(
            f"strategy of rewrite_data_files is {action.strategy!r}; it must be one of "
            f"{', '.join(_STRATEGIES)}"
        )
    if action.sort_order is not None and action.strategy != _SORT:
        raise InvalidValueError(
            f"sort_order of rewrite_data_files is {action.sort_order!r}, but strategy is "
            f"{action.strategy}; it must be {_SORT}"
        )
    known = options_of_strategy(action.options, action.strategy, action.sort_order)
    foreign = next((option for option in action.options if option not in known), None)
    if foreign is not None:
        raise InvalidValueError(
            f"option {foreign[0]} of rewrite_data_files is {foreign[1]}, but strategy "
            f"{action.strategy} with sort_order {action.sort_order!r} has none"
        )
    clauses = _clauses(action.procedure, ("sort_order", action.sort_order), ("where", action.where))
    return [
        ("strategy", quote_text(action.strategy)),
        *clauses,
        ("options", _write_map(_rewrite_options(action.options))),
    ]


def _rewrite_options(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Merge safe defaults with the action's options; Iceberg's own defaults are not safe."""
    given = {"use-starting-sequence-number": "true"} | _read_options(
        Procedure.REWRITE_DATA_FILES, options
    )
    if given.get("partial-progress.enabled") == "false":
        return _AT_ONCE | given
    in_parts = _PARTIAL_PROGRESS | given
    tolerated = _tolerate(int(in_parts["partial-progress.max-commits"]))
    return {"partial-progress.max-failed-commits": str(tolerated)} | in_parts


def _tolerate(commits: int) -> int:
    """The failed commits that a rewrite in up to `commits` parts may report without failing.

    Iceberg's default is never used, because with it all commits may fail without an error. Iceberg
    counts as failed what is missing to `commits` (apache/iceberg 16971): with one file group more
    than commits, each commit takes two groups, and nearly half of the commits are never due.
    """
    return max(_TOLERATED_COMMITS, (commits - 1) // 2)


def _read_options(procedure: Procedure, options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in options:
        problem = check_option(name, value, procedure)
        if problem is not None:
            raise InvalidValueError(problem)
        if name in given:
            raise InvalidValueError(
                f"option {name} of {procedure} is given twice: {given[name]!r} and {value!r}"
            )
        given[name] = value
    return given


def _write_map(options: dict[str, str]) -> str:
    """Write a sorted map, so that equal actions have equal statements."""
    pairs = (f"{quote_text(name)}, {quote_text(value)}" for name, value in sorted(options.items()))
    return f"map({', '.join(pairs)})"


def _further_arguments(
    procedure: Procedure, options: tuple[tuple[str, str], ...]
) -> list[tuple[str, str]]:
    """Write options that are arguments of the procedure; texts are quoted."""
    bounds = PROCEDURE_OPTIONS[procedure]
    plain = {OptionKind.BOOLEAN, OptionKind.COUNT}
    return [
        (name, value if bounds[name].kind in plain else quote_text(value))
        for name, value in sorted(_read_options(procedure, options).items())
    ]


def _clauses(procedure: Procedure, *texts: tuple[str, str | None]) -> list[tuple[str, str]]:
    return [
        (name, quote_text(_check_clause(procedure, name, text)))
        for name, text in texts
        if text is not None
    ]


def _check_clause(procedure: Procedure, name: str, text: str) -> str:
    if not text.strip() or len(text) > _MAX_TEXT_CHARACTERS:
        raise InvalidValueError(
            f"{name} of {procedure} has {len(text)} characters; it must have 1 to "
            f"{_MAX_TEXT_CHARACTERS} that are not all blank"
        )
    return (
        rewrite_condition(f"{name} of {procedure}", text, PARTS_OF_SCOPE)
        if name == "where"
        else text
    )


def _snapshot(procedure: str, snapshot_id: int) -> tuple[str, str]:
    # With L the literal has 64 bits; most ids of snapshots do not fit into 32 bits.
    return ("snapshot_id", f"{_within(f'snapshot_id of {procedure}', snapshot_id, 0, _MAX_LONG)}L")


def _columns(columns: tuple[str, ...]) -> list[tuple[str, str]]:
    if not columns:
        return []
    if len(columns) > _MAX_COLUMNS or any(
        not column or len(column) > MAX_NAME_CHARACTERS for column in columns
    ):
        raise InvalidValueError(
            f"columns of compute_table_stats are {len(columns)}; there must be 1 to "
            f"{_MAX_COLUMNS} of 1 to {MAX_NAME_CHARACTERS} characters"
        )
    return [("columns", f"array({', '.join(map(quote_text, columns))})")]


def _within(thing: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InvalidValueError(f"{thing} is {value}; it must be from {low} to {high}")
    return value


def _timestamp(instant: datetime, procedure: Procedure = Procedure.EXPIRE_SNAPSHOTS) -> str:
    if instant.tzinfo is None:
        raise InvalidValueError(
            f"older_than of {procedure} is {instant.isoformat()} without a time zone; it must "
            f"have one"
        )
    local = instant.astimezone(UTC).replace(tzinfo=None)
    return f"TIMESTAMP '{local.isoformat(sep=' ', timespec='microseconds')} UTC'"
