"""Copies the logs of drivers with jobs into the store, as a share for each job."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from maintainer.adapters.spark.driver.job import begin_line, end_line
from maintainer.adapters.spark.link import Driver
from maintainer.domain.driver import JobLog
from maintainer.domain.errors import MaintainerError, RunnerUnavailableError
from maintainer.domain.redaction import hide_secrets
from maintainer.ports.store.drivers import JOB_ENDS
from maintainer.ports.store.jobs import MAX_LOG_CHARACTERS, JobLogStore

_LAST_ROUNDS = 3  # readings after a job's end, in which its last line may appear
_EVERY_SECONDS = 2.0  # between two readings of a driver's log
_CLUSTER_SECONDS = 5.0  # the same if each reading is a request to a cluster
_MAX_PARTS = 64  # of one driver's log in one round

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Share:
    """One job's share of the log."""

    job_id: str
    has_begun: bool  # if false, the share begins with the line that begins the job
    is_known: bool = False  # the stored part has been read
    next: int = 0  # where the stored part ends
    waiting: str = ""  # text that is not yet stored
    rounds_left: int | None = None  # None: the job has not ended
    is_complete: bool = False

    def resume(self, store: JobLogStore) -> int:
        """Continue after the stored part; return its end in the driver's log, or 0."""
        known = store.job_log(self.job_id)
        self.is_known = True
        if known is None:
            return 0
        self.has_begun, self.next, self.is_complete = True, known.next, known.is_complete
        return known.source

    def take(self, text: str) -> None:
        """Take the lines that belong to the job."""
        if not self.has_begun:
            _, first, rest = text.partition(begin_line(self.job_id))
            self.has_begun, text = bool(first), first + rest
        mine, last, _ = text.partition(end_line(self.job_id))
        if not self.is_complete:
            self.waiting += mine + last
        self.is_complete |= bool(last)

    def end(self) -> None:
        if self.rounds_left is None:
            self.rounds_left = _LAST_ROUNDS

    def note_round(self, *, is_over: bool) -> None:
        """Record that the log was read to its end; `is_over`: the driver writes no more."""
        if self.rounds_left is not None:
            self.rounds_left -= 1
        self.is_complete |= is_over or self.rounds_left == 0

    def store(self, store: JobLogStore, source: int) -> bool:
        """Store the waiting text; False if another process stores the rest of the log."""
        while self.waiting or self.is_complete:
            text, rest = self.waiting[:MAX_LOG_CHARACTERS], self.waiting[MAX_LOG_CHARACTERS:]
            is_last = self.is_complete and not rest
            part = JobLog(text, self.next, is_last, source)
            if not store.append_job_log(self.job_id, part):
                return False
            self.next, self.waiting = part.next, rest
            if is_last:
                break
        return True


@dataclass(slots=True)
class _Source:
    """One driver, the position up to which its log was read, and its jobs."""

    driver: Driver
    position: int = 0
    shares: dict[str, Share] = field(default_factory=dict)
    fault: str = ""  # why the log could not be copied the last time


@dataclass(slots=True)
class JobLogs:
    """One thread reads the logs of all drivers that have jobs."""

    store: JobLogStore
    secrets: Collection[str]  # values that no log may show
    is_on_cluster: bool = field(default=False, kw_only=True)  # a cluster has the logs
    _mutex: threading.Lock = field(default_factory=threading.Lock)
    _sources: dict[str, _Source] = field(default_factory=dict)  # by the driver's name
    _is_closing: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def follow(self, job_id: str, driver: Driver) -> None:
        """Store the log of the job from now on; for a starting driver, the whole log."""
        with self._mutex:
            source = self._sources.setdefault(driver.name, _Source(driver))
            source.shares.setdefault(job_id, Share(job_id, has_begun=not driver.is_started))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="job-logs", daemon=True)
                self._thread.start()

    def hear(self, job_id: str, message: Mapping[str, object]) -> None:
        """Take a job's end: the log is complete soon."""
        if message.get("event") not in JOB_ENDS:
            return
        with self._mutex:
            for source in self._sources.values():
                if job_id in source.shares:
                    source.shares[job_id].end()

    def read(self, job_id: str, since: int) -> JobLog | None:
        """Return the stored log of the job from a position on; None if nothing is stored."""
        return self.store.job_log(job_id, since)

    def leave(self) -> None:
        """Stop; another process continues after the stored part."""
        self._is_closing.set()

    def close(self) -> None:
        """Copy the rest of the logs of ended drivers, and end the thread."""
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join()
            self._copy_all()

    def _work(self) -> None:
        while not self._is_closing.wait(_CLUSTER_SECONDS if self.is_on_cluster else _EVERY_SECONDS):
            self._copy_all()

    def _copy_all(self) -> None:
        with self._mutex:
            sources = list(self._sources.values())
        for source in sources:
            fault = ""
            try:
                self._copy(source)
            except MaintainerError as error:
                fault = str(error)
            if fault and fault != source.fault:
                _LOG.warning("job_log.not_copied driver=%s reason=%s", source.driver.name, fault)
            source.fault = fault

    def _copy(self, source: _Source) -> None:
        is_over = source.driver.is_ended.is_set()
        for share in self._open_shares(source):
            if not share.is_known:
                source.position = max(source.position, share.resume(self.store))
        try:
            self._read(source, is_over=is_over)
        except RunnerUnavailableError:
            if not is_over:
                raise
            with self._mutex:  # the rest of the log is lost, or another process copies it
                source.shares.clear()
        with self._mutex:
            if is_over and not source.shares:
                self._sources.pop(source.driver.name, None)

    def _read(self, source: _Source, *, is_over: bool) -> None:
        """Read and store the new parts of the log."""
        for _ in range(_MAX_PARTS):
            self._keep(source)  # first the texts that an unavailable store did not take
            shares = self._open_shares(source)
            if not shares:
                return
            part = source.driver.read_log(source.position)
            source.position = part.next
            text = hide_secrets(part.text, self.secrets)
            for share in shares:
                share.take(text)
            if not part.has_more:
                for share in shares:
                    share.note_round(is_over=is_over)
                self._keep(source)
                return

    def _keep(self, source: _Source) -> None:
        for share in self._open_shares(source):
            is_ours = share.store(self.store, source.position)
            if share.is_complete or not is_ours:
                with self._mutex:
                    del source.shares[share.job_id]

    def _open_shares(self, source: _Source) -> list[Share]:
        with self._mutex:
            return list(source.shares.values())
