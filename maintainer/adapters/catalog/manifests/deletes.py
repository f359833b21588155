"""Finds the data file to which a delete file applies."""

from __future__ import annotations

from typing import Any, Final

from maintainer.domain.filelist import WHOLE_PARTITION, path_key

PATH_COLUMN: Final = 2147483546  # Iceberg's field id of file_path in position delete files


def delete_key(
    is_equality: bool, referenced: str | None, lower: bytes | None, upper: bytes | None
) -> int:
    """Return the key of the data file to which a delete file applies, by Iceberg's rule.

    The delete file names the data file, or the bounds of its paths are equal.
    """
    if is_equality:
        return WHOLE_PARTITION
    if referenced is not None:
        return path_key(referenced.encode())
    return path_key(lower) if lower is not None and lower == upper else WHOLE_PARTITION


def bound_of_path(bounds: Any) -> bytes | None:  # noqa: ANN401 - any value that a manifest stores
    """Return the bound of the paths in a position delete file, from its bounds by field id."""
    if not isinstance(bounds, list):
        return None
    found = [
        value for key, value in (tuple(pair.values()) for pair in bounds) if key == PATH_COLUMN
    ]
    return found[-1] if found else None
