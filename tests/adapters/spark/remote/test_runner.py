"""The runner on drivers that call home, from a job's submission to its end in another process."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from maintainer.adapters.spark.driver.lists.portions import pack, write_text
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher import LaunchPhase, LaunchState
from maintainer.adapters.spark.logs import copying
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.domain.driver import JobDriver
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job
from maintainer.ports.store.portions import Portion, PortionKind, PortionSet
from tests.adapters.spark.lakes import job_on, outcome_of, wait_until
from tests.adapters.spark.remote.sites import OPTIONS, Application, Site, open_quick_site

MINUTE = timedelta(minutes=1)
SECRETS = ("pass-phrase",)
ABOUT: dict[str, Any] = {
    "application_id": "a-1",
    "place": {"host": "pod-1", "pod": "pod-1", "process": 7},
    "versions": {"spark": "4.1.4", "scala": "2.13.17", "java": "21.0.8", "iceberg": "1.12.0"},
}
RESULT = {"rewritten_data_files_count": 6}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with open_quick_site(monkeypatch) as opened:
        yield opened


def runner_of(site: Site, owner: str) -> SparkRunner:
    return SparkRunner(
        OPTIONS,
        {"lake": {}},
        owner,
        "app",
        site.open(owner),
        OrphanFiles(site.store, owner),
        JobLogs(site.store, SECRETS),
        site.clock,
    )


def the_job(owner: str = "one") -> Job:
    return job_on(TableIdentifier("lake", ("db",), "t"), "job-1", owner=owner)


def at_work(site: Site, runner: SparkRunner) -> Application:
    """Its driver has started, and the job too."""
    runner.renew("job-1", MINUTE)
    runner.submit(the_job(runner.owner))
    application = site.application()
    application.poll_until(lambda: application.kinds == ["start", "run"])
    application.is_started = True
    application.say("application.started", **ABOUT)
    application.say("job.started", "job-1")
    application.say("statement.started", "job-1", index=0, statement="CALL", part="main")
    application.jobs["job-1"] = True
    application.poll()
    return application


def finish(application: Application) -> None:
    application.say("job.finished", "job-1", result=RESULT, checks={}, failure="")
    application.jobs.clear()
    application.poll()


def test_a_job_is_reported_from_its_start_to_its_end(site: Site) -> None:
    runner = runner_of(site, "one")
    application = at_work(site, runner)
    events: list[str] = []

    def is_working() -> bool:
        report = runner.report(the_job())
        assert report is not None
        events.extend(event.name for event in report.events)
        return "statement.started" in events

    wait_until(is_working)
    assert events == ["spark.submitted", "application.started", "statement.started"]
    finish(application)
    outcome = outcome_of(runner, the_job())
    assert (outcome.kind, outcome.result) == ("finished", RESULT)


def test_a_job_goes_on_with_the_next_process(site: Site) -> None:
    first, second = runner_of(site, "one"), runner_of(site, "two")
    application = at_work(site, first)
    wait_until(lambda: second.lives("one") is True)
    assert second.report(the_job()) is None, "its owner lives"
    site.processes[0].release()
    wait_until(lambda: second._source.lives("one") is False)
    assert second.lives("one") is False
    report = second.report(the_job())
    assert report is not None
    assert report.adopted
    assert report.is_started
    second.renew("job-1", 2 * MINUTE)
    wait_until(
        lambda: (
            site.store._drivers[application.spec.name].jobs["job-1"]
            == site.clock.now() + 2 * MINUTE
        )
    )
    finish(application)
    assert outcome_of(second, the_job()).kind == "finished"
    assert application.kinds == ["start", "run"], "nothing was ordered twice"


def test_a_job_goes_on_after_two_processes_though_the_store_names_the_first(site: Site) -> None:
    first, second, third = (runner_of(site, owner) for owner in ("one", "two", "three"))
    application = at_work(site, first)
    site.processes[0].release()
    wait_until(lambda: second._source.lives("one") is False)
    report = second.report(the_job())
    assert report is not None
    assert report.adopted
    wait_until(lambda: third._source.lives("two") is True)
    assert third.report(the_job()) is None, "the driver's process lives"
    site.processes[1].release()  # before the job was stored with its new owner
    wait_until(lambda: third._source.lives("two") is False)
    report = third.report(the_job())
    assert report is not None
    assert (report.adopted, report.outcome) == (True, None)
    finish(application)
    assert outcome_of(third, the_job()).kind == "finished"
    assert application.kinds == ["start", "run"], "nothing was ordered twice"


def test_a_job_that_ended_while_no_process_lived_is_not_lost(site: Site) -> None:
    first = runner_of(site, "one")
    application = at_work(site, first)
    site.processes[0].release()
    finish(application)
    second = runner_of(site, "two")
    wait_until(lambda: second._source.lives("one") is False)
    assert outcome_of(second, the_job()).kind == "finished"


def test_a_job_that_its_driver_has_yet_to_take_is_not_lost(site: Site) -> None:
    first, second = runner_of(site, "one"), runner_of(site, "two")
    first.renew("job-1", MINUTE)
    first.submit(the_job())
    application = site.application()
    wait_until(lambda: site.store.pending_jobs(application.spec.name) == ("job-1",))
    site.processes[0].release()
    wait_until(lambda: second._source.lives("one") is False)
    report = second.report(the_job())
    assert report is not None
    assert (report.adopted, report.outcome) == (True, None)
    application.poll_until(lambda: application.kinds == ["start", "run"])


def test_an_application_that_runs_out_of_memory_fails_its_job_for_that(site: Site) -> None:
    runner = runner_of(site, "one")
    application = at_work(site, runner)

    def has_started() -> bool:
        driver = runner.warm()
        return driver is not None and driver.is_started

    wait_until(has_started)
    site.launcher.states[f"app-{application.spec.name}"] = LaunchState(
        LaunchPhase.ENDED, "out of memory (exit code 137)", FailureReason.OUT_OF_MEMORY
    )
    outcome = outcome_of(runner, the_job())
    assert (outcome.kind, outcome.reason) == ("lost", FailureReason.OUT_OF_MEMORY)
    assert "137" in outcome.message


def test_an_application_that_cannot_start_fails_its_job_with_the_reason(site: Site) -> None:
    runner = runner_of(site, "one")
    runner.renew("job-1", MINUTE)
    runner.submit(the_job())
    site.launcher.states[f"app-{site.application().spec.name}"] = LaunchState(
        LaunchPhase.ENDED, "the image x cannot be pulled: not found"
    )
    outcome = outcome_of(runner, the_job())
    assert outcome.kind == "failed"
    assert "the image x cannot be pulled" in outcome.message


def test_what_the_cluster_says_of_a_driver_that_is_late_becomes_its_reason(site: Site) -> None:
    runner = runner_of(site, "one")
    runner.renew("job-1", MINUTE)
    runner.submit(the_job())
    site.launcher.states[f"app-{site.application().spec.name}"] = LaunchState(
        LaunchPhase.STARTING, "the image x cannot be pulled: not found"
    )
    driver = runner.warm()
    assert driver is not None
    wait_until(lambda: bool(driver.hindrance))
    runner._drivers._end_late(driver)
    assert str(driver.last_words["reason"]).startswith(
        "Spark did not start within 120 s; the image x cannot be pulled: not found; its log is "
    )


def test_what_cannot_be_launched_is_refused(site: Site) -> None:
    runner = runner_of(site, "one")
    site.launcher.error = RunnerUnavailableError("no quota")
    with pytest.raises(RunnerUnavailableError, match="no quota"):
        runner.submit(the_job())


def test_files_and_rows_travel_through_the_store(site: Site) -> None:
    runner = runner_of(site, "one")
    application = at_work(site, runner)
    (packed,) = pack(["a line"])
    portion = Portion(packed.lines, packed.data, packed.is_last)
    site.store.add_portion(PortionSet("job-1", PortionKind.LIST), 0, portion)
    application.say("files.wanted", "job-1", kind="list", first=0, count=1)
    application.poll_until(lambda: application.kinds[-1] == "bring")
    data = write_text(packed.data)
    application.say("job.rows", "job-1", portion=0, lines=1, is_last=True, data=data)
    application.poll_until(lambda: application.kinds[-1] == "stored")
    assert site.store.portion(PortionSet("job-1", PortionKind.ROWS), 0) == portion


def test_a_job_has_its_driver_with_what_that_has_reported(site: Site) -> None:
    runner = runner_of(site, "one")
    runner.renew("job-1", MINUTE)
    runner.submit(the_job())
    name = site.application().spec.name
    report = runner.report(the_job())
    assert report is not None
    assert report.driver == JobDriver(name), "nothing but its name is known"
    application = at_work(site, runner)
    known = JobDriver(name, "a-1", "pod-1", "pod-1", 7, "4.1.4", "2.13.17", "21.0.8", "1.12.0")
    wait_until(lambda: driver_of(runner) == known)
    finish(application)
    outcome_of(runner, the_job())
    assert driver_of(runner) == known


def driver_of(runner: SparkRunner) -> JobDriver | None:
    report = runner.report(the_job())
    assert report is not None
    return report.driver


def test_the_log_of_a_job_is_complete_when_its_driver_is_gone(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_EVERY_SECONDS", 0.02)
    runner, other = runner_of(site, "one"), runner_of(site, "two")
    site.launcher.log_text = "Spark starts with pass-phrase\n"
    handle = f"app-{at_work(site, runner).spec.name}"
    wait_until(lambda: (log := other.log(the_job(), 0)) is not None and bool(log.text))
    site.launcher.logs[handle] = f"{site.launcher.log_text}out of memory\n"
    site.launcher.states[handle] = LaunchState(LaunchPhase.ENDED, "exit code 137")
    wait_until(lambda: (log := other.log(the_job(), 0)) is not None and log.is_complete)
    wait_until(lambda: handle in site.launcher.ended)
    log = other.log(the_job(), 18)
    assert log is not None
    assert (log.text, log.start) == ("***\nout of memory\n", 18)
