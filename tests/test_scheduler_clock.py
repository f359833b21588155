"""Somebody sets the machine's clock while the daemon runs: its steps must not notice."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from apscheduler.executors import base as executors
from apscheduler.schedulers import base as schedulers

from maintainer.scheduler import Scheduler, Step
from tests.fakes.adapters.telemetry import FakeTelemetry

OFTEN = timedelta(milliseconds=20)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Puts APScheduler's clock forward or back."""
    steps = [timedelta(0)]

    class Set(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return (datetime.now(UTC) + steps[0]).astimezone(tz)

    for module in (schedulers, executors):
        monkeypatch.setattr(module, "datetime", Set)
    return lambda step: steps.__setitem__(0, step)


@pytest.fixture
def runs() -> Iterator[threading.Semaphore]:
    counted = threading.Semaphore(0)
    scheduler = Scheduler(
        (Step("watch", counted.release, OFTEN, starts_work=False),), FakeTelemetry()
    )
    scheduler.start()
    yield counted
    ending = threading.Thread(target=scheduler.stop, daemon=True)
    ending.start()
    ending.join(20)
    assert not ending.is_alive(), "the scheduler does not end"


@pytest.mark.parametrize("step", [timedelta(days=400), timedelta(hours=-2)])
def test_a_step_goes_on_at_its_interval_when_the_clock_is_set(
    step: timedelta, set_clock: Callable[[timedelta], None], runs: threading.Semaphore
) -> None:
    assert runs.acquire(timeout=20)
    set_clock(step)
    for _ in range(5):
        assert runs.acquire(timeout=20)
    set_clock(timedelta(0))
    for _ in range(5):
        assert runs.acquire(timeout=20)


def test_a_step_that_is_still_running_is_skipped_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    entered, release = threading.Event(), threading.Event()
    beats = threading.Semaphore(0)

    def work() -> None:
        entered.set()
        release.wait(20)

    scheduler = Scheduler(
        (
            Step("scan", work, OFTEN, starts_work=True),
            Step("watch", beats.release, OFTEN * 5, starts_work=False),
        ),
        FakeTelemetry(),
    )
    with caplog.at_level(logging.WARNING):
        scheduler.start()
        assert entered.wait(20)
        for _ in range(5):  # the long step was due many times meanwhile
            assert beats.acquire(timeout=20)
        release.set()
        scheduler.stop()
    assert caplog.text == ""
