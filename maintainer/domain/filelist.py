"""The packed list of a manifest's files, to find the data files that deletes apply to.

About eleven bytes per file.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from maintainer.domain.errors import InvalidValueError

WHOLE_PARTITION = 0  # key of a delete file that applies to a whole partition
_COLUMNS = 5
_LEVEL = 6
_MASK = 0xFFFFFFFF


class ListedFile(NamedTuple):
    """One live entry. `partition` is its position among the digest's partitions."""

    partition: int
    # data file: the key of its path; delete file: the key of the one data file it applies to, or
    # WHOLE_PARTITION
    key: int
    size_bytes: int
    record_count: int
    sequence_number: int


def path_key(path: bytes) -> int:
    """A number from 1 to 2**32 - 1 for a path.

    Two paths of a partition share a number with a chance of one in four billion.
    """
    return (zlib.crc32(path) & _MASK) or 1


def pack_files(files: Iterable[ListedFile]) -> bytes:
    """Pack the files column by column, compressed; empty for no files."""
    columns = list(zip(*sorted(files), strict=True))
    if not columns:
        return b""
    return zlib.compress(b"".join(array("Q", column).tobytes() for column in columns), _LEVEL)


def unpack_files(packed: bytes) -> Iterator[ListedFile]:
    """The packed files; InvalidValueError for malformed input."""
    if not packed:
        return
    values = array("Q")
    try:
        values.frombytes(zlib.decompress(packed))
    except (zlib.error, ValueError) as error:
        message = f"{len(packed)} bytes are no list of files: {error}"
        raise InvalidValueError(message) from error
    rows, rest = divmod(len(values), _COLUMNS)
    if rest:
        message = f"a list of files has {len(values)} numbers, which is no multiple of {_COLUMNS}"
        raise InvalidValueError(message)
    columns = [values[start * rows : (start + 1) * rows] for start in range(_COLUMNS)]
    yield from map(ListedFile, *columns)
