"""A clock that a test moves."""

from __future__ import annotations

from datetime import datetime, timedelta


class FakeClock:
    def __init__(self, now: datetime) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time

    def advance(self, span: timedelta) -> None:
        self.time += span
