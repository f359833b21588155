"""What the store remembers of notices, so that all processes which use it tell people once
together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from maintainer.domain.notice import Notice, NoticeLimits, PostedNotice

MAX_TAKEN = 100  # notices at a time
MAX_AGE = timedelta(days=1)  # of a notice that nobody has got: older ones are no news


class NoticeStore(Protocol):
    """The part of the store that keeps notices from when they are posted until the limits have
    forgotten them.
    """

    def post_notice(
        self, notice: Notice, limits: NoticeLimits, held_until: datetime
    ) -> PostedNotice | None:
        """Keep a notice that the caller is to deliver by then; None where the same was posted a
        short while ago, or too many were, which is counted.
        """
        ...

    def hold_notices(self, numbers: Collection[int], until: datetime) -> None:
        """Whoever delivers these needs longer; a time that has come gives them to others."""
        ...

    def take_notices(self, now: datetime, until: datetime) -> Sequence[PostedNotice]:
        """Notices that nobody has got and whose time of delivery is over, oldest first, at most
        MAX_TAKEN: from now on the caller's to deliver.

        What is older than MAX_AGE goes.
        """
        ...

    def note_delivered(self, number: int, at: datetime) -> None:
        """Somebody has it: it is only remembered for the limits."""
        ...

    def give_up_notice(self, number: int) -> None:
        """It has reached nobody and never will: the same is posted when it comes again, and the
        next that passes counts it.
        """
        ...
