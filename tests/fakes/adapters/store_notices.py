"""What the store in memory knows of notices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from maintainer.domain.notice import Notice, NoticeLimits, PostedNotice
from maintainer.domain.units import is_ahead
from maintainer.ports.store.notices import MAX_AGE, MAX_TAKEN

HOUR = timedelta(hours=1)


@dataclass
class FakeNotices:
    """Implements NoticeStore for the store that mixes it in."""

    _posted: dict[int, PostedNotice] = field(default_factory=dict, kw_only=True)
    _held_until: dict[int, datetime] = field(default_factory=dict, kw_only=True)
    _delivered: set[int] = field(default_factory=set, kw_only=True)
    _held_back: int = field(default=0, kw_only=True)
    _numbers: int = field(default=0, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def post_notice(
        self, notice: Notice, limits: NoticeLimits, held_until: datetime
    ) -> PostedNotice | None:
        with self._open():
            known = [
                posted.notice
                for posted in self._posted.values()
                if not is_ahead(posted.notice.at, notice.at)
            ]
            if any(
                (old.kind, old.subject) == (notice.kind, notice.subject)
                and old.at > notice.at - limits.repeat_after
                for old in known
            ):
                return None
            if sum(old.at > notice.at - HOUR for old in known) >= limits.max_per_hour:
                self._held_back += 1
                return None
            self._numbers += 1
            posted = self._posted[self._numbers] = PostedNotice(
                self._numbers, notice, self._held_back
            )
            self._held_until[posted.number] = held_until
            self._held_back = 0
            return posted

    def hold_notices(self, numbers: Collection[int], until: datetime) -> None:
        with self._open():
            self._held_until |= dict.fromkeys(numbers, until)

    def take_notices(self, now: datetime, until: datetime) -> Sequence[PostedNotice]:
        with self._open():
            left = [
                posted
                for number, posted in sorted(self._posted.items())
                if number not in self._delivered and self._held_until[number] <= now
            ]
            for posted in left:
                if posted.notice.at <= now - MAX_AGE:
                    del self._posted[posted.number]
            taken = [posted for posted in left if posted.number in self._posted][:MAX_TAKEN]
            self._held_until |= {posted.number: until for posted in taken}
            return tuple(taken)

    def note_delivered(self, number: int, at: datetime) -> None:
        del at
        with self._open():
            self._delivered.add(number)

    def give_up_notice(self, number: int) -> None:
        with self._open():
            gone = self._posted.pop(number, None)
            if gone is not None:
                self._held_back += gone.held_back + 1
