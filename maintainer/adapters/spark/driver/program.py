"""The Spark driver: a process that runs CALL statements in one warm Spark.

The daemon starts it. The driver receives orders as JSON, over a socket or in the answers to polls:
{"start": {...}} first, then {"run": {"id", "statements", "main", "rows", "until", "plans"}},
{"renew": {"id", "until"}}, {"cancel": id}, {"acknowledged": [number]}, {"stop": true},
{"end": reason}. If `rows` is true, the driver sends the schema and the rows of every statement in
portions (job.rows), and {"stored": {"id", "portion"}} answers each portion; otherwise it sends only
the first row. If `plans` is true, planning has a time limit. The statement SHOW FILES requests
portions of lines (files.wanted), and {"bring": {"id", "kind", "portion", "data"}} brings each
portion. Both orders may have an "error". The job's result is the result of statement `main`
(default: the last one); later statements are checks.

The driver sends messages. Over a socket, a new connection first gets hello, then all unacknowledged
messages, then replayed. After that: application.starting, application.started, application.facts
(versions, and which catalogs load), application.failed, application.ended, application.worn,
job.started, statement.started, files.wanted, job.rows, spark.progress, statement.finished,
job.finished, job.failed, job.cancelled. All other output goes to standard error.

After its daemon has ended, the driver continues for a bounded time, so that the next daemon can
continue its jobs. Each job may work until its fence, which the daemon extends again and again. A
job that is not renewed is cancelled before its fence. If the job has not ended at its fence,
Spark's JVM is killed, so that nothing commits after the fence. Without a connection and without
work this process ends. When this process dies, the kernel kills the JVM.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from .application import Application
from .clock import read_clock
from .job import Job, await_jobs, begin_line, end_line, is_alone, read_order
from .jvm import GATEWAY, Jvm, ParentJvm
from .link.outbox import Message, Transport
from .results import MAX_MESSAGE_CHARACTERS, has_broken_class, has_old_token, read_causes
from .surroundings import complete_settings, describe_place, remove_directory

_FENCE_POLL_SECONDS = 0.1
_NOT_RENEWED = "its fence was not renewed in time, so the driver cancelled it"
_FENCE_MARGIN_SECONDS = 10  # the job is cancelled this long before the JVM is killed
_PROGRESS_SECONDS = 0.5
_CANCEL_ROUND_SECONDS = 0.1
# The default. After this time the JVM is killed, so that the job can no longer commit.
_CANCEL_SECONDS = 60
_CANCEL_PLANNING_SECONDS = 10  # the same while Spark has begun no work of the job
_STOP_SECONDS = 10
_TERM_SECONDS = 6  # for jobs to end after SIGTERM: a pod is killed after 10 s
_FLUSH_SECONDS = 5  # for the last messages to reach the daemon
_START_SECONDS = 60  # time for the daemon to send the start message

JavaObject: TypeAlias = Any  # py4j creates its classes at run time

_EXIT_JVM_GONE, _EXIT_START_FAILED, _EXIT_FENCED = 3, 4, 5
_EXIT_TERMINATED = 143  # the shell's convention: 128 + SIGTERM
_FROM_OUTSIDE = frozenset({_EXIT_FENCED, _EXIT_TERMINATED})  # no job has caused these ends


class Program:
    """Takes orders, runs jobs in one Spark, reports on them, and ends them at their fences."""

    def __init__(
        self, connect: Callable[[Callable[[Message], None], Callable[[], Message]], Transport]
    ) -> None:
        """``connect`` makes the transport from the methods that take orders and introduce."""
        self._starts: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._settings: Message = {}
        self._jobs: dict[str, Job] = {}
        self._sessions: queue.SimpleQueue[JavaObject] = queue.SimpleQueue()
        self._jvm: Jvm | ParentJvm | None = None
        self._is_started = False
        self._about: Message = {"place": describe_place(os.environ)}
        self._facts: Message | None = None  # Spark's versions and catalogs; None: not known yet
        self._is_stopping = False
        self._is_dying = threading.Lock()
        self._is_worn = False
        self._last_end: float | None = None  # when the last job ended
        # The system may deliver a signal to any thread, and does not wake the main thread for it.
        self._signals, self._wakeup = socket.socketpair()
        self._wakeup.settimeout(0)
        signal.set_wakeup_fd(self._wakeup.fileno())
        signal.signal(signal.SIGTERM, lambda *_: None)
        self._output = connect(self._take, self._introduce)
        threading.Thread(target=self._watch_fences, daemon=True).start()
        threading.Thread(target=self._end_after_sigterm, daemon=True).start()

    def serve(self) -> NoReturn:
        """Start Spark with the received settings on this thread; the JVM ends with this thread."""
        self._settings = self._starts.get()
        try:
            self._settings = complete_settings(self._settings, os.environ)
            self._jvm = ParentJvm() if GATEWAY in os.environ else Jvm(self._settings)
            self._output.send("application.starting", java_pid=self._jvm.pid)
            self._start(self._jvm)
        # It is an expected outcome that Spark does not start.
        except Exception as error:  # noqa: BLE001
            self._output.send("application.failed", causes=read_causes(error))
            self._kill(_EXIT_START_FAILED)
        while True:
            time.sleep(_STOP_SECONDS)

    def _start(self, jvm: Jvm | ParentJvm) -> None:
        """Start the Spark application and a session for each concurrent job."""
        application = self._application = Application(self._settings, jvm)
        self._about |= application.about
        self._is_started = True
        threading.Thread(target=self._watch_jvm, args=(jvm,), daemon=True).start()
        threading.Thread(target=self._watch_progress, args=(application,), daemon=True).start()
        self._output.send("application.started", java_pid=jvm.pid, **self._about)
        # A separate thread, because a catalog's server may never answer.
        threading.Thread(target=self._report_facts, args=(application,), daemon=True).start()
        for _ in range(self._settings["max_jobs"]):
            self._sessions.put(application.new_session())

    def _report_facts(self, application: Application) -> None:
        self._facts = application.read_facts()
        self._output.send("application.facts", facts=self._facts)

    def _take(self, message: Message) -> None:
        match message:
            case {"start": dict(settings)}:
                self._starts.put(settings)
            case {"run": dict(order)}:
                self._run(read_order(order))
            case {"cancel": str(job_id)}:
                self._cancel(job_id)
            case {"acknowledged": list(numbers)}:
                self._output.acknowledge(numbers)
            case {"end": str(reason)}:
                self._kill(_EXIT_FENCED, f"the daemon has ended this driver: {reason}")
            case {"stop": _}:
                threading.Thread(target=self._stop, daemon=True).start()
            case {"renew": {"id": job_id}} | {"bring": {"id": job_id}} | {"stored": {"id": job_id}}:
                if job_id in self._jobs:
                    self._jobs[job_id].take(message)
            case _:
                sys.stderr.write(f"the driver does not understand {sorted(message)}\n")

    def _introduce(self) -> Message:
        """Return the facts that a daemon needs to take over this driver."""
        return {
            "java_pid": self._jvm.pid if self._jvm is not None else None,
            "is_started": self._is_started,
            "is_worn": self._is_worn,
            "fingerprint": self._settings.get("fingerprint"),
            "megabytes": self._settings.get("megabytes"),
            "facts": self._facts,
            **self._about,
            "jobs": {job.job_id: job.is_started for job in list(self._jobs.values())},
        }

    def _run(self, job: Job) -> None:
        if job.job_id not in self._jobs:
            self._jobs[job.job_id] = job
            # Each job has its own thread, so that a late interrupt cannot hit another job.
            threading.Thread(target=self._run_job, args=(job,), daemon=True).start()

    def _cancel(self, job_id: str) -> None:
        job = self._jobs.get(job_id)
        if job is not None and not job.is_cancelled.is_set():
            job.is_cancelled.set()
            threading.Thread(target=self._end, args=(job,), daemon=True).start()

    def _stop(self) -> NoReturn:
        """Cancel running jobs, end Spark and end this process."""
        self._is_stopping = True
        for job_id in list(self._jobs):
            self._cancel(job_id)
        await_jobs(self._jobs, _STOP_SECONDS)
        if self._is_started:
            stopping = threading.Thread(target=self._application.stop, daemon=True)
            stopping.start()
            stopping.join(_STOP_SECONDS)
        self._kill(0, "stopped")

    def _end_after_sigterm(self) -> NoReturn:
        """After SIGTERM, cancel and report the running jobs; jobs that do not end are killed."""
        while self._signals.recv(1) != bytes([signal.SIGTERM]):
            continue
        reason = "its driver was ended by SIGTERM"
        self._retire(reason)
        for job in list(self._jobs.values()):
            if not job.is_cancelled.is_set():
                job.given_up_for = reason
                self._cancel(job.job_id)
        await_jobs(self._jobs, _TERM_SECONDS)
        self._kill(_EXIT_TERMINATED, reason)

    def _watch_fences(self) -> None:
        """End jobs that are not renewed, and this process if it has no daemon and no work.

        A job is cancelled before its fence; if it does not end, the JVM is killed.
        """
        while True:
            time.sleep(_FENCE_POLL_SECONDS)
            now, left_at = read_clock(), self._output.left_at
            alone = self._settings.get("abandoned_seconds", 0)
            alone_until = float("inf") if left_at is None else left_at + alone
            for job in list(self._jobs.values()):
                until = alone_until if job.until is None else job.until
                if now >= until - _FENCE_MARGIN_SECONDS and not job.is_cancelled.is_set():
                    job.given_up_for = _NOT_RENEWED
                    sys.stderr.write(f"job {job.job_id} was not renewed in time and is cancelled\n")
                    self._cancel(job.job_id)
                if now >= until and job.java_thread is not None and not job.is_over.is_set():
                    self._kill(
                        _EXIT_FENCED,
                        f"job {job.job_id} was not renewed in time and did not end before its "
                        f"fence: Spark was killed",
                    )
            if (
                left_at is not None
                and not self._jobs
                and now >= self._needed_until(left_at)
                and not self._is_stopping
            ):
                self._stop()

    def _needed_until(self, left_at: float) -> float:
        """Return the time until which a daemon may fetch the outcome of the last job."""
        if not self._settings:
            return left_at + _START_SECONDS
        if self._last_end is None:
            return left_at
        return self._last_end + float(self._settings["abandoned_seconds"])

    def _run_job(self, job: Job) -> None:
        session = None
        sys.stderr.write(begin_line(job.job_id))
        try:
            while session is None and not job.is_cancelled.is_set():
                with contextlib.suppress(queue.Empty):
                    session = self._sessions.get(timeout=_CANCEL_ROUND_SECONDS)
            self._carry_out(job, session)
        finally:
            if session is not None:
                self._application.marks.remove(job.job_id)
                self._sessions.put(self._application.new_session() if job.is_refused else session)
            sys.stderr.write(end_line(job.job_id))
            self._last_end = read_clock()
            self._jobs.pop(job.job_id, None)
            job.is_over.set()

    def _carry_out(self, job: Job, session: JavaObject) -> None:
        if job.is_cancelled.is_set():
            self._output.send("job.cancelled", job=job.job_id, because=job.given_up_for)
            return
        job.is_started, job.begun_at = True, time.monotonic()
        self._output.send("job.started", job=job.job_id)
        try:
            job.java_thread = self._application.threads.mark_current(job.tag)
            self._application.marks.add(job.job_id)
            self._application.executors.begin(job.job_id)
            job.run_statements(session, self._output)
        # Any exception of Spark fails the job, with its class and message.
        except Exception as error:  # noqa: BLE001
            causes = self._application.read_causes(error, job.meter)
            job.is_refused = has_old_token(causes)
        else:
            causes = []
        self._report_end(job, causes)

    def _report_end(self, job: Job, causes: list[dict[str, str]]) -> None:
        """Report how the job ended, after none of its threads can commit any more."""
        if causes or job.is_cancelled.is_set():
            self._await_quiet(job)
        if has_broken_class(causes):
            self._retire("its JVM can no longer initialize a class")
        about = {"job": job.job_id, **self._application.executors.end(job.job_id)}
        if job.is_cancelled.is_set():
            result, because = job.result or {}, job.given_up_for
            about |= {"because": because, "is_overdue": job.is_overdue}
            self._output.send("job.cancelled", **about, result=result)
        elif causes:
            about |= {"causes": causes, "result": job.result, "checks": job.checks}
            self._output.send("job.failed", **about, is_stopped=self._application.is_gone)
        else:
            failure = (
                job.meter.find_failure(self._application.scala_context)
                if (job.result or {}).get("failed_data_files_count")
                else ""
            )
            self._output.send(
                "job.finished",
                **about,
                result=job.result or {},
                checks=job.checks,
                failure=failure[:MAX_MESSAGE_CHARACTERS],
            )

    def _end(self, job: Job) -> None:
        """Cancel the job's Spark jobs and interrupt its threads until the job ends.

        Both are needed: with partial progress, Iceberg takes a cancelled Spark job for a failed
        file group and continues with the next group. A thread that is committing is not
        interrupted.
        """
        begun = time.monotonic()
        longest = self._settings.get("cancel_seconds", _CANCEL_SECONDS)
        while not job.is_over.wait(_CANCEL_ROUND_SECONDS):
            elapsed, seconds = time.monotonic() - begun, longest
            if _CANCEL_PLANNING_SECONDS < elapsed <= longest and self._application.is_planning(
                job.tag, job.meter
            ):
                seconds = _CANCEL_PLANNING_SECONDS
            if elapsed > seconds:
                if not self._is_worn:
                    self._retire(f"job {job.job_id} does not end after its cancellation")
                if is_alone(job, self._jobs):
                    why = f"{job.given_up_for}; " if job.given_up_for else ""
                    self._kill(
                        _EXIT_JVM_GONE,
                        f"{why}job {job.job_id} did not end within {seconds:g} s of its "
                        f"cancellation: Spark was killed",
                        culprit=job,
                    )
            if job.java_thread is not None:
                # Spark may be ending too; the next round or the deadline decides.
                with contextlib.suppress(Exception):
                    self._application.threads.interrupt(job.tag)

    def _await_quiet(self, job: Job) -> None:
        """Wait until no thread of the job can commit; Iceberg's threads may outlive the CALL.

        An interrupted rewrite never closes its committer thread, which then spins without a commit
        until the JVM ends. Therefore the application takes no more jobs.
        """
        if job.java_thread is None:
            return
        seconds = self._settings.get("cancel_seconds", _CANCEL_SECONDS)
        spins = self._application.threads.await_quiet(job.tag, job.java_thread, seconds)
        if spins is None:
            self._retire(f"threads of job {job.job_id} do not end")
            while not is_alone(job, self._jobs):
                time.sleep(_CANCEL_ROUND_SECONDS)
            self._kill(
                _EXIT_JVM_GONE,
                f"threads of job {job.job_id} did not end within {seconds:g} s: Spark was killed",
                culprit=job,
            )
        if spins:
            self._retire(f"a thread of Iceberg still spins after job {job.job_id}")

    def _retire(self, reason: str) -> None:
        """Take no more jobs; the daemon ends this driver after its current jobs."""
        self._is_worn = True
        self._output.send("application.worn", reason=reason)

    def _watch_jvm(self, jvm: Jvm | ParentJvm) -> None:
        code = jvm.wait()
        if not self._is_stopping:
            # Without an exit code, only the cluster knows the reason.
            reason = "" if code is None else f"Spark's JVM ended with exit code {code}"
            self._kill(_EXIT_JVM_GONE, reason, exit_code=code)

    def _watch_progress(self, application: Application) -> None:
        """Report the progress of jobs when it has changed, and the end of the application."""
        while True:
            time.sleep(_PROGRESS_SECONDS)
            application.executors.tick()
            with contextlib.suppress(Exception):  # the JVM may have ended too
                if application.is_stopped and not self._is_worn:
                    self._retire("Spark's application was ended from outside")
            for job in list(self._jobs.values()):
                with contextlib.suppress(Exception):  # Spark may drop a stage while it is read
                    figures = job.meter.read(application.scala_context)
                    if figures is not None:
                        self._output.send("spark.progress", job=job.job_id, **figures)
                    self._end_if_overdue(job)

    def _end_if_overdue(self, job: Job) -> None:
        """End a job that plans for too long; an earlier daemon has set no limit."""
        limit = float(self._settings.get("planning_seconds", "inf"))
        if (
            job.plans_beyond(limit)
            and not job.is_cancelled.is_set()
            and self._application.is_planning(job.tag, job.meter)
        ):
            job.is_overdue = True
            job.given_up_for = f"it planned for more than {limit:g} s without any work of Spark"
            self._cancel(job.job_id)

    def _kill(
        self, code: int, reason: str = "", culprit: Job | None = None, exit_code: int | None = None
    ) -> NoReturn:
        """End the JVM at once, report the reason, and end this process.

        The message names the job that caused the end, or the JVM's exit code. Only the first thread
        that ends the process counts: after the last message the daemon refuses polls, which must
        not turn a normal end into a kill.
        """
        while not self._is_dying.acquire(blocking=False):
            time.sleep(_STOP_SECONDS)
        self._is_stopping = True
        if self._jvm is not None:
            end = self._jvm.leave if code == 0 and not self._jobs else self._jvm.kill
            end()
        if reason:
            self._output.send(
                "application.ended",
                reason=reason,
                is_fenced=code in _FROM_OUTSIDE,
                culprit=culprit and culprit.job_id,
                is_overdue=culprit is not None and culprit.is_overdue,
                exit_code=exit_code,
            )
        self._output.flush(_FLUSH_SECONDS)
        remove_directory(self._settings)
        os._exit(code)
