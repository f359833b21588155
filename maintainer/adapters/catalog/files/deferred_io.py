"""PyIceberg's FileIO, which is imported at its first use.

Most files are read with obstore or with Python alone. The import of PyArrow takes half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pyiceberg.io import PY_IO_IMPL, FileIO, InputFile, OutputFile, load_file_io

from maintainer.domain.location import HDFS_SCHEMES


def open_io(properties: Mapping[str, str], location: str) -> FileIO:
    """Return the FileIO for a location; a FileIO of the user, or of HDFS, is opened at once."""
    is_given = PY_IO_IMPL in properties or location.lower().startswith(HDFS_SCHEMES)
    own = dict(properties)
    return load_file_io(own, location) if is_given else DeferredFileIO(own, location)


class DeferredFileIO(FileIO):
    """Has the properties at once, and opens the FileIO with the first file."""

    def __init__(self, properties: dict[str, str], location: str) -> None:
        super().__init__(properties)
        self._location = location

    @cached_property
    def _opened(self) -> FileIO:
        return load_file_io(self.properties, self._location)

    def new_input(self, location: str) -> InputFile:
        return self._opened.new_input(location)

    def new_output(self, location: str) -> OutputFile:
        return self._opened.new_output(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        self._opened.delete(location)
