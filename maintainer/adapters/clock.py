"""The clock; no other module calls now()."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The time now, UTC."""
        return datetime.now(UTC)
