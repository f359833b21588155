"""Writes the parts of a CALL statement for Spark: values are escaped, options are allow-listed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from maintainer.domain.action import Procedure
from maintainer.domain.condition import rewrite_condition
from maintainer.domain.condition_tokens import quote_identifier, quote_text
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.option import PROCEDURE_OPTIONS, OptionKind, check_option

MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1
_MAX_TEXT_CHARACTERS = 10_000  # in a where or sort_order clause
PARTS_OF_SCOPE = 2  # of a where clause: the policy's condition and the job's partitions


def write_call(table: TableIdentifier, procedure: str, arguments: Sequence[tuple[str, str]]) -> str:
    """Write a CALL with these arguments after the table."""
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


def read_options(procedure: Procedure, options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Read the options; InvalidValueError for one that is unknown, invalid or given twice."""
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


def write_map(options: dict[str, str]) -> str:
    """Write a sorted map, so that equal actions have equal statements."""
    pairs = (f"{quote_text(name)}, {quote_text(value)}" for name, value in sorted(options.items()))
    return f"map({', '.join(pairs)})"


def write_options(
    procedure: Procedure, options: tuple[tuple[str, str], ...]
) -> list[tuple[str, str]]:
    """Write options that are arguments of the procedure; texts are quoted."""
    bounds = PROCEDURE_OPTIONS[procedure]
    plain = {OptionKind.BOOLEAN, OptionKind.COUNT}
    return [
        (name, value if bounds[name].kind in plain else quote_text(value))
        for name, value in sorted(read_options(procedure, options).items())
    ]


def write_clauses(procedure: Procedure, *texts: tuple[str, str | None]) -> list[tuple[str, str]]:
    """Write the texts that are given, each as a quoted argument."""
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


def write_snapshot(procedure: str, snapshot_id: int) -> tuple[str, str]:
    """Write the argument that names a snapshot."""
    # With L the literal has 64 bits; most ids of snapshots do not fit into 32 bits.
    return (
        "snapshot_id",
        f"{check_within(f'snapshot_id of {procedure}', snapshot_id, 0, _MAX_LONG)}L",
    )


def check_within(thing: str, value: int, low: int, high: int) -> int:
    """Return the value; InvalidValueError if it is out of these bounds."""
    if not low <= value <= high:
        raise InvalidValueError(f"{thing} is {value}; it must be from {low} to {high}")
    return value


def write_timestamp(instant: datetime, procedure: Procedure) -> str:
    """Write an instant as a literal in UTC; InvalidValueError without a time zone."""
    if instant.tzinfo is None:
        raise InvalidValueError(
            f"older_than of {procedure} is {instant.isoformat()} without a time zone; it must "
            f"have one"
        )
    local = instant.astimezone(UTC).replace(tzinfo=None)
    return f"TIMESTAMP '{local.isoformat(sep=' ', timespec='microseconds')} UTC'"
