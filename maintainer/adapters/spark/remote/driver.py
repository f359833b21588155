"""One driver that calls home, as its owner sees it."""

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

FENCE_MARGIN = timedelta(seconds=15)  # how much the clocks of two processes may differ
SILENT_SECONDS = 60.0  # a driver without work that has not polled for so long is given up
STOP_SECONDS = 45.0  # for a poll, the end of its jobs (10 s), of Spark (10 s) and its last words
_SAME_END = timedelta(seconds=1)  # of a job that is renewed again under the same lease
_EXIT_OUT_OF_MEMORY = 52  # Spark's exit code
_ENDS = frozenset({"application.failed", "application.ended"})


class RemoteDriver:
    """Orders go to the store, by the thread of its source; messages come from the store.

    While the store is away orders wait here. Of a job's renewals only the newest waits.
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
        """Take its row. ``wake`` has the source's thread send what waits."""
        self.name = record.name
        self.fingerprint = record.fingerprint
        self.megabytes = record.megabytes
        self.handle = record.handle
        self.is_started = False
        self.is_worn = False
        self.is_caught_up = threading.Event()
        self.is_ended = threading.Event()
        self.last_words: Mapping[str, object] = {}
        self.heard = 0  # the number of the last message that was passed on
        self.polls = record.polls
        self.polled_at = time.monotonic()  # when a new poll was seen; before the first: its start
        self.state = LaunchState(LaunchPhase.STARTING)
        self._launcher = launcher
        self._clock = clock
        self._listener = listener
        self._wake = wake
        self._longest = longest_validity
        self.is_anothers = False  # another process has adopted it
        self._log_mutex = threading.Lock()
        self._log_read = 0  # how far its log was read
        self._log_end: LogPart | None = None  # what came after that, once its application is over
        self._mutex = threading.Lock()
        self._orders: deque[tuple[Mapping[str, object], tuple[str, datetime] | None]] = deque()
        self._until: dict[str, datetime] = {}  # of its jobs, as they were renewed last
        self._renewals: dict[str, datetime] = {}  # those that the store does not have yet
        self._done: list[int] = []
        self._cancelled: set[str] = set()
        self.given_up = ""  # why; empty: it was not
        self._ordered = record.ordered

    @property
    def log(self) -> str:
        return f"the log of {self.handle or self.name}"

    @property
    def hindrance(self) -> str:
        """Return the launcher's message about the driver."""
        return self.state.reason

    def run(self, order: Mapping[str, object], valid_for: timedelta | None) -> None:
        """See Driver; a job that nobody has renewed yet may work for the longest time."""
        until = self._clock.now() + (self._longest if valid_for is None else valid_for)
        with self._mutex:
            self._until[str(order["id"])] = until
        self._post({"run": dict(order)}, (str(order["id"]), until))

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """See Driver; nothing is sent while the end stays as it was."""
        until = self._clock.now() + valid_for
        with self._mutex:
            known = self._until.get(job_id)
            if known is not None and abs(until - known) < _SAME_END:
                return
            self._until[job_id] = self._renewals[job_id] = until
        self._wake()

    def cancel(self, job_id: str) -> None:
        """See Driver; one order is enough."""
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
        """See Driver; it has ended when its launcher says so, or its fence has passed."""
        self.given_up = reason
        self.last_words = explain_end(reason)
        self._wake()

    def stop(self) -> None:
        self._post({"stop": True})
        if not self.is_ended.wait(STOP_SECONDS):
            self.give_up(f"driver {self.name} did not end within {STOP_SECONDS:g} s")
            # after that its fence has passed, whether the store can be asked or not
            self.is_ended.wait((self._longest + 2 * FENCE_MARGIN).total_seconds())

    def read_log(self, since: int) -> LogPart:
        """See Driver; after the end of its application from what was left of the log then."""
        with self._log_mutex:
            if self.is_anothers:
                raise RunnerUnavailableError(f"another process has adopted driver {self.name}")
            if self._log_end is not None:
                return self._log_end if since < self._log_end.next else LogPart("", since)
            part = self._launcher.log(self.handle, since)
            self._log_read = part.next
            return part

    def end_application(self) -> None:
        """Have the launcher end it, once the rest of its log is read.

        RunnerUnavailableError while the cluster cannot be asked.
        """
        with self._log_mutex:
            if self._log_end is None:
                with contextlib.suppress(RunnerUnavailableError):
                    self._log_end = self._launcher.log(self.handle, self._log_read)
            self._launcher.end(self.handle)

    def find_complaint(self) -> str:
        """Return the first line of its log that looks like an error, or ""."""
        try:
            return find_complaint(self.read_log(0).text)
        except RunnerUnavailableError:
            return ""

    def send_waiting(self, store: DriverStore, owner: str) -> None:
        """Write what waits into the store; StoreUnavailableError leaves it waiting."""
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
        """Note how many polls the store has seen."""
        if polls != self.polls:
            self.polls, self.polled_at = polls, time.monotonic()

    @property
    def silent_seconds(self) -> float:
        """Return for how long no new poll was seen."""
        return time.monotonic() - self.polled_at

    def catch_up(
        self,
        record: DriverRecord,
        pending: Sequence[str],
        messages: Sequence[Mapping[str, object]],
    ) -> None:
        """Pass on what an adopted driver last said of itself, and its messages until now.

        Its jobs are also those that it has yet to take. Of its messages that are of no job only
        its end is not in what it said of itself.
        """
        jobs = dict.fromkeys(pending, False) | read_jobs(record.hello)
        self.hear({**record.hello, "event": "hello", "at": time.time(), "jobs": jobs})
        for message in messages:
            if "job" in message or message.get("event") in _ENDS:
                self.hear(message)
        self.hear({"event": "replayed", "at": time.time()})
        self.is_caught_up.set()

    def hear(self, message: Mapping[str, object]) -> None:
        """Note the facts of the driver, and pass the message on."""
        number = message.get("number")
        if isinstance(number, int):
            self.heard = number
            if "job" not in message:  # nobody else acknowledges it
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
                pass  # of a job: the listener's
        self._listener.heard(self, message)

    @property
    def has_said_its_end(self) -> bool:
        """Return True when the driver itself has said that its application is over."""
        return self.last_words.get("event") in _ENDS

    def end(self, reason: str, failure: FailureReason | None = None) -> None:
        """Note that the driver and its JVM are gone; the first reason stays."""
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
        """Fail a job whose order the store never takes."""
        if validity is not None:
            causes = [{"class": type(error).__name__, "message": str(error)}]
            said = {"event": "job.failed", "at": time.time(), "job": validity[0], "causes": causes}
            self._listener.heard(self, said)


def read_jobs(hello: Mapping[str, object]) -> dict[str, bool]:
    """Return the driver's jobs, and whether each has begun, from what it says of itself."""
    jobs = hello.get("jobs")
    return {str(job): bool(value) for job, value in jobs.items()} if isinstance(jobs, dict) else {}
