"""The runner's record of each job that it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from signal import SIGHUP, SIGKILL, SIGTERM

from maintainer.adapters.spark.driver.clock import read_clock
from maintainer.adapters.spark.link import Driver
from maintainer.adapters.spark.options import DriverSize
from maintainer.adapters.spark.states import (
    classify,
    describe_failure,
    find_conflict,
    is_removed,
    is_severed,
    is_undecided,
)
from maintainer.domain.cost import ExecutorUse
from maintainer.domain.driver import Progress, Stage
from maintainer.domain.job import FailureReason, JobEvent, Outcome
from maintainer.domain.units import GIB, MIB
from maintainer.ports.runner import RunnerReport

# org.apache.spark.util.SparkExitCode.OOM: a task ran out of memory in the JVM
_EXIT_OUT_OF_MEMORY = 52
_KILLED = frozenset({-SIGKILL, -SIGTERM, -SIGHUP})
_MAX_REMEMBERED = 1_000  # jobs whose outcome has been reported
_MAX_EVENTS = 1_000  # of one job between two reports
# The activity of a job gets progress at most this often; each report has the newest figures.
_PROGRESS_EVENTS_EVERY = timedelta(seconds=5)
_ENVELOPE = frozenset({"event", "job", "number", "at"})
# These events are never acknowledged: without them the next daemon would take the job for lost.
_ENDS = frozenset({"job.finished", "job.cancelled", "job.failed"})
_PHASES = {
    Stage.PREPARING: "preparing",
    Stage.WORKING: "running on Spark",
    Stage.CHECKING: "checking the result",
}
# Stages by the part of the job to which a statement belongs.
_STAGES = {"before": Stage.PREPARING, "main": Stage.WORKING, "after": Stage.CHECKING}


@dataclass(slots=True)
class TrackedJob:
    """One job as the driver's messages describe it."""

    job_id: str
    carrier: str = ""  # the name of the job's driver
    is_started: bool = False
    progress: Progress = field(
        default_factory=lambda: Progress(phase="starting Spark", stage=Stage.STARTING)
    )
    events: list[JobEvent] = field(default_factory=list)
    outcome: Outcome | None = None
    progress_reported_at: datetime | None = None
    is_reported: bool = False  # the outcome has been reported
    # the numbers of the messages whose events are not yet in a report
    numbers: list[int] = field(default_factory=list)
    reported_numbers: list[int] = field(default_factory=list)  # of messages in the last report

    def tell(self, name: str, at: datetime, **fields: object) -> None:
        """Add an event to the job's activity."""
        if len(self.events) < _MAX_EVENTS:
            self.events.append(JobEvent(self.job_id, at, name, fields))

    def end(self, outcome: Outcome) -> None:
        """Set the outcome; the first outcome is kept."""
        if self.outcome is None:
            self.outcome = outcome
            answered = {"conflict": outcome.conflict.value} if outcome.conflict is not None else {}
            self.tell(
                f"spark.{outcome.kind}",
                outcome.ended_at,
                reason=outcome.reason.value if outcome.reason else None,
                message=outcome.message,
                **answered,
            )

    def acknowledge(self) -> list[int]:
        """Return the numbers of the messages that the driver can drop.

        When the next report is requested, the last report has been stored.
        """
        done, self.reported_numbers = self.reported_numbers, []
        return done

    def report(self) -> RunnerReport:
        """Return the current state; each event is reported once."""
        events, self.events = tuple(self.events), []
        self.reported_numbers, self.numbers = self.reported_numbers + self.numbers, []
        self.is_reported = self.outcome is not None
        return RunnerReport(self.job_id, self.is_started, self.progress, events, self.outcome)

    def hear(self, message: Mapping[str, object], at: datetime) -> None:
        """Take the driver's message about this job."""
        name = str(message.get("event"))
        number = message.get("number")
        if isinstance(number, int) and name not in _ENDS:
            self.numbers.append(number)
        fields = {key: value for key, value in message.items() if key not in _ENVELOPE}
        match name:
            case "spark.progress":
                self.progress = _read_progress(fields, self.progress, at)
                if (
                    self.progress_reported_at is None
                    or at - self.progress_reported_at >= _PROGRESS_EVENTS_EVERY
                ):
                    self.progress_reported_at = at
                    self.tell(name, at, **fields)
            case "job.finished":
                said = str(fields.get("failure") or "")
                result, checks = (read_result(fields.get(name)) for name in ("result", "checks"))
                self.end(_with_executors(_finish(result, at, checks, said), fields))
            case "job.cancelled" if fields.get("because"):
                reason = (
                    FailureReason.TIMEOUT if fields.get("is_overdue") else FailureReason.LOST_RUNNER
                )
                self.end(lost(at, str(fields["because"]), reason))
            case "job.cancelled":
                cancelled = Outcome("cancelled", at, read_result(fields.get("result")))
                self.end(_with_executors(cancelled, fields))
            case "job.failed":
                self.end(_with_executors(_fail(fields, at), fields))
            case _:
                self.is_started = True
                self._enter(name, str(fields.get("part")))
                if name != "job.started":
                    self.tell(name, at, **fields)

    def _enter(self, name: str, part: str) -> None:
        """Enter the stage that a message begins.

        A driver of an earlier version names no part; then the stage is the main work.
        """
        if name in {"job.started", "statement.started"}:
            stage = Stage.PREPARING if name == "job.started" else _STAGES.get(part, Stage.WORKING)
            self.progress = replace(self.progress, stage=stage, phase=_PHASES[stage])


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that waits until a driver has room for it."""

    tracked: TrackedJob
    size: DriverSize
    order: Mapping[str, object]


class TrackedJobs:
    """The runner's jobs, and how long jobs without a known driver may still work."""

    def __init__(self) -> None:
        self._jobs: dict[str, TrackedJob] = {}
        self._until: dict[str, float] = {}  # fences by read_clock

    def get(self, job_id: str) -> TrackedJob | None:
        """Return the record of a job; None if the job is unknown or forgotten."""
        return self._jobs.get(job_id)

    def remember(self, tracked: TrackedJob) -> TrackedJob:
        """Add the job, and forget the oldest jobs whose outcome has been reported."""
        reported = [job_id for job_id, known in self._jobs.items() if known.is_reported]
        for job_id in reported[: max(0, len(reported) - _MAX_REMEMBERED)]:
            del self._jobs[job_id]
        self._jobs[tracked.job_id] = tracked
        return tracked

    def unfinished(self, driver: Driver) -> list[TrackedJob]:
        """Return the jobs of the driver that have no outcome yet."""
        return [
            tracked
            for tracked in self._jobs.values()
            if tracked.outcome is None and tracked.carrier == driver.name
        ]

    def keep_validity(self, job_id: str, valid_for: timedelta) -> None:
        """Keep how long a job may work, until its driver is known."""
        self._until[job_id] = read_clock() + valid_for.total_seconds()
        for forgotten in list(self._until)[:-_MAX_REMEMBERED]:
            del self._until[forgotten]

    def take_validity(self, job_id: str) -> timedelta | None:
        """Return, only once, how long the job may still work; None if that is unknown."""
        until = self._until.pop(job_id, None)
        return None if until is None else timedelta(seconds=until - read_clock())


def _fail(fields: Mapping[str, object], at: datetime) -> Outcome:
    """Return the outcome of a failed job; after the main statement, only the proof has failed."""
    causes, result = read_causes(fields.get("causes")), fields.get("result")
    if result is None:
        return failure(causes, at, is_stopped=fields.get("is_stopped") is True)
    finished = _finish(read_result(result), at, read_result(fields.get("checks")))
    return replace(
        finished, check_failure=describe_failure(causes), check_failure_reason=classify(causes)
    )


def _with_executors(outcome: Outcome, fields: Mapping[str, object]) -> Outcome:
    """Add the executor time of the job, if its driver has counted it."""
    match fields.get("executors"):
        case {"seconds": float() | int() as seconds, "megabytes": int(megabytes)}:
            return replace(outcome, executors=ExecutorUse(float(seconds), megabytes * MIB / GIB))
        case _:
            return outcome


def _read_progress(fields: Mapping[str, object], now: Progress, at: datetime) -> Progress:
    def count(name: str) -> int | None:
        found = fields.get(name)
        return found if isinstance(found, int) else None

    left = fields.get("seconds_left")
    ends_at = at + timedelta(seconds=left) if isinstance(left, int | float) else None
    groups = count("file_groups_done"), count("file_groups_total")
    tasks = count("tasks_done"), count("tasks_total")
    return Progress(
        *tasks, now.phase, *groups, count("bytes_read"), count("bytes_written"), ends_at, now.stage
    )


def _finish(
    result: Mapping[str, int | str | None],
    at: datetime,
    checks: Mapping[str, int | str | None],
    said: str = "",
) -> Outcome:
    """Return the outcome of a finished job.

    With partial progress Iceberg reports success, without a reason, even if every file group
    failed. `said` is the reason from Spark.
    """
    failed = result.get("failed_data_files_count")
    causes = [("org.apache.spark.SparkException", said)] if said else []
    why = describe_failure(causes) if causes else "its log has the reason"
    if failed and not result.get("rewritten_data_files_count"):
        message = f"no data file was rewritten: {failed} of {failed} failed in Spark: {why}"
        return Outcome("failed", at, result, classify(causes), message)
    return Outcome(
        "finished",
        at,
        result,
        checks=checks,
        message=f"{failed} data files failed in Spark: {why}" if failed else "",
    )


def failure(causes: list[tuple[str, str]], at: datetime, *, is_stopped: bool = False) -> Outcome:
    """Return a failure with its reason and a message.

    If it is unknown whether the job committed, the job is lost, and the table decides. This
    includes a job whose Spark application was stopped (``is_stopped``): it may have any error.
    """
    if is_undecided(causes):
        return lost(
            at,
            f"the catalog did not say whether it made the commit: {describe_failure(causes)}",
            classify(causes),
        )
    if is_severed(causes):
        return lost(
            at, f"Spark's JVM no longer answered: {describe_failure(causes)}", classify(causes)
        )
    if is_stopped or is_removed(causes):
        return lost(
            at, f"Spark was stopped during the job: {describe_failure(causes)}", classify(causes)
        )
    return Outcome(
        "failed",
        at,
        reason=classify(causes),
        message=describe_failure(causes),
        conflict=find_conflict(causes),
    )


def blame(job_id: str, last_words: Mapping[str, object]) -> FailureReason:
    """Return the reason for a job whose driver has ended, from the driver's last words.

    If the driver was ended for a fence or for another job, this job is not the cause. If the driver
    died by itself, this job may be the cause, and could kill the next driver too. A JVM does not
    send itself a signal to end: another program did, such as the kernel for lack of memory.
    """
    code = last_words.get("exit_code")
    if code == _EXIT_OUT_OF_MEMORY:
        return FailureReason.OUT_OF_MEMORY
    if code in _KILLED and last_words.get("culprit") is None:
        return FailureReason.LOST_RUNNER
    if last_words.get("culprit") == job_id and last_words.get("is_overdue"):
        return FailureReason.TIMEOUT
    is_anothers = last_words.get("culprit") not in {None, job_id}
    return (
        FailureReason.LOST_RUNNER
        if is_anothers or last_words.get("is_fenced")
        else FailureReason.OTHER
    )


def lost(at: datetime, message: str, reason: FailureReason = FailureReason.LOST_RUNNER) -> Outcome:
    """Return the outcome of a job without a driver; the default reason is not the job's fault."""
    return Outcome("lost", at, reason=reason, message=message)


def read_causes(value: object) -> list[tuple[str, str]]:
    """Read the driver's chain of causes as (class, message)."""
    links = value if isinstance(value, list) else []
    return [
        (str(link.get("class")), str(link.get("message")))
        for link in links
        if isinstance(link, dict)
    ]


def read_result(value: object) -> dict[str, int | str | None]:
    """Read the row that the procedure returned."""
    row = value if isinstance(value, dict) else {}
    return {
        str(key): entry if isinstance(entry, int | str) or entry is None else str(entry)
        for key, entry in row.items()
    }


def read_instant(message: Mapping[str, object]) -> datetime:
    """Return when the driver made the message, which may have waited for a connection."""
    at = message["at"]
    return datetime.fromtimestamp(at if isinstance(at, int | float) else 0, UTC)


def outcome_of_end(driver: Driver, job_id: str, now: datetime, *, is_closed: bool) -> Outcome:
    if not driver.is_started:
        return _failed_start(driver, now)
    words = driver.last_words
    reason = FailureReason.LOST_RUNNER if is_closed else blame(job_id, words)
    return lost(now, str(words.get("reason") or "Spark's driver ended"), reason)


def _failed_start(driver: Driver, now: datetime) -> Outcome:
    """Explain why Spark did not start, by the driver's message or else by its log."""
    causes = read_causes(driver.last_words.get("causes"))
    if not causes or causes[0][0] == "RuntimeError":
        complaint = driver.find_complaint() or "no reason given"
        message = f"Spark ended during its start ({complaint}); its log is {driver.log}"
        causes = [("RunnerUnavailableError", message)]
    return failure(causes, now)
