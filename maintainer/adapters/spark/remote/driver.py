"""A driver that polls over HTTP, as its owner sees it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from maintainer.adapters.spark.launcher import Launcher, LaunchPhase, LaunchState
from maintainer.adapters.spark.launcher.log_files import find_complaint
from maintainer.adapters.spark.link import Listener, LogPart, explain_end
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from maintainer.domain.job import FailureReason
from maintainer.ports.clock import Clock
from maintainer.ports.store.drivers import JOB_ENDS, DriverRecord, DriverStore

FENCE_MARGIN = timedelta(seconds=15)  # the clocks of two processes may differ by this time
SILENT_SECONDS = 60.0  # an idle driver that has not polled for so long is ended
STOP_SECONDS = 45.0  # for a poll, the end of jobs (10 s) and of Spark (10 s), and the last message
_SAME_END = timedelta(seconds=1)  # a renewal that changes the end by less is not sent
_EXIT_OUT_OF_MEMORY = 52  # Spark's exit code
_ENDS = frozenset({"application.failed", "application.ended"})


class RemoteDriver:
    """Writes orders into the store, by the thread of its source; messages come from the store.

    While the store is unavailable, orders wait here. Of a job's renewals only the newest waits.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - its source passes all of them
        self,
        record: DriverRecord,
        launcher: Launcher,
        clock: Clock,
        listener: Listener,
        wake: Callable[[], None],
        longest_validity: timedelta,
    ) -> None:
        """``wake`` lets the source's thread send the waiting orders."""
        self.name = record.name
        self.fingerprint = record.fingerprint
        self.megabytes = record.megabytes
        self.handle = record.handle
        self.is_started = False
        self.is_worn = False
        self.is_caught_up = threading.Event()
        self.is_ended = threading.Event()
        self.last_words: Mapping[str, object] = {}
        self.heard = 0  # the number of the last message that was given to the listener
        self.polls = record.polls
        self.polled_at = time.monotonic()  # when the last new poll was seen; at first: the start
        self.state = LaunchState(LaunchPhase.STARTING)
        self._launcher = launcher
        self._clock = clock
        self._listener = listener
        self._wake = wake
        self._longest = longest_validity
        self.is_anothers = False  # another process has adopted the driver
        self._log_mutex = threading.Lock()
        self._log_read = 0  # the position up to which the log was read
        self._log_end: LogPart | None = None  # the rest of the log; None until the application ends
        self._mutex = threading.Lock()
        self._orders: deque[tuple[Mapping[str, object], tuple[str, datetime] | None]] = deque()
        self._until: dict[str, datetime] = {}  # the newest fence of each job
        self._renewals: dict[str, datetime] = {}  # the fences that are not yet stored
        self._done: list[int] = []
        self._cancelled: set[str] = set()
        self.given_up = ""  # the reason why give_up was called; empty: it was not called
        self._ordered = record.ordered

    @property
    def log(self) -> str:
        return f"the log of {self.handle or self.name}"

    @property
    def hindrance(self) -> str:
        """Return the launcher's message about the driver."""
        return self.state.reason

    def run(self, order: Mapping[str, object], valid_for: timedelta | None) -> None:
        """See Driver; without `valid_for` the job may work for the longest validity."""
        until = self._clock.now() + (self._longest if valid_for is None else valid_for)
        with self._mutex:
            self._until[str(order["id"])] = until
        self._post({"run": dict(order)}, (str(order["id"]), until))

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """See Driver; nothing is sent if the fence is almost the same."""
        until = self._clock.now() + valid_for
        with self._mutex:
            known = self._until.get(job_id)
            if known is not None and abs(until - known) < _SAME_END:
                return
            self._until[job_id] = self._renewals[job_id] = until
        self._wake()

    def cancel(self, job_id: str) -> None:
        """See Driver; the order is sent only once."""
        if job_id not in self._cancelled:
            self._cancelled.add(job_id)
            self._post({"cancel": job_id})

    def send(self, order: Mapping[str, object]) -> bool:
        self._post(order)
        return True

    def acknowledge(self, numbers: Sequence[int]) -> None:
        with self._mutex:
            self._done += numbers

    def give_up(self, reason: str) -> None:
        """See Driver; the driver has ended when its launcher says so, or its fence has passed."""
        self.given_up = reason
        self.last_words = explain_end(reason)
        self._wake()

    def stop(self) -> None:
        self._post({"stop": True})
        if not self.is_ended.wait(STOP_SECONDS):
            self.give_up(f"driver {self.name} did not end within {STOP_SECONDS:g} s")
            # After this time its fence has passed, even if the store does not answer.
            self.is_ended.wait((self._longest + 2 * FENCE_MARGIN).total_seconds())

    def read_log(self, since: int) -> LogPart:
        """See Driver; after the end of the application only the rest of the log can be read."""
        with self._log_mutex:
            if self.is_anothers:
                raise RunnerUnavailableError(f"another process has adopted driver {self.name}")
            if self._log_end is not None:
                return self._log_end if since < self._log_end.next else LogPart("", since)
            part = self._launcher.log(self.handle, since)
            self._log_read = part.next
            return part

    def end_application(self) -> None:
        """Read the rest of the log, and let the launcher end the application.

        RunnerUnavailableError while the cluster does not answer.
        """
        with self._log_mutex:
            if self._log_end is None:
                with contextlib.suppress(RunnerUnavailableError):
                    self._log_end = self._launcher.log(self.handle, self._log_read)
            self._launcher.end(self.handle)

    def find_complaint(self) -> str:
        """Return the first line of the driver's log that looks like an error, or ""."""
        try:
            return find_complaint(self.read_log(0).text)
        except RunnerUnavailableError:
            return ""

    def send_waiting(self, store: DriverStore, owner: str) -> None:
        """Store the waiting orders and renewals; after StoreUnavailableError they still wait."""
        while self._orders:
            order, validity = self._orders[0]
            try:
                if store.order(self.name, owner, self._ordered + 1, order, validity):
                    self._ordered += 1
            except InvalidValueError as error:
                self._refuse(validity, error)
            self._orders.popleft()
        with self._mutex:
            renewals, self._renewals = self._renewals, {}
        try:
            for job_id, until in list(renewals.items()):
                store.renew_driver_job(self.name, owner, job_id, until)
                del renewals[job_id]
        finally:
            with self._mutex:
                self._renewals = renewals | self._renewals
        with self._mutex:
            done = list(self._done)
        if done:
            store.acknowledge_messages(self.name, done)
            with self._mutex:
                del self._done[: len(done)]

    def note_poll(self, polls: int) -> None:
        """Take the number of polls that the store has counted."""
        if polls != self.polls:
            self.polls, self.polled_at = polls, time.monotonic()

    @property
    def silent_seconds(self) -> float:
        """Return the seconds since the last new poll was seen."""
        return time.monotonic() - self.polled_at

    def catch_up(
        self,
        record: DriverRecord,
        pending: Sequence[str],
        messages: Sequence[Mapping[str, object]],
    ) -> None:
        """Give an adopted driver's description and its messages until now to the listener.

        Its jobs include the pending jobs that it has not taken yet. Of the messages about the
        driver itself, only its end is needed; the description has all other facts.
        """
        jobs = dict.fromkeys(pending, False) | read_jobs(record.hello)
        self.hear({**record.hello, "event": "hello", "at": time.time(), "jobs": jobs})
        for message in messages:
            if "job" in message or message.get("event") in _ENDS:
                self.hear(message)
        self.hear({"event": "replayed", "at": time.time()})
        self.is_caught_up.set()

    def hear(self, message: Mapping[str, object]) -> None:
        """Take the driver's facts from the message, and give the message to the listener."""
        number = message.get("number")
        if isinstance(number, int):
            self.heard = number
            if "job" not in message:  # the listener acknowledges only messages about jobs
                self.acknowledge([number])
        match message:
            case {"event": "hello"}:
                self.is_started = bool(message.get("is_started"))
                self.is_worn = bool(message.get("is_worn"))
            case {"event": "application.started"}:
                self.is_started = True
            case {"event": "application.worn"}:
                self.is_worn = True
            case {"event": event} if event in _ENDS:
                self.last_words = message
            case {"event": event, "job": str(job_id)} if event in JOB_ENDS:
                with self._mutex:
                    self._until.pop(job_id, None)
                self._cancelled.discard(job_id)
            case _:
                pass  # a message about a job, for the listener
        self._listener.heard(self, message)

    @property
    def has_said_its_end(self) -> bool:
        """Return True if the driver itself has reported the end of its application."""
        return self.last_words.get("event") in _ENDS

    def end(self, reason: str, failure: FailureReason | None = None) -> None:
        """Record that the driver and its JVM have ended; the first reason is kept."""
        if self.is_ended.is_set():
            return
        if not self.last_words:
            self.last_words = explain_end(reason)
            if failure is FailureReason.OUT_OF_MEMORY:
                self.last_words = {**self.last_words, "exit_code": _EXIT_OUT_OF_MEMORY}
        self.is_ended.set()
        self._listener.ended(self)
        self.is_caught_up.set()

    def _post(
        self, order: Mapping[str, object], validity: tuple[str, datetime] | None = None
    ) -> None:
        self._orders.append((order, validity))
        self._wake()

    def _refuse(self, validity: tuple[str, datetime] | None, error: Exception) -> None:
        """Fail the job of an order that the store refuses for ever."""
        if validity is not None:
            causes = [{"class": type(error).__name__, "message": str(error)}]
            said = {"event": "job.failed", "at": time.time(), "job": validity[0], "causes": causes}
            self._listener.heard(self, said)


def read_jobs(hello: Mapping[str, object]) -> dict[str, bool]:
    """Return the jobs in the driver's description, and whether each of them has begun."""
    jobs = hello.get("jobs")
    return {str(job): bool(value) for job, value in jobs.items()} if isinstance(jobs, dict) else {}
