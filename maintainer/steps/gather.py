"""Of one scan few tables are told of by name: a first start on a neglected lake, or a stricter policy, is one piece of news and not thousands."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.notice import Notice, NoticeKind
from maintainer.policy.notices import MOST_NAMED, notice_of_many
from maintainer.ports.notifier import Notifier


class GatheredNotices:
    """Passes on the first MOST_NAMED notices of critical tables, and everything else; the other tables wait for `tell_rest`."""

    def __init__(self, inner: Notifier, catalog: str) -> None:
        self._inner = inner
        self._catalog = catalog
        self._passed = 0
        self._rest: list[str] = []

    def notify(self, notice: Notice) -> None:
        """Pass it on, or keep it for the summary."""
        if notice.kind is not NoticeKind.TABLE_CRITICAL or self._passed < MOST_NAMED:
            self._passed += notice.kind is NoticeKind.TABLE_CRITICAL
            self._inner.notify(notice)
        else:
            self._rest.append(notice.subject)

    def tell_rest(self, now: datetime) -> None:
        """One notice for all that were kept; what comes after is the next scan's."""
        if self._rest:
            self._inner.notify(notice_of_many(self._catalog, self._rest, now))
        self._passed, self._rest = 0, []

    def close(self) -> None:
        """Whoever opened what lies within closes it."""
