"""Each job's share of its driver's log comes into the store, from where every replica reads it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from maintainer.adapters.spark.driver.job import begin_line, end_line
from maintainer.adapters.spark.link import Driver, LogPart
from maintainer.adapters.spark.logs import copying
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.domain.driver import JobLog
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.ports.store.jobs import MAX_LOG_CHARACTERS
from tests.adapters.spark.lakes import wait_until
from tests.fakes.adapters.store import FakeStore

BEGIN, END = begin_line("m-1"), end_line("m-1")


class Scribe:
    """A driver of which only the log is of interest."""

    def __init__(self, name: str = "spark-1", *, is_started: bool = True) -> None:
        self.name = name
        self.is_started = is_started
        self.is_ended = threading.Event()
        self.text = ""
        self.reads = 0
        self.error: Exception | None = None

    def read_log(self, since: int) -> LogPart:
        self.reads += 1
        if self.error is not None:
            raise self.error
        part = self.text[since : since + 300_000]
        end = since + len(part)
        return LogPart(part, end, has_more=end < len(self.text))

    @property
    def driver(self) -> Driver:
        return cast("Driver", cast("Any", self))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> FakeStore:
    monkeypatch.setattr(copying, "_EVERY_SECONDS", 0.005)
    return FakeStore()


@pytest.fixture
def logs(store: FakeStore) -> Iterator[JobLogs]:
    made = JobLogs(store, ("pass-phrase",))
    yield made
    store.broken = ""
    made.leave()


def log_of(logs: JobLogs, job_id: str = "m-1") -> str:
    found = logs.read(job_id, 0)
    return "" if found is None else found.text


def is_complete(logs: JobLogs, job_id: str = "m-1") -> Callable[[], bool]:
    def ask() -> bool:
        found = logs.read(job_id, 0)
        return found is not None and found.is_complete

    return ask


def test_the_job_that_starts_a_driver_has_all_of_its_log_as_it_grows(logs: JobLogs) -> None:
    scribe = Scribe(is_started=False)
    scribe.text = "Spark starts\n"
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) == "Spark starts\n")
    scribe.is_started = True
    scribe.text += f"{BEGIN}one\n"
    wait_until(lambda: log_of(logs) == f"Spark starts\n{BEGIN}one\n")
    scribe.text += f"two\n{END}of nobody\n"
    wait_until(is_complete(logs))
    assert log_of(logs) == f"Spark starts\n{BEGIN}one\ntwo\n{END}"
    assert logs.read("m-1", 13) == JobLog(
        f"{BEGIN}one\ntwo\n{END}", 13, is_complete=True, source=len(scribe.text)
    )


def test_a_job_of_a_warm_driver_has_what_was_written_while_it_ran(logs: JobLogs) -> None:
    scribe = Scribe()
    scribe.text = "of an earlier job\n"
    logs.follow("m-1", scribe.driver)
    scribe.text += f"idle\n{BEGIN}one\n{begin_line('m-2')}"
    logs.follow("m-2", scribe.driver)
    scribe.text += f"of both\n{END}two\n{end_line('m-2')}"
    wait_until(is_complete(logs, "m-2"))
    both = f"{begin_line('m-2')}of both\n"
    assert log_of(logs) == f"{BEGIN}one\n{both}{END}"
    assert log_of(logs, "m-2") == f"{both}{END}two\n{end_line('m-2')}"


def test_a_driver_without_jobs_is_not_read(logs: JobLogs) -> None:
    scribe, other = Scribe(), Scribe("spark-2")
    scribe.text = BEGIN + END
    logs.follow("m-1", scribe.driver)
    wait_until(is_complete(logs))
    reads = scribe.reads
    logs.follow("m-2", other.driver)
    wait_until(lambda: other.reads > reads + 5)
    assert scribe.reads == reads


def test_the_log_on_a_cluster_is_read_at_a_pace_of_its_own(
    store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_EVERY_SECONDS", 600)
    monkeypatch.setattr(copying, "_CLUSTER_SECONDS", 0.005)
    logs, scribe = JobLogs(store, (), is_on_cluster=True), Scribe()
    scribe.text = BEGIN + END
    logs.follow("m-1", scribe.driver)
    wait_until(is_complete(logs))
    logs.leave()


class Talkative(Scribe):
    """It writes faster than anybody reads."""

    def read_log(self, since: int) -> LogPart:
        self.text += "and another thing\n"
        return super().read_log(since)


def test_a_log_that_grows_is_read_once_in_a_round(logs: JobLogs) -> None:
    growing, still = Talkative(), Scribe("spark-2")
    growing.text = still.text = BEGIN
    logs.follow("m-2", still.driver)
    logs.follow("m-1", growing.driver)
    wait_until(lambda: still.reads > 20)
    assert 0 < growing.reads <= still.reads, "on a cluster each time is a call of its API"


def test_a_job_whose_last_line_never_comes_is_complete_all_the_same(logs: JobLogs) -> None:
    scribe = Scribe()
    scribe.text = f"{BEGIN}one\n"
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) == f"{BEGIN}one\n")
    logs.hear("m-1", {"event": "job.finished"})
    wait_until(is_complete(logs))


def test_the_last_words_of_a_driver_that_dies_belong_to_its_jobs(logs: JobLogs) -> None:
    scribe = Scribe()
    scribe.text = f"{BEGIN}one\n"
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) != "")
    scribe.text += "java.lang.OutOfMemoryError\n"
    scribe.is_ended.set()
    wait_until(is_complete(logs))
    assert log_of(logs) == f"{BEGIN}one\njava.lang.OutOfMemoryError\n"
    assert logs._sources == {}


def test_secrets_are_hidden_before_anything_is_stored(logs: JobLogs, store: FakeStore) -> None:
    scribe = Scribe()
    scribe.text = f"{BEGIN}uses pass-phrase at s3://k?sig=abcdef\n{END}"
    logs.follow("m-1", scribe.driver)
    wait_until(is_complete(logs))
    assert log_of(logs) == f"{BEGIN}uses *** at s3://k?sig=***\n{END}"
    assert "pass-phrase" not in str(store._logs)


def test_another_process_goes_on_where_the_first_one_stopped(
    logs: JobLogs, store: FakeStore
) -> None:
    scribe = Scribe(is_started=False)
    scribe.text = "Spark starts\n"
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) == "Spark starts\n")
    logs.leave()
    scribe.is_started = True
    scribe.text += f"{BEGIN}one\n"
    second = JobLogs(store, ())
    second.follow("m-1", scribe.driver)
    scribe.text += END
    wait_until(is_complete(second))
    assert log_of(second) == f"Spark starts\n{BEGIN}one\n{END}"
    second.leave()


def test_of_two_processes_that_copy_one_does(logs: JobLogs, store: FakeStore) -> None:
    """The first one was frozen while the second adopted the driver."""
    scribe = Scribe()
    scribe.text = BEGIN
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) == BEGIN)
    store.append_job_log("m-1", JobLog("two\n", len(BEGIN), source=99))
    scribe.text += "two\n"
    wait_until(lambda: not logs._sources[scribe.name].shares)
    assert log_of(logs) == f"{BEGIN}two\n"


def test_while_the_store_is_away_nothing_is_lost(logs: JobLogs, store: FakeStore) -> None:
    scribe = Scribe()
    scribe.text = BEGIN
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) == BEGIN)
    store.broken = "it is away"
    scribe.text += "one\n"
    reads = scribe.reads
    wait_until(lambda: scribe.reads > reads)
    scribe.text += END
    scribe.is_ended.set()
    store.broken = ""
    wait_until(is_complete(logs))
    assert log_of(logs) == f"{BEGIN}one\n{END}"


def test_a_log_that_cannot_be_read_now_is_read_later_and_said_once(
    logs: JobLogs, caplog: pytest.LogCaptureFixture
) -> None:
    scribe = Scribe()
    scribe.text = BEGIN + END
    scribe.error = RunnerUnavailableError("the API server is away")
    with caplog.at_level(logging.WARNING):
        logs.follow("m-1", scribe.driver)
        wait_until(lambda: scribe.reads > 5)
        scribe.error = None
        wait_until(is_complete(logs))
    assert [record.getMessage() for record in caplog.records] == [
        "job_log.not_copied driver=spark-1 reason=the API server is away"
    ]


def test_a_driver_that_another_process_has_adopted_is_let_go_without_an_end(
    logs: JobLogs,
) -> None:
    scribe = Scribe()
    scribe.text = BEGIN
    logs.follow("m-1", scribe.driver)
    wait_until(lambda: log_of(logs) == BEGIN)
    scribe.error = RunnerUnavailableError("another process has adopted it")
    scribe.is_ended.set()
    wait_until(lambda: not logs._sources)
    assert not is_complete(logs)()


def test_of_a_long_log_the_end_is_kept(logs: JobLogs) -> None:
    scribe = Scribe()
    scribe.text = BEGIN + f"{'x' * 99}\n" * 9_000 + END
    logs.follow("m-1", scribe.driver)
    wait_until(is_complete(logs))
    found = logs.read("m-1", 0)
    assert found is not None
    assert (found.next, len(found.text)) == (len(scribe.text), MAX_LOG_CHARACTERS)
    assert found.text.endswith(END)


def test_what_an_ended_driver_wrote_is_copied_before_the_process_ends(
    store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_EVERY_SECONDS", 600)
    logs = JobLogs(store, ())
    scribe = Scribe()
    scribe.text = f"{BEGIN}cancelled\n"
    logs.follow("m-1", scribe.driver)
    scribe.is_ended.set()
    logs.close()
    assert logs.read("m-1", 0) == JobLog(scribe.text, 0, is_complete=True, source=len(scribe.text))
    assert logs.read("m-2", 0) is None
