from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.job import Job
from maintainer.scheduler import Scheduler, Step
from tests.fakes.adapters.telemetry import FakeTelemetry
from tests.samples import job_of_manifests

OFTEN = timedelta(milliseconds=20)
RARELY = timedelta(hours=1)
JOB = job_of_manifests()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited 20 s in vain"
        threading.Event().wait(0.01)


def has_ended(scheduler: Scheduler, name: str) -> bool:
    return any(state.name == name and state.took is not None for state in scheduler.states)


@pytest.fixture
def telemetry() -> FakeTelemetry:
    return FakeTelemetry()


@pytest.fixture
def make(telemetry: FakeTelemetry) -> Iterator[Callable[..., Scheduler]]:
    made: list[Scheduler] = []

    def build(*steps: Step) -> Scheduler:
        made.append(Scheduler(steps, telemetry))
        return made[-1]

    yield build
    for scheduler in made:
        scheduler.stop()


def test_every_step_runs_at_once_and_again_at_its_interval(make: Callable[..., Scheduler]) -> None:
    often, rarely = threading.Semaphore(0), threading.Semaphore(0)
    make(
        Step("watch", often.release, OFTEN, starts_work=False),
        Step("scan", rarely.release, RARELY, starts_work=True),
    ).start()
    for _ in range(3):
        assert often.acquire(timeout=20)
    assert rarely.acquire(timeout=20)
    assert not rarely.acquire(blocking=False)


def test_a_step_follows_what_another_has_done_at_once_and_only_then(
    make: Callable[..., Scheduler],
) -> None:
    ended, runs = iter([0, 0, 2, 0]), threading.Semaphore(0)
    scheduler = make(
        Step("watch", lambda: next(ended), RARELY, starts_work=False),
        Step("submit", runs.release, RARELY, starts_work=True, after_work_of="watch"),
    )
    scheduler.start()
    assert runs.acquire(timeout=20), "its first run, as that of every step"
    wait_for(lambda: has_ended(scheduler, "watch"))
    assert scheduler.run_step("watch")
    assert not runs.acquire(timeout=0.2), "nothing has ended"
    assert scheduler.run_step("watch")
    assert runs.acquire(timeout=20), "two jobs have ended: others may start"
    assert scheduler.run_step("watch")
    assert not runs.acquire(timeout=0.2)


def test_two_runs_of_one_step_never_overlap(make: Callable[..., Scheduler]) -> None:
    running, most, runs = [0], [0], [0]
    lock = threading.Lock()

    def step() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        threading.Event().wait(0.05)
        with lock:
            running[0] -= 1
            runs[0] += 1

    scheduler = make(Step("scan", step, timedelta(milliseconds=1), starts_work=True))
    scheduler.start()
    others = [threading.Thread(target=scheduler.run_step, args=("scan",)) for _ in range(8)]
    for thread in others:
        thread.start()
    wait_for(lambda: runs[0] >= 3)
    for thread in others:
        thread.join()
    assert most[0] == 1


def test_a_failing_step_is_logged_counted_and_run_again(
    make: Callable[..., Scheduler], telemetry: FakeTelemetry, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([StoreUnavailableError("the disk is full"), ZeroDivisionError("a defect")])
    succeeded = threading.Event()

    def step() -> None:
        error = next(failures, None)
        if error is not None:
            raise error
        succeeded.set()

    with caplog.at_level(logging.WARNING, "maintainer.scheduler"):
        make(Step("scan", step, OFTEN, starts_work=True)).start()
        assert succeeded.wait(20)
    wait_for(lambda: len(telemetry.steps) >= 3)
    assert telemetry.steps[:3] == [("scan", False), ("scan", False), ("scan", True)]
    assert "step.failed step=scan error=the disk is full" in caplog.text
    assert "a defect" in caplog.text


def test_a_run_that_finds_the_step_running_says_so(make: Callable[..., Scheduler]) -> None:
    entered, release = threading.Event(), threading.Event()

    def step() -> None:
        entered.set()
        release.wait(20)

    scheduler = make(Step("scan", step, RARELY, starts_work=True))
    thread = threading.Thread(target=scheduler.run_step, args=("scan",))
    thread.start()
    assert entered.wait(20)
    assert scheduler.run_step("scan") is False
    release.set()
    thread.join()
    assert has_ended(scheduler, "scan")
    assert scheduler.run_step("scan") is True


def test_a_drain_starts_nothing_new_and_waits_for_what_runs(make: Callable[..., Scheduler]) -> None:
    left = [JOB]
    started = [0]

    def submit() -> None:
        started[0] += 1

    looks = [0]

    def watch() -> None:
        looks[0] += 1
        if looks[0] >= 3:
            left.clear()

    scheduler = make(
        Step("submit", submit, OFTEN, starts_work=True),
        Step("watch", watch, RARELY, starts_work=False),
    )
    scheduler.start()
    wait_for(lambda: started[0])
    cancelled: list[Job] = []
    scheduler.drain(lambda: list(left), cancelled.append, timedelta(seconds=20))
    assert not left
    assert cancelled == []
    count = started[0]
    threading.Event().wait(0.1)  # five intervals of the step that must not run
    assert started[0] == count


def test_what_does_not_finish_in_time_is_cancelled(make: Callable[..., Scheduler]) -> None:
    left = [JOB]

    def cancel(job: Job) -> None:
        left.remove(job)

    scheduler = make(Step("watch", lambda: None, RARELY, starts_work=False))
    scheduler.start()
    scheduler.drain(lambda: list(left), cancel, timedelta(0))
    assert left == []


def test_a_step_follows_at_once_the_one_whose_work_it_needs(make: Callable[..., Scheduler]) -> None:
    order: list[str] = []
    measured, planned = threading.Event(), threading.Semaphore(0)

    def scan() -> None:
        measured.wait(20)
        order.append("scan")

    def plan() -> None:
        order.append("plan")
        planned.release()

    make(
        Step("scan", scan, RARELY, starts_work=True),
        Step("plan", plan, RARELY, starts_work=True, after="scan"),
    ).start()
    assert planned.acquire(timeout=20), "it runs once at the start, with nothing measured yet"
    measured.set()
    assert planned.acquire(timeout=20), "and again, long before its interval is over"
    assert order == ["plan", "scan", "plan"]


def test_a_step_follows_each_step_of_a_kind(make: Callable[..., Scheduler]) -> None:
    planned = threading.Semaphore(0)
    scheduler = make(
        Step("scan lake", lambda: None, RARELY, starts_work=True, kind="scan"),
        Step("scan pond", lambda: None, RARELY, starts_work=True, kind="scan"),
        Step("watch", lambda: None, RARELY, starts_work=False),
        Step("plan", planned.release, RARELY, starts_work=True, after="scan"),
    )
    assert [scheduler._followers[name] for name in ("scan lake", "scan pond", "watch")] == [
        ["plan"],
        ["plan"],
        [],
    ]


def test_a_failed_step_has_no_follower(
    make: Callable[..., Scheduler], telemetry: FakeTelemetry
) -> None:
    followed = threading.Semaphore(0)

    def scan() -> None:
        message = "the disk is full"
        raise StoreUnavailableError(message)

    make(
        Step("scan", scan, RARELY, starts_work=True),
        Step("plan", followed.release, RARELY, starts_work=True, after="scan"),
    ).start()
    assert followed.acquire(timeout=20)
    wait_for(lambda: len(telemetry.steps) == 2)
    assert not followed.acquire(timeout=0.2)


def test_a_step_that_takes_long_rests_in_proportion(make: Callable[..., Scheduler]) -> None:
    runs: list[float] = []
    scheduler = make(
        Step(
            "queue", lambda: runs.append(time.monotonic()), OFTEN, starts_work=True, rest_factor=1e9
        )
    )
    assert scheduler.run_step("queue")
    assert not scheduler.run_step("queue")
    assert len(runs) == 1


def test_a_step_whose_end_meets_the_schedulers_end_does_not_hold_it_up(
    make: Callable[..., Scheduler], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = make(
        Step("scan", lambda: None, RARELY, starts_work=True),
        Step("plan", lambda: None, RARELY, starts_work=True, after="scan"),
    )
    hastening, ending = threading.Event(), threading.Event()
    inner = scheduler._apscheduler
    hasten = inner.modify_job

    def hasten_late(*arguments: object, **changes: object) -> object:
        hastening.set()
        assert ending.wait(20)
        deadline = time.monotonic() + 0.5  # an end that does not wait for this is begun by then
        while inner.running and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        return hasten(*arguments, **changes)

    monkeypatch.setattr(inner, "modify_job", hasten_late)
    scheduler.start()
    assert hastening.wait(20)
    stopping = threading.Thread(target=scheduler.stop, daemon=True)
    ending.set()
    stopping.start()
    stopping.join(20)
    assert not stopping.is_alive(), "the end waits for a step that waits for the end"


def test_a_step_that_hangs_is_left_and_does_not_keep_the_process(
    make: Callable[..., Scheduler], caplog: pytest.LogCaptureFixture
) -> None:
    entered, release = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def hang() -> None:
        threads.append(threading.current_thread())
        entered.set()
        release.wait(20)

    scheduler = make(Step("submit", hang, RARELY, starts_work=True))
    scheduler.start()
    assert entered.wait(20)
    begun = time.monotonic()
    scheduler.stop(timedelta(milliseconds=50))
    assert time.monotonic() - begun < 10
    assert "step.left step=submit" in caplog.text
    assert threads[0].daemon
    release.set()


def test_after_the_end_no_step_begins(make: Callable[..., Scheduler]) -> None:
    runs: list[str] = []
    scheduler = make(Step("watch", lambda: runs.append("watch"), RARELY, starts_work=False))
    scheduler.stop()
    assert not scheduler.run_step("watch")
    assert runs == []
