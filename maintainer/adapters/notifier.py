"""Notices by Apprise: Slack, mail, webhooks and some hundred other ways, each a URL."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from queue import Empty, Full, Queue
from string import Template
from threading import Event, Thread

from apprise import Apprise, NotifyType

from maintainer.domain.errors import ConfigurationError
from maintainer.domain.notice import Notice, NoticeKind

log = logging.getLogger(__name__)

MAX_WAITING = 1000
CLOSE_GRACE = timedelta(seconds=5)
_LOOK_SECONDS = 0.2

_TYPES = {
    NoticeKind.FAILED_PROOF: NotifyType.FAILURE,
    NoticeKind.REPEATED_FAILURE: NotifyType.FAILURE,
    NoticeKind.TABLE_CRITICAL: NotifyType.WARNING,
    NoticeKind.BUDGET_SPENT: NotifyType.WARNING,
    NoticeKind.APPROVAL_NEEDED: NotifyType.INFO,
}
TITLES: Mapping[NoticeKind, str] = {
    NoticeKind.FAILED_PROOF: "Proof failed, table paused: $subject",
    NoticeKind.REPEATED_FAILURE: "Maintenance keeps failing: $subject",
    NoticeKind.TABLE_CRITICAL: "Table is critical: $subject",
    NoticeKind.BUDGET_SPENT: "Budget spent: $subject",
    NoticeKind.APPROVAL_NEEDED: "Approval needed: $subject",
}
BODY = "$sentence$held_back"
PLACEHOLDERS = frozenset({"kind", "subject", "sentence", "at", "job", "held_back"})


@dataclass(frozen=True, slots=True)
class NotifierOptions:
    """Where to, in which words, and how often at most; targets are Apprise URLs by name and hold secrets."""

    targets: Mapping[str, str] = field(repr=False)
    kinds: frozenset[NoticeKind] = frozenset(NoticeKind)
    titles: Mapping[NoticeKind, str] = field(default_factory=dict)
    bodies: Mapping[NoticeKind, str] = field(default_factory=dict)
    repeat_after: timedelta = timedelta(hours=6)
    max_per_hour: int = 60


class _Limit:
    """Lets a notice pass once in repeat_after for its kind and subject, and max_per_hour in all."""

    def __init__(self, options: NotifierOptions) -> None:
        self._options = options
        self._told: dict[tuple[NoticeKind, str], datetime] = {}
        self._recent: deque[datetime] = deque()
        self._held_back = 0

    def admit(self, notice: Notice) -> int | None:
        """How many were held back since the last that passed; None when this one is held back too."""
        since = notice.at - self._options.repeat_after
        self._told = {key: at for key, at in self._told.items() if at > since}
        if (notice.kind, notice.subject) in self._told:
            return None  # told already: nobody misses it
        while self._recent and self._recent[0] <= notice.at - timedelta(hours=1):
            self._recent.popleft()
        if len(self._recent) >= self._options.max_per_hour:
            self._held_back += 1
            return None
        self._told[notice.kind, notice.subject] = notice.at
        self._recent.append(notice.at)
        held_back, self._held_back = self._held_back, 0
        return held_back


class AppriseNotifier:
    """Delivers from a thread of its own, so that a slow mail server never holds up a step."""

    def __init__(self, options: NotifierOptions) -> None:
        self._options = options
        self._targets = {name: _make_target(name, url) for name, url in options.targets.items()}
        self._limit = _Limit(options)
        self._waiting: Queue[tuple[Notice, int]] = Queue(MAX_WAITING)
        self._closing = Event()
        self._thread = Thread(target=self._deliver_all, name="notifier", daemon=True)
        self._thread.start()

    def notify(self, notice: Notice) -> None:
        """Queue the notice, unless the limits hold it back."""
        if notice.kind not in self._options.kinds:
            return
        held_back = self._limit.admit(notice)
        if held_back is None:
            return
        try:
            self._waiting.put_nowait((notice, held_back))
        except Full:
            log.warning("notice.dropped kind=%s subject=%s waiting=%d", notice.kind, notice.subject, MAX_WAITING)

    def _deliver_all(self) -> None:
        while not (self._closing.is_set() and self._waiting.empty()):
            try:
                notice, held_back = self._waiting.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue
            self._deliver(notice, held_back)

    def _deliver(self, notice: Notice, held_back: int) -> None:
        title, body = write_notice(notice, self._options, held_back)
        for name, target in self._targets.items():
            try:
                is_delivered = target.notify(body=body, title=title, notify_type=_TYPES[notice.kind])
            except Exception as error:  # noqa: BLE001 - a hundred plug-ins: none may end the thread; the text might hold the target's secrets
                log.warning("notice.failed target=%s kind=%s error=%s", name, notice.kind, type(error).__name__)
                continue
            if not is_delivered:
                log.warning("notice.failed target=%s kind=%s", name, notice.kind)

    def close(self) -> None:
        """Deliver what waits, for CLOSE_GRACE at most."""
        self._closing.set()
        self._thread.join(CLOSE_GRACE.total_seconds())


def _make_target(name: str, url: str) -> Apprise:
    target = Apprise()
    if not target.add(url):
        message = f"notifications.targets.{name} is no URL that Apprise knows (its text is not shown: it may hold secrets)"
        raise ConfigurationError(message)
    return target


def write_notice(notice: Notice, options: NotifierOptions, held_back: int = 0) -> tuple[str, str]:
    """(title, body) of a notice in the operator's words, else in ours."""
    words = {
        "kind": notice.kind.value,
        "subject": notice.subject,
        "sentence": notice.sentence,
        "at": f"{notice.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC",
        "job": notice.job_id,
        "held_back": f"\n({held_back} more notices were held back)" if held_back else "",
    }
    title = options.titles.get(notice.kind, TITLES[notice.kind])
    return Template(title).safe_substitute(words), Template(options.bodies.get(notice.kind, BODY)).safe_substitute(words)


def find_unknown_placeholders(template: str) -> tuple[str, ...]:
    """Names after a $ that no notice fills."""
    text = Template(template)
    return tuple(sorted(set(text.get_identifiers()) - PLACEHOLDERS)) if text.is_valid() else ("$",)
