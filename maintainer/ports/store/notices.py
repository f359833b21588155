"""The store's notices, so that processes together send each notice once, and its audit log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from maintainer.domain.audit import AuditEntry, AuditQuery
from maintainer.domain.notice import Notice, NoticeLimits, PostedNotice
from maintainer.ports.store.pages import Page

MAX_TAKEN = 100  # notices at a time
MAX_AGE = timedelta(days=1)  # of an undelivered notice; older notices are dropped


class NoticeStore(Protocol):
    """The part of the store that keeps each notice as long as the limits need it."""

    def post_notice(
        self, notice: Notice, limits: NoticeLimits, held_until: datetime
    ) -> PostedNotice | None:
        """Store a notice that the caller delivers before `held_until`.

        None if the same notice was posted recently, or if too many notices were posted; this is
        counted.
        """

    def hold_notices(self, numbers: Collection[int], until: datetime) -> None:
        """Extend the time for delivering these notices; after it, another process takes them."""

    def take_notices(self, now: datetime, until: datetime) -> Sequence[PostedNotice]:
        """Take over undelivered notices whose time is over, oldest first, at most MAX_TAKEN.

        The caller delivers them from now on. Notices older than MAX_AGE are deleted.
        """

    def note_delivered(self, number: int, at: datetime) -> None:
        """Record that the notice was delivered; it is then kept only for the limits."""

    def give_up_notice(self, number: int) -> None:
        """Record that the notice cannot be delivered.

        The same notice may be posted again, and the next posted notice counts it.
        """


class AuditStore(Protocol):
    """The part of the store that concerns the audit log."""

    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        """Add entries to the audit log.

        Entries about jobs are not passed here: the store writes them with each change of a
        job (domain.audit).
        """

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """A page of the audit log, newest first; entries are never deleted."""
