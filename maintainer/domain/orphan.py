"""What a look for orphans has found, before it is judged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundOrphans:
    """Iceberg's dry run: the paths that it does not find in the table's metadata."""

    paths: tuple[str, ...]
    counted: int  # how many it reported; another number than that of the paths: the list was cut short
    foreign_files: int | None  # files of the table that lie outside its location; None: not known
