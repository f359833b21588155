"""Sends notices about jobs and tables, and sends undelivered notices again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from maintainer.decide.notices import (
    MOST_NAMED,
    notice_of_gone,
    notice_of_job,
    notice_of_list,
    notice_of_many,
)
from maintainer.domain.audit import BY_PROOF, BY_SCAN, AuditEntry, Deed
from maintainer.domain.effect import Effect
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.domain.policy import RuleName
from maintainer.ports import Ports
from maintainer.ports.clock import Clock
from maintainer.ports.notifier import Notifier
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery

RESEND_INTERVAL = timedelta(minutes=5)
DELIVERED = "people.told"  # the event of a job that its notice was delivered
_JOBS_SEARCHED = 20  # of one table, for the job with the failed proof
_LIMITED = frozenset({NoticeKind.TABLE_CRITICAL, NoticeKind.TABLE_UNREADABLE})


class LimitedNotices:
    """A notifier that names at most MOST_NAMED critical and MOST_NAMED unreadable tables.

    The other tables of these two kinds are named in the summary of `send_summaries`. Notices of
    other kinds are sent at once.
    """

    def __init__(self, inner: Notifier, catalog: str) -> None:
        self._inner = inner
        self._catalog = catalog
        self._passed: Counter[NoticeKind] = Counter()
        self._rest: dict[NoticeKind, list[str]] = {}

    def notify(self, notice: Notice) -> None:
        """Send the notice, or keep it for the summary."""
        if notice.kind not in _LIMITED or self._passed[notice.kind] < MOST_NAMED:
            self._passed[notice.kind] += 1
            self._inner.notify(notice)
        else:
            self._rest.setdefault(notice.kind, []).append(notice.subject)

    def send_summaries(self, now: datetime) -> None:
        """Send a summary of the kept notices of each kind, and begin again for the next scan."""
        for kind, subjects in self._rest.items():
            self._inner.notify(notice_of_many(kind, self._catalog, subjects, now))
        self._passed, self._rest = Counter(), {}

    def close(self) -> None:
        """Do nothing: the owner of the inner notifier closes it."""


def report_missing_tables(ports: Ports, catalog: str, listed: Iterable[TableIdentifier]) -> None:
    """Report the paused tables that are missing in a complete listing of the catalog.

    Call this function before the scan forgets these tables.
    """
    there = set(listed)
    for table in ports.store.paused_tables():
        if table.catalog == catalog and table not in there:
            report_gone_table(ports, table, f"catalog {catalog} no longer lists it")


def report_gone_table(ports: Ports, table: TableIdentifier, reason: str) -> None:
    """Report a table, if it is paused, before the scan forgets it."""
    record = ports.store.table(table)
    if record is None or record.pause is None:
        return
    now, pause = ports.clock.now(), record.pause
    uuid = record.health.table_uuid if record.health is not None else ""
    fields = {
        "scope": str(table),
        "reason": reason,
        "paused_by": pause.by,
        "paused_at": pause.at.isoformat(),
        "paused_because": pause.reason,
    }
    ports.store.record_audit(
        [AuditEntry(now, BY_SCAN, Deed.PAUSED_TABLE_GONE, table, uuid, fields=fields)]
    )
    ports.notifier.notify(notice_of_gone(table, pause.by, pause.reason, reason, now))


def notify_end(ports: Ports, job: Job, effect: Effect | None) -> None:
    """Send a notice about a job that has just ended, if the job's end needs a notice.

    The job may have failed before Spark received it.
    """
    notice = notice_of_job(job, effect, _count_failures(ports, job), ports.clock.now())
    if notice is not None:
        ports.notifier.notify(notice)


def _count_failures(ports: Ports, job: Job) -> int:
    """Count the failures in a row, including failures that the rule did not cause.

    If Spark is lost again and again, a person should learn about it too.
    """
    history = (
        ports.store.rule_history(job.table_uuid).get(job.rule)
        if isinstance(job.rule, RuleName)
        else None
    )
    if history is None:
        return 0
    return max(
        history.consecutive_failures, history.streak.times if history.streak is not None else 0
    )


def record_delivery(store: Store, clock: Clock, notice: Notice) -> None:
    """Record, as an event of the job, that its notice was delivered."""
    if notice.job_id:
        store.append_events(
            [JobEvent(notice.job_id, clock.now(), DELIVERED, {"kind": notice.kind.value})]
        )


def resend_notices(ports: Ports) -> int:
    """Send the notices that were not delivered; return how many were sent.

    These notices are about tables that a failed proof has paused, and about orphan lists that wait
    for approval. The process that should have sent a notice may have ended before. The limits of
    the notifier suppress repeated notices when this step runs often.
    """
    paused = [table for table, pause in ports.store.paused_tables().items() if pause.by == BY_PROOF]
    proofs = [
        notice
        for notice in (_find_undelivered(ports, table) for table in paused)
        if notice is not None
    ]
    undelivered = [*proofs, *_find_unannounced_lists(ports)]
    for notice in undelivered:
        ports.notifier.notify(notice)
    return len(undelivered)


def _find_unannounced_lists(ports: Ports) -> list[Notice]:
    now = ports.clock.now()
    waiting = [
        orphans for orphans in ports.store.waiting_orphan_lists() if orphans.expires_at > now
    ]
    return [
        notice_of_list(orphans, now)
        for orphans in waiting
        if not _is_delivered(ports, orphans.list_id)
    ]


def _find_undelivered(ports: Ports, table: TableIdentifier) -> Notice | None:
    """Return the notice about the table's last failed proof; None if it was delivered."""
    failed = ports.store.jobs(JobQuery((JobState.FAILED,), table, _JOBS_SEARCHED)).items
    # with 0 failures, only a failed proof needs a notice
    notices = (notice_of_job(job, job.effect, 0, ports.clock.now()) for job in failed)
    last = next((notice for notice in notices if notice is not None), None)
    return None if last is None or _is_delivered(ports, last.job_id) else last


def _is_delivered(ports: Ports, job_id: str) -> bool:
    return any(event.name == DELIVERED for event in ports.store.events(job_id))
