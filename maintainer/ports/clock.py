"""The clock as a port: only adapters read the system's time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """A source of the present time."""

    def now(self) -> datetime:
        """The present time, timezone-aware, in UTC."""
