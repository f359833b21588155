"""Reads locations that have another name for Spark."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping

from pydantic import ValidationError
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import ValidationError as WrappedError
from pyiceberg.io import FileIO, InputFile, OutputFile, load_file_io
from pyiceberg.serializers import Compressor
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.metadata import TableMetadataUtil

from maintainer.adapters.catalog.limits import local_path
from maintainer.adapters.catalog.tables.pointer import Pointer, locate
from maintainer.adapters.catalog.tables.unknown_types import (
    names_unknown_type,
    with_known_types,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import PLACE_PROPERTIES, Aliases, normalise_path


def every_path(aliases: Aliases, location: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return a table's directories under all their names, with aliases and targets of symlinks."""
    written = (location, *(properties.get(name, "") for name in PLACE_PROPERTIES))
    local = (local_path(aliases.resolve(text)) for text in written if text.strip())
    real = (normalise_path(os.path.realpath(path)) for path in local if path is not None)
    return tuple(dict.fromkeys((*aliases.paths_of(location, properties), *real)))


def load_table(
    catalog: Catalog,
    table: TableIdentifier,
    io_for: Callable[[Catalog, str], FileIO],
    aliases: Aliases,
) -> Table:
    """Load a table; if it has aliases, from its metadata file, as PyIceberg knows only one name."""
    if not aliases.pairs:
        try:
            return catalog.load_table((*table.namespace, table.name))
        except (ValidationError, WrappedError) as error:
            if not names_unknown_type(error):
                raise
        return _read_unknown_types(locate(catalog, table, io_for))
    pointer = locate(catalog, table, io_for)
    properties = dict(pointer.io.properties)
    loaded = StaticTable.from_metadata(aliases.resolve(pointer.location), properties)
    loaded.io = AliasedFileIO(properties, pointer.location, aliases)
    return loaded


def _read_unknown_types(pointer: Pointer) -> StaticTable:
    compression = Compressor.get_compressor(location=pointer.location)
    with (
        pointer.io.new_input(pointer.location).open() as stream,
        compression.stream_decompressor(stream) as plain,
    ):
        document = with_known_types(json.loads(plain.read()))
    metadata = TableMetadataUtil.parse_obj(document)
    return StaticTable(
        (pointer.location,), metadata, pointer.location, pointer.io, NoopCatalog("unknown types")
    )


class AliasedFileIO(FileIO):
    """PyIceberg's FileIO for locations with other names; it never writes."""

    def __init__(self, properties: dict[str, str], location: str, aliases: Aliases) -> None:
        """``location`` is Spark's name for it; the FileIO is made for its other name."""
        super().__init__(properties)
        self._aliases = aliases
        self._inner = load_file_io(properties, aliases.resolve(location))

    def new_input(self, location: str) -> InputFile:
        return self._inner.new_input(self._aliases.resolve(location))

    def new_output(self, location: str) -> OutputFile:
        raise PermissionError(f"{location} is only read by this process")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        raise PermissionError(f"{location} is only read by this process")
