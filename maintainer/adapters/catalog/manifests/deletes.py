"""To which data file a delete file belongs."""

from __future__ import annotations

from typing import Any, Final

from maintainer.domain.filelist import WHOLE_PARTITION, path_key

PATH_COLUMN: Final = 2147483546  # Iceberg's id of file_path in position deletes


def delete_key(
    is_equality: bool, referenced: str | None, lower: bytes | None, upper: bytes | None
) -> int:
    """As Iceberg does: bound to a data file by name, or because the first path that it holds is
    also the last.
    """
    if is_equality:
        return WHOLE_PARTITION
    if referenced is not None:
        return path_key(referenced.encode())
    return path_key(lower) if lower is not None and lower == upper else WHOLE_PARTITION


def bound_of_path(bounds: Any) -> bytes | None:  # noqa: ANN401 - whatever the manifest stores
    """The bound of the paths in a position delete file, from the file's bounds by column id."""
    if not isinstance(bounds, list):
        return None
    found = [
        value for key, value in (tuple(pair.values()) for pair in bounds) if key == PATH_COLUMN
    ]
    return found[-1] if found else None
