"""Sends notices with Apprise to Slack, mail, webhooks and some hundred other kinds of targets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from string import Template
from threading import Lock
from time import monotonic
from typing import Final

from maintainer.adapters.deliveries import MAX_WAITING, Deliveries
from maintainer.adapters.notice_process import MOST_PROCESSES, Message, SendError, Senders
from maintainer.adapters.notice_targets import TargetBounds, find_link_local, make_target
from maintainer.domain.errors import MaintainerError
from maintainer.domain.notice import Notice, NoticeKind, NoticeLimits, PostedNotice
from maintainer.ports.clock import Clock
from maintainer.ports.store.notices import NoticeStore

log = logging.getLogger(__name__)

# After the last attempt the notice is dropped for this target.
RETRY_WAITS = (
    timedelta(seconds=15),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=20),
    timedelta(hours=1),
)
CLOSE_GRACE = timedelta(seconds=5)
LEAVE_GRACE = timedelta(seconds=1)  # to leave undelivered notices to another process
SEND_SECONDS = 30.0  # for one target's answer
# this long after the end of its process, another process delivers the notice
HOLD = timedelta(minutes=2)
_CHECKS_PER_HOLD = 4

_TYPES: Final = {  # by Apprise's names
    NoticeKind.FAILED_PROOF: "failure",
    NoticeKind.REPEATED_FAILURE: "failure",
    NoticeKind.TABLE_CRITICAL: "warning",
    NoticeKind.BUDGET_SPENT: "warning",
    NoticeKind.TABLE_UNREADABLE: "failure",
    NoticeKind.APPROVAL_NEEDED: "info",
    NoticeKind.PAUSED_TABLE_GONE: "warning",
}
TITLES: Mapping[NoticeKind, str] = {
    NoticeKind.FAILED_PROOF: "Proof failed: $subject",
    NoticeKind.REPEATED_FAILURE: "Maintenance keeps failing: $subject",
    NoticeKind.TABLE_CRITICAL: "Table is critical: $subject",
    NoticeKind.BUDGET_SPENT: "Budget spent: $subject",
    NoticeKind.TABLE_UNREADABLE: "Table cannot be read: $subject",
    NoticeKind.APPROVAL_NEEDED: "Approval needed: $subject",
    NoticeKind.PAUSED_TABLE_GONE: "Paused table was dropped: $subject",
}
BODY = "$sentence$held_back"
TEST_TITLE = "Test of notifications"
TEST_BODY = "iceberg-maintainer sends its notices here."
PLACEHOLDERS = frozenset({"kind", "subject", "sentence", "at", "job", "held_back"})


@dataclass(frozen=True, slots=True)
class NotifierOptions:
    """Targets, templates and limits.

    Targets are Apprise URLs by name and contain secrets.
    """

    targets: Mapping[str, str] = field(repr=False)
    bounds: TargetBounds = field(default_factory=TargetBounds)
    kinds: frozenset[NoticeKind] = frozenset(NoticeKind)
    titles: Mapping[NoticeKind, str] = field(default_factory=dict)
    bodies: Mapping[NoticeKind, str] = field(default_factory=dict)
    limits: NoticeLimits = field(default_factory=NoticeLimits)
    retry_waits: tuple[timedelta, ...] = RETRY_WAITS
    hold: timedelta = HOLD


@dataclass(frozen=True, slots=True)
class _Letter:
    """A notice on its way to the targets that have not received it.

    The store holds it under its number, if the store was available.
    """

    notice: Notice
    held_back: int
    targets: tuple[str, ...]
    number: int | None = None
    is_reported: bool = False  # at least one target has received it


class AppriseNotifier:
    """Delivers notices from a separate thread, so that a slow mail server never delays a step.

    A target that refuses a notice is tried again after RETRY_WAITS. The store holds the limits, and
    each notice until it is delivered. If a process ends before that, another process delivers its
    notices.
    """

    def __init__(
        self,
        options: NotifierOptions,
        store: NoticeStore,
        clock: Clock,
        on_delivered: Callable[[Notice], None] = lambda _notice: None,
    ) -> None:
        """The thread calls `on_delivered` with each delivered notice."""
        self._options = options
        self._store = store
        self._clock = clock
        self._on_delivered = on_delivered
        self._targets = {
            name: make_target(name, url, options.bounds) for name, url in options.targets.items()
        }
        self._senders = Senders()
        self._under_way: set[int] = set()
        self._mutex = Lock()
        self._next_check = 0.0  # by the monotonic clock
        self._deliveries = Deliveries(
            "notifier", self._deliver, options.retry_waits, self._look_after_others
        )

    def notify(self, notice: Notice) -> None:
        """Queue the notice unless a limit holds it back; without the store there are no limits."""
        if notice.kind not in self._options.kinds:
            return
        try:
            posted = self._store.post_notice(
                notice, self._options.limits, self._clock.now() + self._options.hold
            )
        except MaintainerError as error:
            log.warning(
                "notice.not_kept kind=%s subject=%s error=%s", notice.kind, notice.subject, error
            )
            self._queue(_Letter(notice, 0, tuple(self._targets)))
            return
        if posted is not None:
            self._take(posted)

    def _take(self, posted: PostedNotice) -> None:
        with self._mutex:
            self._under_way.add(posted.number)
        self._queue(_Letter(posted.notice, posted.held_back, tuple(self._targets), posted.number))

    def _queue(self, letter: _Letter) -> None:
        if not self._deliveries.put(letter):
            log.warning(
                "notice.dropped kind=%s subject=%s waiting=%d",
                letter.notice.kind,
                letter.notice.subject,
                MAX_WAITING,
            )
            self._ask_store(letter, self._store.give_up_notice)

    def _look_after_others(self) -> None:
        """Renew this process's notices, and take over those of ended processes."""
        self._senders.end_idle()
        now = monotonic()
        if now < self._next_check:
            return
        hold = self._options.hold
        self._next_check = now + hold.total_seconds() / _CHECKS_PER_HOLD
        with self._mutex:
            under_way = frozenset(self._under_way)
        try:
            moment = self._clock.now()
            self._store.hold_notices(under_way, moment + hold)
            taken = [
                posted
                for posted in self._store.take_notices(moment, moment + hold)
                if posted.number not in under_way
            ]
        except MaintainerError as error:
            log.warning("notice.not_looked_for error=%s", error)
            return
        for posted in taken:
            self._take(posted)

    def _deliver(self, letter: _Letter, attempt: int, is_last: bool) -> _Letter | None:
        notice = letter.notice
        title, body = write_notice(notice, self._options, letter.held_back)
        left = tuple(
            name for name in letter.targets if not self._send(name, title, body, notice.kind)
        )
        is_reported = letter.is_reported or len(left) < len(letter.targets)
        if is_reported and not letter.is_reported:
            self._ask_store(
                letter, lambda number: self._store.note_delivered(number, self._clock.now())
            )
            self._note(notice)
        if not left:
            return None
        if is_last:
            self._lose(letter, left, attempt, is_reported=is_reported)
        return replace(letter, targets=left, is_reported=is_reported)

    def _lose(
        self, letter: _Letter, left: tuple[str, ...], attempts: int, *, is_reported: bool
    ) -> None:
        """Leave the notice to another process if this process ends; otherwise drop it."""
        notice, targets = letter.notice, ",".join(left)
        if self._deliveries.is_closing and not is_reported:
            log.warning(
                "notice.left kind=%s subject=%s targets=%s", notice.kind, notice.subject, targets
            )
            self._ask_store(
                letter, lambda number: self._store.hold_notices([number], self._clock.now())
            )
            return
        log.error(
            "notice.lost kind=%s subject=%s targets=%s attempts=%d",
            notice.kind,
            notice.subject,
            targets,
            attempts,
        )
        if not is_reported:
            self._ask_store(letter, self._store.give_up_notice)

    def _ask_store(self, letter: _Letter, change: Callable[[int], None]) -> None:
        """Apply a change to the letter in the store.

        If that fails, another process takes the letter over later and may deliver it twice.
        """
        if letter.number is None:
            return
        with self._mutex:
            self._under_way.discard(letter.number)
        try:
            change(letter.number)
        except MaintainerError as error:
            log.warning(
                "notice.not_noted kind=%s subject=%s error=%s",
                letter.notice.kind,
                letter.notice.subject,
                error,
            )

    def try_targets(self) -> Mapping[str, bool]:
        """Send a test message to each target, once and without limits; by name, if it was received.

        The targets are tried in parallel.
        """
        names = sorted(self._targets)
        if not names:
            return {}
        with ThreadPoolExecutor(min(len(names), MOST_PROCESSES)) as pool:
            received = pool.map(lambda name: self._send(name, TEST_TITLE, TEST_BODY), names)
            return dict(zip(names, received, strict=True))

    def _send(self, name: str, title: str, body: str, kind: NoticeKind | None = None) -> bool:
        """Send to one target; without a kind it is a test."""
        called = kind or "test"
        try:
            refused = find_link_local(self._targets[name])
            if refused:
                log.error("notice.refused target=%s link_local=%s", name, refused)
                return False
            weight = _TYPES[kind] if kind else "info"
            url, bounds = self._options.targets[name], self._options.bounds
            message = Message(name, url, title, body, weight, bounds)
            is_delivered = self._senders.send(message, SEND_SECONDS)
        except SendError as error:
            log.warning("notice.failed target=%s kind=%s error=%r", name, called, str(error))
            return False
        # No error of a plug-in may end the thread. Its text may contain secrets of the target.
        except Exception as error:  # noqa: BLE001
            log.warning(
                "notice.failed target=%s kind=%s error=%s", name, called, type(error).__name__
            )
            return False
        if not is_delivered:
            log.warning("notice.failed target=%s kind=%s", name, called)
        return is_delivered

    def _note(self, notice: Notice) -> None:
        try:
            self._on_delivered(notice)
        except MaintainerError as error:
            log.warning(
                "notice.not_noted kind=%s subject=%s error=%s", notice.kind, notice.subject, error
            )  # in the worst case the notice is delivered twice

    def close(self) -> None:
        """Deliver queued notices, for CLOSE_GRACE at most; what is left, another process sends."""
        self._deliveries.close(CLOSE_GRACE)
        self._senders.close()
        self._deliveries.close(LEAVE_GRACE)


def write_notice(notice: Notice, options: NotifierOptions, held_back: int = 0) -> tuple[str, str]:
    """Write (title, body) of a notice from the operator's template, else from the built-in text."""
    words = {
        "kind": notice.kind.value,
        "subject": notice.subject,
        "sentence": notice.sentence,
        "at": f"{notice.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC",
        "job": notice.job_id,
        "held_back": f"\n({held_back} more notices were held back)" if held_back else "",
    }
    title = options.titles.get(notice.kind, TITLES[notice.kind])
    return Template(title).safe_substitute(words), Template(
        options.bodies.get(notice.kind, BODY)
    ).safe_substitute(words)
