"""The packed list of a manifest's files, to find the data files that deletes apply to.

About eleven bytes per file.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from maintainer.domain.errors import InvalidValueError

WHOLE_PARTITION = 0  # key of a delete file that applies to a whole partition
_COLUMNS = 5
_WIDTHS = "BHIQ"  # the type codes of arrays for numbers with 1, 2, 4 and 8 bytes
_LEVEL = 1  # a higher level saves almost nothing


class ListedFile(NamedTuple):
    """One live entry. `partition` is its position among the digest's partitions."""

    partition: int
    # of a data file: the key of its path; of a delete file: the key of its data file, or
    # WHOLE_PARTITION
    key: int
    size_bytes: int
    record_count: int
    sequence_number: int


class FileColumns(NamedTuple):
    """Live entries, as one column for each field of ListedFile; all columns are equally long."""

    partitions: array[int]
    keys: array[int]
    sizes_bytes: array[int]
    record_counts: array[int]
    sequence_numbers: array[int]

    def by_partition(self) -> Iterator[tuple[int, FileColumns]]:
        """Split the entries of unpack_columns: each partition's position, and its entries."""
        start = 0
        while start < len(self.partitions):
            position = self.partitions[start]
            end = bisect_right(self.partitions, position, start)
            yield position, FileColumns(*(column[start:end] for column in self))
            start = end


def path_key(path: bytes) -> int:
    """A number from 1 to 2**32 - 1 for a path.

    Two paths of a partition share a number with a chance of one in four billion.
    """
    return zlib.crc32(path) or 1


def pack_files(files: Iterable[tuple[int, int, int, int, int]]) -> bytes:
    """Pack the files (fields as of ListedFile) column by column, compressed; empty for no files.

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
    """The packed files, in order; InvalidValueError for malformed input."""
    return map(ListedFile, *unpack_columns(packed))


def unpack_columns(packed: bytes) -> FileColumns:
    """The packed files by column, in order of all fields; InvalidValueError for malformed input."""
    if not packed:
        return FileColumns(*(array(_WIDTHS[0]) for _ in range(_COLUMNS)))
    try:
        plain = zlib.decompress(packed)
        columns = [array(width) for width in plain[:_COLUMNS].decode("ascii")]
        rows, rest = divmod(len(plain) - _COLUMNS, sum(column.itemsize for column in columns))
    except (zlib.error, ValueError, ZeroDivisionError) as error:
        raise InvalidValueError(f"{len(packed)} bytes are no list of files: {error}") from error
    if rest or len(columns) != _COLUMNS:
        raise InvalidValueError(
            f"{len(packed)} bytes are no list of files: {rest} of {len(plain)} are left over"
        )
    start = _COLUMNS
    for column in columns:
        end = start + rows * column.itemsize
        column.frombytes(plain[start:end])
        start = end
    return FileColumns(*columns)
