"""A notifier that remembers."""

from __future__ import annotations

from maintainer.domain.notice import Notice


class FakeNotifier:
    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.is_closed = False

    def notify(self, notice: Notice) -> None:
        self.notices.append(notice)

    def close(self) -> None:
        self.is_closed = True
