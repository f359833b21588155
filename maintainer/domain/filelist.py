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
_WIDTHS = "BHIQ"  # of a column's numbers, as arrays name them: 1, 2, 4 and 8 bytes
_LEVEL = 1  # a higher one saves next to nothing
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
    """Pack the files column by column, compressed; empty for no files.

    The first bytes name the width of each column, which is the least that holds its numbers.
    """
    columns = list(zip(*sorted(files), strict=True))
    if not columns:
        return b""
    arrays = [array(_width_of(max(column)), column) for column in columns]
    header = "".join(column.typecode for column in arrays).encode()
    return zlib.compress(b"".join((header, *(column.tobytes() for column in arrays))), _LEVEL)


def _width_of(largest: int) -> str:
    fitting = (width for width in _WIDTHS if largest >> (8 * array(width).itemsize) == 0)
    return next(fitting, _WIDTHS[-1])


def unpack_files(packed: bytes) -> Iterator[ListedFile]:
    """The packed files; InvalidValueError for malformed input."""
    if not packed:
        return
    try:
        plain = zlib.decompress(packed)
        columns = [array(width) for width in plain[:_COLUMNS].decode("ascii")]
        rows, rest = divmod(len(plain) - _COLUMNS, sum(column.itemsize for column in columns))
    except (zlib.error, ValueError, ZeroDivisionError) as error:
        message = f"{len(packed)} bytes are no list of files: {error}"
        raise InvalidValueError(message) from error
    if rest or len(columns) != _COLUMNS:
        message = f"{len(packed)} bytes are no list of files: {rest} of {len(plain)} are left over"
        raise InvalidValueError(message)
    start = _COLUMNS
    for column in columns:
        end = start + rows * column.itemsize
        column.frombytes(plain[start:end])
        start = end
    yield from map(ListedFile, *columns)
