"""A Glue catalog that also lists tables of other formats. This module imports AWS's library."""

from __future__ import annotations

from collections.abc import Iterator

from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.exceptions import NoSuchNamespaceError

from maintainer.adapters.catalog.tables.foreign_tables import is_iceberg


class LocatingGlueCatalog(GlueCatalog):
    """Adds the locations of the tables that PyIceberg does not list."""

    def foreign_locations(self, database: str) -> Iterator[tuple[str, str]]:
        """List locations, as KnowsForeign says."""
        try:
            for page in self.glue.get_paginator("get_tables").paginate(DatabaseName=database):
                for table in page["TableList"]:
                    location = table.get("StorageDescriptor", {}).get("Location", "").strip()
                    if location and not is_iceberg(table.get("Parameters")):
                        yield table["Name"], location
        except self.glue.exceptions.EntityNotFoundException as error:
            raise NoSuchNamespaceError(f"database {database} does not exist") from error
