"""Query timings: how long users' own queries took, and the table's figures at that time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from maintainer.domain.errors import InvalidValueError

MAX_NAME_CHARACTERS = 200
MAX_SECONDS = 30 * 86_400.0
MAX_COST = 1e12


@dataclass(frozen=True, slots=True)
class QueryTiming:
    """One run of a named query.

    The table's figures come from its history at that time; None where there is none.
    """

    name: str
    seconds: float
    at: datetime
    data_files: int | None = None
    average_file_size_bytes: float | None = None
    cost: float | None = None  # in the user's currency

    def __post_init__(self) -> None:
        """InvalidValueError for values out of bounds."""
        if not self.name.strip() or len(self.name) > MAX_NAME_CHARACTERS:
            message = (
                f"a query's name has 1 to {MAX_NAME_CHARACTERS} characters, not "
                f"{len(self.name.strip())}"
            )
            raise InvalidValueError(message)
        if not (isfinite(self.seconds) and 0 < self.seconds <= MAX_SECONDS):
            message = (
                f"{self.seconds:g} s is no query time: more than 0 and at most {MAX_SECONDS:g} s"
            )
            raise InvalidValueError(message)
        if self.cost is not None and not (isfinite(self.cost) and 0 <= self.cost <= MAX_COST):
            message = f"{self.cost:g} is no cost: at least 0 and at most {MAX_COST:g}"
            raise InvalidValueError(message)
