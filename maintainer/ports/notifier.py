"""Notifying people about what they should know at once."""

from __future__ import annotations

from typing import Protocol

from maintainer.domain.notice import Notice


class Notifier(Protocol):
    """Accepts notices and delivers them later; it never fails and never blocks."""

    def notify(self, notice: Notice) -> None:
        """Deliver the notice, unless the limits on repeated or numerous notices forbid it."""

    def close(self) -> None:
        """Deliver the waiting notices, for a bounded time, and end."""


class NoNotifier:
    """A notifier for configurations without notifications."""

    def notify(self, notice: Notice) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
