"""Pins: requests to keep a snapshot and all newer ones from expiry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from re import compile as compile_regex

from maintainer.domain.errors import InvalidValueError

MAX_SNAPSHOT_ID = 2**63 - 1
_NAME = compile_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Pin:
    """A request to keep a snapshot and all newer ones.

    It ends when it is removed or its time is over.
    """

    name: str
    snapshot_id: int
    by: str
    made_at: datetime
    until: datetime | None = None  # None: until it is removed

    def __post_init__(self) -> None:
        """InvalidValueError for an impossible name or snapshot."""
        if _NAME.fullmatch(self.name) is None:
            raise InvalidValueError(
                f"pin {self.name!r} is no name; use 1 to 100 letters, digits, dots, dashes and "
                f"underscores"
            )
        if not 0 <= self.snapshot_id <= MAX_SNAPSHOT_ID:
            raise InvalidValueError(
                f"pin {self.name}: snapshot {self.snapshot_id} is no snapshot id; it must be "
                f"from 0 to {MAX_SNAPSHOT_ID}"
            )

    def holds_at(self, now: datetime) -> bool:
        """True while the pin is in force."""
        return self.until is None or now < self.until
