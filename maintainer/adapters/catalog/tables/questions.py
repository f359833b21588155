"""The questions of conditional requests to a REST catalog, and the catalog's answers."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.domain.identifier import TableIdentifier


@dataclass(frozen=True, slots=True)
class Question:
    """A table with its known ETag and metadata location; "" if unknown."""

    table: TableIdentifier
    etag: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The table's state, which is that of the question if the table is unchanged.

    Both fields are empty if the state can only be found by loading the table.
    """

    etag: str
    location: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The reason why the server gave no state."""

    reason: str
