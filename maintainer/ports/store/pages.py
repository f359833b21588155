"""Pages of lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list; next_cursor is opaque, and None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None
    total: int
    total_is_exact: bool = True  # False: total is a lower bound
