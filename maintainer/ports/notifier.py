"""Telling people what they would want to know at once."""

from __future__ import annotations

from typing import Protocol

from maintainer.domain.notice import Notice


class Notifier(Protocol):
    """Takes notices and delivers them in its own time; never fails, never waits."""

    def notify(self, notice: Notice) -> None:
        """Deliver, unless the same was told a short while ago or too many were."""
        ...

    def close(self) -> None:
        """Deliver what waits, for a bounded time, and end."""
        ...


class NoNotifier:
    """For those who asked for no notices."""

    def notify(self, notice: Notice) -> None:
        """Keep silent."""

    def close(self) -> None:
        """Nothing waits."""
