"""A notifier that remembers."""

from __future__ import annotations

from maintainer.domain.notice import Notice, NoticeKind


class FakeNotifier:
    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.is_closed = False

    @property
    def news(self) -> list[Notice]:
        """All but what a first look at neglected tables brings."""
        return [notice for notice in self.notices if notice.kind is not NoticeKind.TABLE_CRITICAL]

    def notify(self, notice: Notice) -> None:
        self.notices.append(notice)

    def close(self) -> None:
        self.is_closed = True
