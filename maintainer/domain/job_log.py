"""A job's share of its driver's log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobLog:
    """A piece of the share; positions are characters since its start.

    Only the end of a long log is kept: then `start` is greater than the position asked for.
    """

    text: str  # whole lines
    start: int
    is_complete: bool = False  # True: this is the end of the log
    source: int = 0  # the position after this part in the driver's log, as the launcher counts

    @property
    def next(self) -> int:
        """The position after the text."""
        return self.start + len(self.text)
