"""The locations of tables of other formats in a catalog.

The listings of Hive and Glue contain these locations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Protocol, runtime_checkable

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError

from maintainer.adapters.catalog.tables.pointer import NamespaceError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import Aliases, TableLocation, ancestors_of, overlap
from maintainer.ports.clock import Clock

TABLE_TYPE = "table_type"
ICEBERG = "iceberg"


_NO_ALIASES = Aliases()


@runtime_checkable
class KnowsForeign(Protocol):
    """A catalog that may contain tables of other formats."""

    def foreign_locations(self, database: str) -> Iterator[tuple[str, str]]:
        """Yield the names and locations of a database's tables of other formats.

        A table may have several locations. Raises the catalog's exceptions.
        """


class ForeignLocations:
    """The latest listing of a catalog, which is used again until it is too old for the caller."""

    def __init__(self, name: str, clock: Clock, aliases: Aliases = _NO_ALIASES) -> None:
        """``name`` is the catalog's name in the configuration."""
        self._aliases = aliases
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._listed_at: datetime | None = None
        self._names: dict[str, list[str]] = {}  # by path

    def near(
        self, catalog: Catalog, paths: Sequence[str], within: timedelta
    ) -> Iterator[TableLocation | NamespaceError]:
        """List locations, as Catalog.foreign_locations says."""
        if not isinstance(catalog, KnowsForeign):
            return
        with self._lock:
            if self._listed_at is None or abs(self._clock.now() - self._listed_at) > within:
                yield from self._list(catalog, catalog)
            seen_at, names = self._listed_at or self._clock.now(), self._names
        around = {wider for path in paths for wider in ancestors_of(path)}
        for path in sorted(names):
            if path in around or any(overlap(path, own) for own in paths):
                for name in names[path]:
                    yield TableLocation(path, name, "", seen_at=seen_at)

    def _list(self, catalog: Catalog, foreign: KnowsForeign) -> Iterator[NamespaceError]:
        """List all databases; yield errors. After an error the next call lists again."""
        started, is_whole = self._clock.now(), True
        self._names, self._listed_at = {}, None  # the caller may stop in the middle
        try:
            databases = [namespace[0] for namespace in catalog.list_namespaces()]
        # After any exception the contents are unknown.
        except Exception as error:  # noqa: BLE001
            databases, is_whole = [], False
            yield NamespaceError((), error)
        for database in databases:
            try:
                for table, location in foreign.foreign_locations(database):
                    for path in self._aliases.paths_of(location, {}):
                        self._names.setdefault(path, []).append(
                            str(TableIdentifier(self._name, (database,), table))
                        )
            except NoSuchNamespaceError:
                continue  # dropped during the listing
            except Exception as error:  # noqa: BLE001 - as above
                is_whole = False
                yield NamespaceError((database,), error)
        self._listed_at = started if is_whole else None


def is_iceberg(parameters: Mapping[str, str] | None) -> bool:
    """Return whether a table of Hive or Glue is an Iceberg table, with the test of Iceberg."""
    return (parameters or {}).get(TABLE_TYPE, "").lower() == ICEBERG
