"""Delete files of a predicted table, for the chapters that change them."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.health import TableHealth


def count_deletes(health: TableHealth) -> TableHealth:
    """The table with the ratio of its delete files; unknown if a kind of them is."""
    kinds = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    known = [count for count in kinds if count is not None]
    is_known = bool(health.data_files) and len(known) == len(kinds)
    ratio = sum(known) / (health.data_files or 1) if is_known else None
    return replace(health, delete_file_ratio=ratio)
