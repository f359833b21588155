"""Remote drivers from the side of their owner: orders, messages, ends and adoption."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher import LaunchPhase, LaunchState
from maintainer.adapters.spark.link import LogPart
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.remote import drivers as source
from maintainer.adapters.spark.remote.driver import FENCE_MARGIN
from maintainer.adapters.spark.remote.drivers import RemoteDrivers
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import FailureReason
from tests.adapters.spark.lakes import wait_until
from tests.adapters.spark.link.polls import LONGEST
from tests.adapters.spark.remote.sites import OPTIONS, SMALL, Heard, Site, open_quick_site

MINUTE = timedelta(minutes=1)
RUN = {"id": "j", "statements": ["SELECT 1"]}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with open_quick_site(monkeypatch) as opened:
        yield opened


def test_a_driver_is_started_with_what_it_needs_and_its_settings_go_over_the_link(
    site: Site,
) -> None:
    driver = site.open("one").start(SMALL, Heard())
    (spec,) = site.launcher.specs
    assert (spec.name, spec.installation, spec.address) == (driver.name, "abc", "https://home:1")
    assert (spec.memory, spec.authority) == ("2g", "PEM")
    assert "s3cret" not in str(spec)
    assert driver.is_caught_up.is_set()
    assert driver.megabytes == 2048
    application = site.application()
    application.poll()
    (order,) = application.taken
    assert order["start"]["secret"] == "s3cret"  # noqa: S105 - a secret of this test
    application.poll()
    assert "s3cret" not in str(site.store._drivers)


def test_jobs_go_there_and_messages_come_back(site: Site) -> None:
    heard = Heard()
    driver = site.open("one").start(SMALL, heard)
    application = site.application()
    driver.run(RUN, MINUTE)
    application.poll_until(lambda: application.kinds == ["start", "run"])
    application.say("application.started", application_id="a")
    application.say("job.finished", "j", result={})
    application.poll()
    wait_until(lambda: heard.events == ["application.started", "job.finished"])
    assert driver.is_started
    driver.cancel("j")
    driver.cancel("j")
    application.poll_until(lambda: application.kinds == ["start", "run", "cancel"])
    driver.acknowledge([2])
    wait_until(lambda: not site.store.hear("one", {driver.name: 0}).messages)


def test_a_renewal_with_the_same_end_writes_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease is renewed once in many rounds, and each round renews the runner."""
    written = []
    renew = site.store.renew_driver_job

    def count(name: str, owner: str, job_id: str, until: datetime) -> bool:
        written.append(until)
        return renew(name, owner, job_id, until)

    monkeypatch.setattr(site.store, "renew_driver_job", count)
    driver = site.open("one").start(SMALL, Heard())
    driver.run(RUN, MINUTE)
    for left in (60, 50, 40):
        driver.renew("j", timedelta(seconds=left))
        site.clock.advance(timedelta(seconds=10))
    driver.renew("j", 2 * MINUTE)
    until = site.clock.now() + 2 * MINUTE
    wait_until(lambda: site.store._drivers[driver.name].jobs.get("j") == until)
    assert written == [until]
    driver.renew("j", MINUTE)
    wait_until(lambda: len(written) == 2)


def test_what_waits_is_sent_before_a_process_leaves(site: Site) -> None:
    process = site.open("one")
    driver = process.start(SMALL, Heard())
    site.store.broken = "gone"
    driver.cancel("j")
    site.store.broken = ""
    process.release()
    application = site.application()
    application.poll()
    assert application.kinds == ["start", "cancel"]


def test_orders_wait_while_the_store_is_away(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    application = site.application()
    site.store.broken = "gone"
    driver.run(RUN, MINUTE)
    driver.renew("j", 2 * MINUTE)
    driver.cancel("j")
    site.store.broken = ""
    application.poll_until(lambda: application.kinds == ["start", "run", "cancel"])


def test_a_job_whose_order_is_too_long_fails(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fakes.adapters.store_drivers.MAX_ORDER_BYTES", 500)
    heard = Heard()
    driver = site.open("one").start(SMALL, heard)
    driver.run(RUN | {"statements": ["x" * 1000]}, MINUTE)
    driver.run({"id": "k"}, MINUTE)
    application = site.application()
    application.poll_until(lambda: application.kinds == ["start", "run"])
    assert [message["event"] for message in heard.messages] == ["job.failed"]
    assert heard.messages[0]["job"] == "j"


def test_what_cannot_be_launched_leaves_no_driver(site: Site) -> None:
    process = site.open("one")
    site.launcher.error = RunnerUnavailableError("no quota")
    with pytest.raises(RunnerUnavailableError, match="no quota"):
        process.start(SMALL, Heard())
    assert site.store.drivers() == ()


def test_a_driver_that_says_its_end_has_ended(site: Site) -> None:
    heard = Heard()
    driver = site.open("one").start(SMALL, heard)
    application = site.application()
    application.say("application.started")
    application.say("application.ended", reason="stopped", exit_code=7)
    application.poll()
    assert driver.is_ended.wait(10)
    assert heard.events == ["application.started", "application.ended"]
    assert driver.last_words["exit_code"] == 7
    wait_until(lambda: site.launcher.ended == [f"app-{driver.name}"])
    wait_until(lambda: heard.ends == [driver])


def test_a_process_that_leaves_first_removes_what_has_ended(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, end = threading.Event(), site.launcher.end

    def end_late(handle: str) -> None:
        gate.wait()
        end(handle)

    monkeypatch.setattr(site.launcher, "end", end_late)
    opened = site.open("one")
    driver = opened.start(SMALL, Heard())
    application = site.application()
    application.say("application.ended", reason="stopped")
    application.poll()
    assert driver.is_ended.wait(10)
    leaving = threading.Thread(target=opened.release)
    leaving.start()
    leaving.join(0.3)
    assert leaving.is_alive()
    gate.set()
    leaving.join()
    assert site.launcher.ended == [f"app-{driver.name}"]


def test_what_was_said_before_an_end_on_the_cluster_is_heard_first(site: Site) -> None:
    heard = Heard()
    driver = site.open("one").start(SMALL, heard)
    application = site.application()
    application.say("job.finished", "j", result={})
    application.poll()
    state = LaunchState(LaunchPhase.ENDED, "out of memory", FailureReason.OUT_OF_MEMORY)
    site.launcher.states[f"app-{driver.name}"] = state
    assert driver.is_ended.wait(10)
    assert heard.events == ["job.finished"]
    assert driver.last_words["reason"] == "out of memory"
    assert driver.last_words["exit_code"] == 52
    assert driver.find_complaint() == "Error: no room"


@pytest.mark.parametrize("phase", [LaunchPhase.GONE, LaunchPhase.RUNNING])
def test_a_silent_driver_has_ended_when_its_fence_has_passed_and_not_before(
    site: Site, monkeypatch: pytest.MonkeyPatch, phase: LaunchPhase
) -> None:
    driver = site.open("one").start(SMALL, Heard())
    application = site.application()
    driver.run(RUN, MINUTE)
    application.poll_until(lambda: application.kinds == ["start", "run"])
    monkeypatch.setattr(source, "SILENT_SECONDS", 0.0)
    site.launcher.states[f"app-{driver.name}"] = LaunchState(phase)
    driver.renew("j", 10 * MINUTE)
    wait_until(lambda: site.store._drivers[driver.name].jobs["j"] > site.clock.now() + 9 * MINUTE)
    site.clock.advance(MINUTE + FENCE_MARGIN)
    assert not driver.is_ended.wait(0.3), "its clock may be slow"
    site.clock.advance(timedelta(seconds=1))
    assert driver.is_ended.wait(10), "it has never heard of the renewal"
    reason = "no longer exists" if phase is LaunchPhase.GONE else "did not poll"
    assert reason in str(driver.last_words["reason"])
    assert application.poll(), "it comes back too late"


def test_a_driver_that_polls_again_is_not_given_up(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    application = site.application()
    application.poll()
    was = site.store.drivers()[0]
    application.poll()
    reason = "it seemed silent"
    assert not site.store.end_driver(driver.name, reason, site.clock.now(), was.polls)
    assert not driver.is_ended.is_set()
    assert not application.poll()


def test_who_is_given_up_is_refused_and_has_ended_with_its_fence(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    application = site.application()
    driver.run(RUN, MINUTE)
    application.poll_until(lambda: application.kinds == ["start", "run"])
    driver.give_up("too slow")
    wait_until(lambda: application.poll() == "too slow")
    wait_until(lambda: f"app-{driver.name}" in site.launcher.ended)
    assert not driver.is_ended.is_set()
    site.clock.advance(MINUTE + 2 * FENCE_MARGIN)
    assert driver.is_ended.wait(10)
    assert driver.last_words["reason"] == "too slow"


def test_who_never_had_a_job_has_ended_as_soon_as_it_is_given_up(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    driver.give_up("too slow")
    assert driver.is_ended.wait(10)


def test_stopping_waits_for_the_end_and_forces_it(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    driver.stop()
    assert driver.is_ended.is_set()
    assert "did not end within" in str(driver.last_words["reason"])


def test_a_driver_is_adopted_with_its_jobs_and_messages(site: Site) -> None:
    first, second = site.open("one"), site.open("two")
    lost, heard = Heard(), Heard()
    driver = first.start(SMALL, lost)
    application = site.application()
    application.is_started = True
    driver.run(RUN, MINUTE)
    application.poll_until(lambda: application.kinds == ["start", "run"])
    application.say("job.started", "j")
    application.poll()
    driver.run({"id": "later"}, MINUTE)
    wait_until(lambda: "later" in site.store.pending_jobs(driver.name))
    wait_until(lambda: second.lives("one") is True)
    assert second.left_behind("one") is None
    first.release()
    wait_until(lambda: second.lives("one") is False)
    assert second.left_behind("one") == (driver.name,)
    adopted = second.adopt(driver.name, heard)
    assert adopted is not None
    assert adopted.is_caught_up.wait(10)
    assert heard.events == ["hello", "job.started", "replayed"]
    assert heard.messages[0]["jobs"] == {"j": False, "later": False}
    assert adopted.is_started
    assert adopted.fingerprint == driver.fingerprint
    adopted.cancel("later")
    application.poll_until(lambda: application.kinds == ["start", "run", "run", "cancel"])


def test_a_process_that_lost_its_driver_to_another_notices(site: Site) -> None:
    first, second = site.open("one"), site.open("two")
    lost = Heard()
    driver = first.start(SMALL, lost)
    assert second.adopt(driver.name, Heard()) is not None
    assert driver.is_ended.wait(10)
    assert "another process has adopted" in str(driver.last_words["reason"])
    assert site.launcher.ended == []
    assert first.adopt("unknown", Heard()) is None


def test_a_heart_that_stops_is_noticed(site: Site) -> None:
    site.store.beat("dead", site.clock.now())
    process = site.open("one", dead_after=timedelta(seconds=0.5))
    assert process.lives("one")
    assert process.lives("dead") is True
    assert process.lives("never seen") is None
    wait_until(lambda: process.lives("dead") is False)
    assert process.orphaned_owners() == []


def test_drivers_of_the_dead_without_jobs_are_ended(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = site.open("one")
    driver = first.start(SMALL, Heard())
    first.release()
    monkeypatch.setattr(source, "_SWEEP_AFTER_SECONDS", 0.0)
    site.open("two")
    application = site.application()
    application.poll_until(lambda: "stop" in application.kinds)
    assert site.store.drivers()[0].owner == "two"
    assert driver.name == site.store.drivers()[0].name


def test_a_job_that_nobody_renewed_may_work_for_the_longest_time(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    driver.run(RUN, None)
    wait_until(lambda: site.store.pending_jobs(driver.name) == ("j",))
    assert site.store._drivers[driver.name].jobs["j"] == site.clock.now() + LONGEST


def runner_on(site: Site, drivers: RemoteDrivers) -> SparkRunner:
    files = OrphanFiles(site.store, "command")
    return SparkRunner(
        OPTIONS, (), "command", "app", drivers, files, JobLogs(site.store, ()), site.clock
    )


def test_a_command_that_ends_leaves_the_drivers_of_a_daemon_that_has_left(site: Site) -> None:
    first = site.open("daemon")
    name = first.start(SMALL, Heard()).name
    first.release()
    command = site.open("command")
    assert command.orphaned_owners() == ["daemon"]
    runner_on(site, command).close()
    record = site.store.driver(name)
    assert record is not None
    assert (record.owner, record.ended_at) == ("daemon", None)


def test_a_command_that_adopted_a_job_leaves_it_to_the_next_daemon(site: Site) -> None:
    first = site.open("daemon")
    driver = first.start(SMALL, Heard())
    application = site.application()
    application.is_started = True
    driver.run(RUN, MINUTE)
    application.poll_until(lambda: application.kinds == ["start", "run"])
    first.release()
    command = runner_on(site, site.open("command"))
    assert command.lives("daemon") is False, "its driver is adopted now"
    command.close()
    application.poll()
    assert application.kinds == ["start", "run"], "nobody has ended it"
    record = site.store.driver(driver.name)
    assert record is not None
    assert (record.owner, record.ended_at) == ("command", None)


def test_the_rest_of_a_log_is_read_before_its_application_is_deleted(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    handle = f"app-{driver.name}"
    site.launcher.logs[handle] = "one\n"
    assert driver.read_log(0).text == "one\n"
    site.launcher.logs[handle] += "last words\n"
    driver.give_up("it takes too long")
    wait_until(lambda: handle in site.launcher.ended)
    assert driver.read_log(4) == LogPart("last words\n", 15)
    assert driver.read_log(15) == LogPart("", 15)


def test_the_log_of_a_driver_that_another_process_has_adopted_is_not_read(site: Site) -> None:
    driver = site.open("one").start(SMALL, Heard())
    site.store.adopt_driver(driver.name, "one", "two")
    assert driver.is_ended.wait(10)
    with pytest.raises(RunnerUnavailableError, match="another process has adopted"):
        driver.read_log(0)
    assert f"app-{driver.name}" not in site.launcher.ended
