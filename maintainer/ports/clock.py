"""The time, as a port: the only way anything but an adapter learns what time it is."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The time now, timezone-aware, UTC."""
        ...
