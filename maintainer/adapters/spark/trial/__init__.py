"""Tries a pool: a driver is started, reports its facts, runs statements, and is ended."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from itertools import count
from queue import Empty, SimpleQueue

from maintainer.adapters.spark.facts import read_facts
from maintainer.adapters.spark.link import Driver, DriverSource
from maintainer.adapters.spark.options import RunnerOptions
from maintainer.adapters.spark.states import describe_failure
from maintainer.adapters.spark.tracking import (
    outcome_of_end,
    read_causes,
    read_instant,
    read_result,
)
from maintainer.domain.driver import SparkFacts
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.pool import JobSize

_FACTS_TIMEOUT = timedelta(seconds=60)  # the driver needs up to 30 s for its catalogs
_END_TIMEOUT = timedelta(seconds=90)  # for the end of a cancelled job or of a killed driver
_WORKS = "application.started"
_FACTS = "application.facts"
_ENDED = "ended"  # an event of this module: the driver and its JVM have ended
_JOB_ENDS = frozenset({"job.finished", "job.failed", "job.cancelled"})


class Trial:
    """One driver of a pool. Always call `close`, which ends this driver and no other."""

    def __init__(self, source: DriverSource, options: RunnerOptions) -> None:
        self._source = source
        self._options = options
        self._heard: SimpleQueue[Mapping[str, object]] = SimpleQueue()
        self._driver: Driver | None = None
        self._numbers = count(1)

    def start(self) -> SparkFacts:
        """Start the driver and return its facts; RunnerUnavailableError if that fails."""
        try:
            size = self._options.driver_of(JobSize.SMALL)
            driver = self._driver = self._source.start(size, self)
        except OSError as error:
            raise RunnerUnavailableError(str(error)) from error
        timeout = self._options.start_timeout
        self._await({_WORKS}, timeout, f"the driver did not start within {_write(timeout)}")
        said = self._await(
            {_FACTS}, _FACTS_TIMEOUT, f"the driver of {driver.log} did not report its versions"
        ).get("facts")
        return read_facts(said if isinstance(said, Mapping) else {}, "", self._options.pool)

    def run(self, statements: Sequence[str], timeout: timedelta) -> Mapping[str, int | str | None]:
        """Run the statements and return the last row; RunnerUnavailableError if that fails."""
        driver = self._driver
        if driver is None:
            raise RunnerUnavailableError("the driver was not started")
        job_id = f"{driver.name}-trial-{next(self._numbers)}"
        driver.run({"id": job_id, "statements": list(statements)}, timeout)
        try:
            end = self._await(_JOB_ENDS, timeout, f"no result within {_write(timeout)}", job_id)
        except RunnerUnavailableError:
            driver.cancel(job_id)
            with contextlib.suppress(RunnerUnavailableError):
                self._await(_JOB_ENDS, _END_TIMEOUT, "", job_id)
            raise
        if end["event"] != "job.finished":
            raise RunnerUnavailableError(describe_failure(read_causes(end.get("causes"))))
        return read_result(end.get("result"))

    def close(self) -> None:
        """End the driver, wait for its end, and release the owner's name."""
        driver = self._driver
        if driver is not None and driver.is_started:
            driver.stop()
        elif driver is not None:
            driver.give_up("its trial has ended")
            driver.is_ended.wait(_END_TIMEOUT.total_seconds())
        self._source.release()

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        number = message.get("number")
        if isinstance(number, int):
            driver.acknowledge([number])
        self._heard.put(message)

    def ended(self, driver: Driver) -> None:
        del driver
        self._heard.put({"event": _ENDED, "at": time.time()})

    def _await(
        self, events: Collection[str], timeout: timedelta, late: str, job_id: str | None = None
    ) -> Mapping[str, object]:
        """Return the first of these events, of this job if a job is named."""
        driver = self._driver
        deadline = time.monotonic() + timeout.total_seconds()
        while driver is not None:
            try:
                message = self._heard.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                why = driver.hindrance or driver.find_complaint() or f"see {driver.log}"
                raise RunnerUnavailableError(f"{late}; {why}") from None
            if message.get("event") in events and job_id in {None, message.get("job")}:
                return message
            if message.get("event") == _ENDED:
                end = outcome_of_end(driver, "", read_instant(message), is_closed=False)
                raise RunnerUnavailableError(end.message)
        raise RunnerUnavailableError(late)


def _write(timeout: timedelta) -> str:
    return f"{timeout.total_seconds():g} s"
