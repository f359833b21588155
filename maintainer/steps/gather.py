"""Of one scan few tables are told of by name: a first start on a neglected lake, or a stricter
policy, is one piece of news and not thousands.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from maintainer.decide.notices import MOST_NAMED, notice_of_many
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.ports.notifier import Notifier

_GATHERED = frozenset({NoticeKind.TABLE_CRITICAL, NoticeKind.TABLE_UNREADABLE})


class GatheredNotices:
    """Passes on the first MOST_NAMED notices of critical tables, as many of unreadable ones, and
    everything else; the other tables wait for `tell_rest`.
    """

    def __init__(self, inner: Notifier, catalog: str) -> None:
        self._inner = inner
        self._catalog = catalog
        self._passed: Counter[NoticeKind] = Counter()
        self._rest: dict[NoticeKind, list[str]] = {}

    def notify(self, notice: Notice) -> None:
        """Pass it on, or keep it for the summary."""
        if notice.kind not in _GATHERED or self._passed[notice.kind] < MOST_NAMED:
            self._passed[notice.kind] += 1
            self._inner.notify(notice)
        else:
            self._rest.setdefault(notice.kind, []).append(notice.subject)

    def tell_rest(self, now: datetime) -> None:
        """One notice of each kind for all that were kept; what comes after is the next scan's."""
        for kind, subjects in self._rest.items():
            self._inner.notify(notice_of_many(kind, self._catalog, subjects, now))
        self._passed, self._rest = Counter(), {}

    def close(self) -> None:
        """Whoever opened what lies within closes it."""
