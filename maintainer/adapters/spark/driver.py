"""The Spark driver: a subprocess of the daemon that runs CALL statements in one warm Spark, on the standard library and pyspark alone.

JSON lines come in on standard input: {"start": {...}} first, then {"run": {"id", "statements", "rows"}}, {"cancel": id}, {"stop": true}.
Where `rows` names a file, every statement's schema and rows go there as compressed JSON lines; else only the first row counts, and is told.
JSON lines go out on standard output: application.starting, application.started, application.failed, application.ended, job.started, statement.started,
spark.progress, statement.finished, job.finished, job.failed, job.cancelled, application.worn. Everything else goes to standard error.

Nothing may commit after the daemon is gone: when standard input ends, or the parent process changes, Spark's JVM is killed at once and this process
with it; the JVM itself is killed by the kernel when this process dies.
"""

from __future__ import annotations

import contextlib
import ctypes
import gzip
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias, cast

_PARENT_POLL_SECONDS = 0.5
_GATEWAY_POLL_SECONDS = 0.02
_PROGRESS_SECONDS = 0.5
_CANCEL_ROUND_SECONDS = 0.1
_CANCEL_SECONDS = 60  # then the whole JVM goes, so that nothing of the job can commit
_SETTLE_ROUNDS = 5  # Iceberg's committer looks for leftovers every 0.1 s
_COMMITTER = "Committer-Service"  # Iceberg's name of the thread that makes partial progress' last commits
_STOP_SECONDS = 10
_MAX_CAUSES = 10
_MAX_MESSAGE_CHARACTERS = 4000
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>

JavaObject: TypeAlias = Any  # py4j makes its classes as it goes

_EXIT_ORPHANED, _EXIT_JVM_GONE, _EXIT_START_FAILED = 2, 3, 4


class _Output:
    """The protocol's own file descriptor; whatever else prints to standard output lands on standard error."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def send(self, event: str, **fields: object) -> None:
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._file.write(json.dumps({"event": event, **fields}) + "\n")
            self._file.flush()


class _Job:
    """One job: its thread, and what cancelling it needs."""

    def __init__(self, job_id: str, statements: list[str], rows: str | None) -> None:
        self.job_id = job_id
        self.statements = statements
        self.rows = rows
        self.is_cancelled = threading.Event()
        self.is_over = threading.Event()
        self.java_thread: JavaObject = None  # set while a statement runs
        self.progress: tuple[int, int] = (0, 0)

    @property
    def tag(self) -> str:
        """Spark's tag of every Spark job that this job starts, on whichever thread."""
        return f"maintainer-{self.job_id}"


class _Jvm:
    """Spark's JVM, a child of this process that does not outlive it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.directory = Path(settings["directory"])
        self._information = Path(tempfile.mkdtemp(dir=self.directory)) / "gateway"
        environment = os.environ | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._information), "SPARK_CONNECT_MODE": "0"}
        # Java arguments and jars only: catalogs and their secrets never appear on a command line.
        command = [str(Path(os.environ["SPARK_HOME"]) / "bin" / "spark-submit"), "--master", settings["master"], "--driver-memory", settings["driver_memory"]]
        command += ["--driver-java-options", settings["java_options"], "--jars", ",".join(settings["jars"])]
        command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.app.name=maintainer", "pyspark-shell"]
        libc = ctypes.CDLL(None)

        def die_with_parent() -> None:  # in the child before exec; survives the exec of bash and of java
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if sys.platform == "linux":
                libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

        # The parent that the kernel watches is this very thread: the main one. On other systems Spark's gateway ends by itself when the pipe closes.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2, env=environment, cwd=self.directory, preexec_fn=die_with_parent)  # noqa: S603, PLW1509

    def await_gateway(self) -> None:
        """Wait until Spark's gateway listens and let pyspark know where; RuntimeError when Spark ended first."""
        while not self._information.exists():
            if self.process.poll() is not None:
                message = f"Spark ended during its start with exit code {self.process.returncode}"
                raise RuntimeError(message)
            time.sleep(_GATEWAY_POLL_SECONDS)
        content = self._information.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = content[8 : 8 + length].decode()

    def kill(self) -> None:
        """End the JVM without letting it finish anything, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()


class _Driver:
    def __init__(self, output: _Output, settings: dict[str, Any]) -> None:
        self._output = output
        self._settings = settings
        self._jobs: dict[str, _Job] = {}
        self._sessions: queue.SimpleQueue[JavaObject] = queue.SimpleQueue()
        self._is_stopping = False
        self.jvm = _Jvm(settings)
        output.send("application.starting", java_pid=self.jvm.process.pid)

    def start(self) -> None:
        """Start the Spark application and one session for each job that may run at a time."""
        self.jvm.await_gateway()
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - half a second, in which Java starts
        from pyspark.sql import SparkSession  # noqa: PLC0415

        conf = SparkConf(loadDefaults=False)
        for key, value in self._settings["conf"].items():
            conf.set(key, value)
        self._context = SparkContext(conf=conf)
        self._gateway = cast("JavaObject", self._context._gateway)  # noqa: SLF001 - pyspark has no public way to the JVM
        self._java: JavaObject = self._gateway.jvm.java
        session = SparkSession(self._context)
        session.sql("SELECT 1").collect()
        for _ in range(self._settings["max_jobs"]):
            self._sessions.put(session.newSession())
        threading.Thread(target=self._watch_jvm, daemon=True).start()
        threading.Thread(target=self._watch_progress, daemon=True).start()
        self._output.send("application.started", application_id=self._context.applicationId, java_pid=self.jvm.process.pid)

    def run(self, job_id: str, statements: list[str], rows: str | None) -> None:
        if job_id not in self._jobs:
            job = self._jobs[job_id] = _Job(job_id, statements, rows)
            threading.Thread(target=self._run, args=(job,), daemon=True).start()  # a thread of its own: a late interrupt cannot hit another job

    def cancel(self, job_id: str) -> None:
        job = self._jobs.get(job_id)
        if job is not None and not job.is_cancelled.is_set():
            job.is_cancelled.set()
            threading.Thread(target=self._end, args=(job,), daemon=True).start()

    def stop(self) -> NoReturn:
        """Cancel what runs, end Spark, end this process."""
        self._is_stopping = True
        for job_id in list(self._jobs):
            self.cancel(job_id)
        deadline = time.monotonic() + _STOP_SECONDS
        for job in list(self._jobs.values()):
            job.is_over.wait(max(0, deadline - time.monotonic()))
        stopping = threading.Thread(target=self._context.stop, daemon=True)
        stopping.start()
        stopping.join(_STOP_SECONDS)
        self.jvm.kill()
        self._output.send("application.ended", reason="stopped")
        os._exit(0)

    def _run(self, job: _Job) -> None:
        session = self._sessions.get()
        try:
            self._carry_out(job, session)
        finally:
            self._sessions.put(session)
            self._jobs.pop(job.job_id, None)
            job.is_over.set()

    def _carry_out(self, job: _Job, session: JavaObject) -> None:
        if job.is_cancelled.is_set():
            self._output.send("job.cancelled", job=job.job_id)
            return
        self._output.send("job.started", job=job.job_id)
        result: dict[str, Any] = {}
        try:
            self._mark_thread(job)
            with gzip.open(job.rows or os.devnull, "wt", compresslevel=1, encoding="utf-8") as file:
                for number, statement in enumerate(job.statements):
                    self._output.send("statement.started", job=job.job_id, number=number, statement=statement)
                    frame = session.sql(statement)
                    result = _write_rows(frame, cast("IO[str]", file)) if job.rows else _first_row(frame)
                    self._output.send("statement.finished", job=job.job_id, number=number, result=result)
        except Exception as error:  # noqa: BLE001 - whatever Spark throws is the job's failure, reported by class and message
            causes = _causes(error)
        else:
            causes = []
        self._report_end(job, result, causes)

    def _report_end(self, job: _Job, result: dict[str, Any], causes: list[dict[str, str]]) -> None:
        """Say how the job ended, once no thread of it can commit any more."""
        if causes or job.is_cancelled.is_set():
            self._settle(job)
        if job.is_cancelled.is_set():
            self._output.send("job.cancelled", job=job.job_id, result=result)
        elif causes:
            self._output.send("job.failed", job=job.job_id, causes=causes)
        else:
            self._output.send("job.finished", job=job.job_id, result=result)

    def _mark_thread(self, job: _Job) -> None:
        """Give this thread's Java side a tag and a class loader of its own: the threads that Iceberg starts inherit both and can be told apart by them."""
        thread = self._java.lang.Thread.currentThread()
        no_urls = self._gateway.new_array(self._java.net.URL, 0)
        thread.setContextClassLoader(self._java.net.URLClassLoader(job.tag, no_urls, thread.getContextClassLoader()))
        self._context.addJobTag(job.tag)
        job.java_thread = thread

    def _threads(self, job: _Job) -> list[tuple[JavaObject, list[JavaObject]]]:
        """The job's Java threads with the frames that they are in."""
        traces = self._java.lang.Thread.getAllStackTraces()
        found = []
        for thread in traces.keySet().toArray():
            loader = thread.getContextClassLoader()
            if loader is not None and loader.getName() == job.tag:
                found.append((thread, list(traces.get(thread))))
        return found

    def _end(self, job: _Job) -> None:
        """Cancel the job's Spark jobs and interrupt its threads until it is over.

        Both are needed: with partial progress Iceberg takes a cancelled Spark job for a failed file group and goes on with the next. A thread that is in
        the middle of a commit is left to finish it.
        """
        deadline = time.monotonic() + _CANCEL_SECONDS
        while not job.is_over.wait(_CANCEL_ROUND_SECONDS):
            if time.monotonic() > deadline:
                self._output.send("application.ended", reason=f"job {job.job_id} did not end within {_CANCEL_SECONDS} s of its cancellation")
                self._die(_EXIT_JVM_GONE)
            if job.java_thread is not None:
                with contextlib.suppress(Exception):  # Spark may be ending too; the next round or the deadline decides
                    self._context.cancelJobsWithTag(job.tag)
                    for thread, frames in self._threads(job):
                        if _works_for_iceberg(frames) and not _commits(frames):
                            thread.interrupt()

    def _settle(self, job: _Job) -> None:
        """Wait until none of the threads that Iceberg started for the job can commit any more: they may outlive the CALL.

        An interrupted rewrite never closes its committer, which then spins without committing until the JVM ends: the application is retired for that.
        """
        own = job.java_thread
        if own is None:
            return
        self._java.lang.Thread.interrupted()  # an interruption meant for the CALL must not hit what follows
        deadline = time.monotonic() + _CANCEL_SECONDS
        quiet_rounds = 0
        spinning = False
        while quiet_rounds < _SETTLE_ROUNDS:
            if time.monotonic() > deadline:
                self._output.send("application.ended", reason=f"job {job.job_id} left threads that work on for {_CANCEL_SECONDS} s")
                self._die(_EXIT_JVM_GONE)
            time.sleep(_CANCEL_ROUND_SECONDS)
            working = [(thread, frames) for thread, frames in self._threads(job) if thread.getId() != own.getId() and _works_for_iceberg(frames)]
            spinning = any(thread.getName() == _COMMITTER for thread, _ in working)
            quiet = all(thread.getName() == _COMMITTER and not _commits(frames) for thread, frames in working)
            quiet_rounds = quiet_rounds + 1 if quiet else 0
        if spinning:
            self._output.send("application.worn", reason=f"job {job.job_id} left a thread of Iceberg that spins")

    def _watch_jvm(self) -> None:
        self.jvm.process.wait()
        if not self._is_stopping:
            self._output.send("application.ended", reason=f"Spark's JVM ended with exit code {self.jvm.process.returncode}")
            os._exit(_EXIT_JVM_GONE)

    def _watch_progress(self) -> None:
        """Report finished tasks of all tasks known so far, when they changed."""
        tracker = self._context._jsc.sc().statusTracker()  # noqa: SLF001 - the tags are not in pyspark's tracker
        while True:
            time.sleep(_PROGRESS_SECONDS)
            for job in list(self._jobs.values()):
                with contextlib.suppress(Exception):  # progress is a courtesy: a stage may be forgotten while it is looked at
                    self._report_progress(job, tracker)

    def _report_progress(self, job: _Job, tracker: JavaObject) -> None:
        stages = {stage for spark_job in tracker.getJobIdsForTag(job.tag) for stage in _stages(tracker, spark_job)}
        information = [tracker.getStageInfo(stage) for stage in sorted(stages)]
        known = [stage.get() for stage in information if stage.isDefined()]
        progress = sum(stage.numCompletedTasks() for stage in known), sum(stage.numTasks() for stage in known)
        if progress != job.progress and progress[1]:
            job.progress = progress
            self._output.send("spark.progress", job=job.job_id, tasks_done=progress[0], tasks_total=progress[1])

    def _die(self, code: int) -> NoReturn:
        self.jvm.kill()
        os._exit(code)


def _first_row(frame: JavaObject) -> dict[str, Any]:
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return rows[0] if rows else {}


def _write_rows(frame: JavaObject, file: IO[str]) -> dict[str, Any]:
    """One row a line between the schema and the number of rows: without that last line the statement was cut short."""
    file.write(json.dumps({"schema": frame.schema.jsonValue()}) + "\n")
    count = 0
    for row in frame.toLocalIterator():
        file.write(json.dumps(list(row)) + "\n")
        count += 1
    file.write(json.dumps({"rows": count}) + "\n")
    return {"rows": count}


def _stages(tracker: JavaObject, spark_job: int) -> list[int]:
    information = tracker.getJobInfo(spark_job)
    return list(information.get().stageIds()) if information.isDefined() else []


def _works_for_iceberg(frames: list[JavaObject]) -> bool:
    return any(frame.getClassName().startswith("org.apache.iceberg.") for frame in frames)


def _commits(frames: list[JavaObject]) -> bool:
    return any(frame.getClassName().startswith("org.apache.iceberg.") and "commit" in frame.getMethodName().lower() for frame in frames)


def _causes(error: BaseException) -> list[dict[str, str]]:
    """The error's chain of Java causes by class and message, outermost first; Python's own when there is no Java behind it."""
    throwable = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    causes: list[dict[str, str]] = []
    with contextlib.suppress(Exception):  # the JVM may be gone by now; what is known is enough
        while throwable is not None and len(causes) < _MAX_CAUSES:
            causes.append({"class": throwable.getClass().getName(), "message": str(throwable.getMessage() or "")[:_MAX_MESSAGE_CHARACTERS]})
            throwable = throwable.getCause()
    return causes or [{"class": type(error).__name__, "message": str(error)[:_MAX_MESSAGE_CHARACTERS]}]


def _read_messages(messages: queue.SimpleQueue[dict[str, Any]], jvms: list[_Jvm]) -> None:
    """Pass on what the daemon says; when it says no more, it is gone and everything ends."""
    for line in sys.stdin:
        messages.put(json.loads(line))
    _end_orphaned(jvms)


def _watch_parent(parent: int, jvms: list[_Jvm]) -> None:
    """The pipe alone is not enough: a process that the daemon forked may hold its other end open."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_SECONDS)
    _end_orphaned(jvms)


def _end_orphaned(jvms: list[_Jvm]) -> NoReturn:
    for jvm in jvms:
        with contextlib.suppress(ProcessLookupError):
            jvm.process.kill()
    os._exit(_EXIT_ORPHANED)


def main() -> None:
    """Serve the daemon until it says stop or is gone."""
    output = _Output()
    messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    jvms: list[_Jvm] = []
    threading.Thread(target=_watch_parent, args=(os.getppid(), jvms), daemon=True).start()
    threading.Thread(target=_read_messages, args=(messages, jvms), daemon=True).start()
    driver = _Driver(output, messages.get()["start"])
    jvms.append(driver.jvm)
    try:
        driver.start()
    except Exception as error:  # noqa: BLE001 - a Spark that does not start is an expected outcome
        output.send("application.failed", causes=_causes(error))
        driver.jvm.kill()
        os._exit(_EXIT_START_FAILED)
    while True:
        match messages.get():
            case {"run": {"id": str(job_id), "statements": list(statements), **more}}:
                driver.run(job_id, statements, cast("str | None", more.get("rows")))
            case {"cancel": str(job_id)}:
                driver.cancel(job_id)
            case {"stop": _}:
                driver.stop()
            case message:
                sys.stderr.write(f"the driver does not understand {sorted(message)}\n")


if __name__ == "__main__":
    main()
