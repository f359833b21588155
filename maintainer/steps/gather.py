"""Limit how many tables one scan names in notifications.

The first scan of a neglected lake, or a stricter policy, becomes one summary instead of thousands
of notices.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from maintainer.decide.notices import MOST_NAMED, notice_of_many
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.ports.notifier import Notifier

_GATHERED = frozenset({NoticeKind.TABLE_CRITICAL, NoticeKind.TABLE_UNREADABLE})


class GatheredNotices:
    """A notifier that names at most MOST_NAMED critical and MOST_NAMED unreadable tables.

    All other tables of these two kinds wait for the summary of `tell_rest`. Notices of other
    kinds pass.
    """

    def __init__(self, inner: Notifier, catalog: str) -> None:
        self._inner = inner
        self._catalog = catalog
        self._passed: Counter[NoticeKind] = Counter()
        self._rest: dict[NoticeKind, list[str]] = {}

    def notify(self, notice: Notice) -> None:
        """Send the notice, or keep it for the summary."""
        if notice.kind not in _GATHERED or self._passed[notice.kind] < MOST_NAMED:
            self._passed[notice.kind] += 1
            self._inner.notify(notice)
        else:
            self._rest.setdefault(notice.kind, []).append(notice.subject)

    def tell_rest(self, now: datetime) -> None:
        """Send one summary for each kind of the kept notices, and start over for the next scan."""
        for kind, subjects in self._rest.items():
            self._inner.notify(notice_of_many(kind, self._catalog, subjects, now))
        self._passed, self._rest = Counter(), {}

    def close(self) -> None:
        """Does nothing: the owner of the inner notifier closes it."""
