"""Reads the names of a catalog's tables and the locations of their current metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.io import FileIO
from sqlalchemy import select

from maintainer.adapters.catalog.manifests.metadata import MetadataError
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind

# Of one catalog. A catalog that invents names would otherwise be listed for ever.
MAX_NAMESPACES: Final = 100_000
MAX_TABLES: Final = 500_000

Namespace = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pointer:
    """The location of a table's current metadata, and the FileIO to read it."""

    location: str
    io: FileIO


@dataclass(frozen=True, slots=True)
class NamespaceError:
    """A namespace that cannot be listed."""

    namespace: Namespace
    error: Exception


def locate(
    catalog: Catalog, table: TableIdentifier, io_for: Callable[[Catalog, str], FileIO]
) -> Pointer:
    """Ask the catalog for the table's current metadata.

    MetadataError if the table does not exist or is not an Iceberg table; otherwise the catalog's
    exceptions.
    """
    if isinstance(catalog, SqlCatalog):
        location = _locate_by_sql(catalog, table)
        return Pointer(location, io_for(catalog, location))
    find = getattr(catalog, "find_pointer", None) or partial(_find_by_loading, catalog)
    try:
        location, io = find((*table.namespace, table.name))
    except NoSuchTableError as error:
        if _is_view(catalog, table):
            raise MetadataError(FaultKind.VIEW, "the catalog lists it as a view") from error
        raise
    return Pointer(location, io)


def _find_by_loading(catalog: Catalog, identifier: tuple[str, ...]) -> tuple[str, FileIO]:
    loaded = catalog.load_table(identifier)
    return loaded.metadata_location, loaded.io


def list_tables(catalog: Catalog) -> Iterator[tuple[Namespace, str] | NamespaceError]:
    """List every table of every namespace, without views."""
    if isinstance(catalog, SqlCatalog):
        for found in list_locations(catalog):
            yield found if isinstance(found, NamespaceError) else found[:2]
    else:
        yield from _list_by_walking(catalog)


def count_top_namespaces(catalog: Catalog) -> int:
    """Count the namespaces at the top level, which is cheap and tests whether the catalog works."""
    return len(catalog.list_namespaces())


def _has_types(catalog: SqlCatalog) -> bool:
    # V0 databases have no column iceberg_type, and no views.
    return getattr(catalog, "_schema_version", "v0") == "v1"


def _locate_by_sql(catalog: SqlCatalog, table: TableIdentifier) -> str:
    columns = (
        [IcebergTables.metadata_location, IcebergTables.iceberg_type]
        if _has_types(catalog)
        else [IcebergTables.metadata_location]
    )
    query = select(*columns).where(
        IcebergTables.catalog_name == catalog.name,
        IcebergTables.table_namespace == Catalog.namespace_to_string(table.namespace),
        IcebergTables.table_name == table.name,
    )
    with catalog.engine.connect() as connection:
        row = connection.execute(query).first()
    if row is None:
        raise MetadataError(FaultKind.DROPPED, "the catalog no longer has it")
    kind = row[1] if len(row) > 1 else None
    if kind == "VIEW":
        raise MetadataError(FaultKind.VIEW, "the catalog lists it as a view")
    if kind not in {None, "TABLE"}:
        raise MetadataError(
            FaultKind.UNSUPPORTED,
            f"the catalog lists it as {kind!r}, which is neither a table nor a view",
        )
    if not row[0]:
        raise MetadataError(
            FaultKind.METADATA_MISSING, "the catalog has no metadata location for it"
        )
    return str(row[0])


def list_locations(catalog: SqlCatalog) -> Iterator[tuple[Namespace, str, str] | NamespaceError]:
    """List every table and its metadata location ("" if none) with one query, without views."""
    columns = (
        IcebergTables.table_namespace,
        IcebergTables.table_name,
        IcebergTables.metadata_location,
    )
    query = select(*columns).where(IcebergTables.catalog_name == catalog.name)
    if _has_types(catalog):
        query = query.where(
            (IcebergTables.iceberg_type == "TABLE") | IcebergTables.iceberg_type.is_(None)
        )
    try:
        with catalog.engine.connect() as connection:
            rows = connection.execute(
                query.order_by(IcebergTables.table_namespace, IcebergTables.table_name)
            ).all()
    except Exception as error:  # noqa: BLE001 - any error of a driver; the caller reports it
        yield NamespaceError((), error)
        return
    for namespace, name, location in rows:
        yield Catalog.identifier_to_tuple(namespace), name, location or ""


def _list_by_walking(catalog: Catalog) -> Iterator[tuple[Namespace, str] | NamespaceError]:
    visited: set[Namespace] = set()
    pending: list[Namespace] = [()]
    left = MAX_TABLES
    while pending:
        namespace = pending.pop()
        if namespace in visited:
            continue
        visited.add(namespace)
        if len(visited) > MAX_NAMESPACES:
            yield _refuse_endless(f"{MAX_NAMESPACES:,} namespaces")
            return
        try:
            children = [tuple(child) for child in catalog.list_namespaces(namespace)]
            tables = (
                [
                    (tuple(identifier[:-1]), identifier[-1])
                    for identifier in catalog.list_tables(namespace)
                ]
                if namespace
                else []
            )
        # If one namespace cannot be listed, the others must still be listed.
        except Exception as error:  # noqa: BLE001
            if namespace and isinstance(error, NoSuchNamespaceError):
                continue  # dropped during the listing
            yield NamespaceError(namespace, error)
            continue
        pending += sorted(children, reverse=True)
        left -= len(tables)
        if left < 0:
            yield _refuse_endless(f"{MAX_TABLES:,} tables")
            return
        yield from sorted(tables)


def _refuse_endless(what: str) -> NamespaceError:
    reason = f"it lists more than {what}; the others are left out"
    return NamespaceError((), CatalogUnavailableError(reason))


def _is_view(catalog: Catalog, table: TableIdentifier) -> bool:
    # A catalog without views raises NotImplementedError or another exception.
    with suppress(Exception):
        return catalog.view_exists((*table.namespace, table.name))
    return False
