"""Selects tables by the names and globs of the command line.

A glob is compared with the catalogs' listings; an exact name is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from maintainer.cli.output.console import say
from maintainer.domain.errors import CatalogUnavailableError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.units import format_count
from maintainer.ports import Ports
from maintainer.steps.scan import ScannedTable
from maintainer.steps.table import Measured, measure_table

MAX_NEAR_NAMES = 3


@dataclass(slots=True)
class Choice:
    """The selected tables; `is_whole` is false if a catalog or namespace could not be listed."""

    tables: list[TableIdentifier] = field(default_factory=list)
    is_whole: bool = True


def choose_tables(ports: Ports, names: Sequence[str]) -> Choice:
    """Select the tables with these names or globs; without names, all tables.

    UnknownTableError if a glob matches no table.
    """
    patterns = [TablePattern(name) for name in names]
    chosen: dict[TableIdentifier, None] = {}
    listed: Choice | None = None
    for pattern in patterns:
        if pattern.is_exact:
            table = TableIdentifier.parse(pattern.text)
            ports.catalog_of(table)
            chosen[table] = None
            continue
        listed = list_tables(ports) if listed is None else listed
        found = [table for table in listed.tables if pattern.matches(table)]
        if not found:
            verb = "is" if len(listed.tables) == 1 else "are"
            raise UnknownTableError(
                f"no table matches {pattern.text!r}; there {verb} "
                f"{format_count(len(listed.tables), 'table')}"
            )
        chosen.update(dict.fromkeys(found))
    return (
        Choice(list(chosen), listed is None or listed.is_whole) if patterns else list_tables(ports)
    )


def list_tables(ports: Ports) -> Choice:
    """List all tables of all catalogs; print a warning for each part that cannot be listed."""
    choice = Choice()
    for name in ports.catalogs:
        for listed in _list_catalog(ports, name):
            if isinstance(listed, TableIdentifier):
                choice.tables.append(listed)
            else:
                say(f"warning: {listed}")
                choice.is_whole = False
    return choice


def _list_catalog(ports: Ports, name: str) -> Iterator[TableIdentifier | str]:
    """Yield tables, and a sentence for each part that could not be listed."""
    try:
        for listed in ports.catalogs[name].tables():
            if isinstance(listed, CatalogFault):
                yield (
                    f"{'.'.join((listed.catalog, *listed.namespace))} could not be listed: "
                    f"{listed.reason}"
                )
            else:
                yield listed
    except CatalogUnavailableError as error:
        yield f"{name} could not be listed: {error}"


def find_known(ports: Ports, tables: Sequence[TableIdentifier]) -> frozenset[TableIdentifier]:
    """Return those of the tables that an earlier scan found.

    Call this function before measuring, because measuring forgets dropped tables.
    """
    return frozenset(table for table in tables if ports.store.table(table) is not None)


def refuse_unknown(
    ports: Ports,
    names: Sequence[str],
    scanned: Sequence[ScannedTable],
    known: frozenset[TableIdentifier],
) -> None:
    """Raise UnknownTableError if a table with an exact name does not exist."""
    for one in scanned:
        if (
            isinstance(one, TableFault)
            and one.kind is FaultKind.DROPPED
            and str(one.table) in names
        ):
            raise UnknownTableError(_describe_missing(ports, one.table, known))


def measure_named(ports: Ports, table: TableIdentifier) -> Measured:
    """Measure a named table; UnknownTableError if it does not exist or cannot be read."""
    ports.catalog_of(table)
    known = find_known(ports, [table])
    scanned = measure_table(ports, table)
    if isinstance(scanned, Measured):
        return scanned
    refuse_unknown(ports, [str(table)], [scanned], known)
    raise UnknownTableError(f"table {table} cannot be measured ({scanned.kind}): {scanned.reason}")


def _describe_missing(
    ports: Ports, table: TableIdentifier, known: frozenset[TableIdentifier]
) -> str:
    """Say that the table was dropped, if it was known; otherwise suggest similar names."""
    if table in known:
        return f"table {table} no longer exists: its catalog had it at the last scan"
    stored = [name for name in ports.store.table_names() if name.catalog == table.catalog]
    return describe_unknown(
        table,
        stored
        or [
            listed
            for listed in _list_catalog(ports, table.catalog)
            if isinstance(listed, TableIdentifier)
        ],
    )


def describe_unknown(table: TableIdentifier, known: Sequence[TableIdentifier]) -> str:
    """Say that the table does not exist, and suggest similar names."""
    return f"table {table} does not exist{suggest_names(str(table), map(str, known))}"


def suggest_names(text: str, known: Iterable[str]) -> str:
    """The end of a sentence with similar names; empty if there are none."""
    near = get_close_matches(text, list(known), n=MAX_NEAR_NAMES)
    return f"; did you mean {' or '.join(near)}?" if near else ""
