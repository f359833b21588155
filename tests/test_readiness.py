"""When the daemon says that it is ready, and when it does not."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from maintainer import scheduler as scheduling
from maintainer.adapters.store import SqlStore
from maintainer.app import App, open_app
from maintainer.app.api import make_context
from maintainer.app.loop import make_scheduler
from maintainer.scheduler import LEAST_PATIENCE, Scheduler, Step, StepState
from maintainer.settings import load_settings
from tests.adapters.catalog.lake import Lake, rows
from tests.fakes.adapters.telemetry import FakeTelemetry

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def write_configuration(home: Path, catalogs: str) -> Path:
    (home / "policies").mkdir(exist_ok=True)
    file = home / "maintainer.yaml"
    file.write_text(f"catalogs: {{{catalogs}}}\nscan: {{decode_processes: 0}}\n")
    return file


def refused(app: App, scheduler: Scheduler) -> dict[str, str]:
    """What does not work, with the sentence on it."""
    return {
        name: sentence
        for name, is_ok, sentence in make_context(app, scheduler).readiness()
        if not is_ok
    }


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    lake = Lake(tmp_path)
    lake.make_table("sales", "orders").append(rows(1))
    yield tmp_path
    lake.close()


@pytest.fixture
def app(home: Path) -> Iterator[App]:
    file = write_configuration(
        home, "lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}"
    )
    with open_app(load_settings(file, {})) as opened:
        yield opened


def test_a_daemon_is_ready_before_and_after_its_first_scan(app: App) -> None:
    scheduler = make_scheduler(app)
    assert refused(app, scheduler) == {}
    assert scheduler.run_step("scan lake")
    assert refused(app, scheduler) == {}


def test_a_slow_catalog_keeps_no_other_waiting_and_is_not_reached(home: Path) -> None:
    lake = "{type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}"
    file = write_configuration(home, f"lake: {lake}, slow: {lake}")
    with open_app(load_settings(file, {})) as app:
        scheduler = make_scheduler(app)
        answer = threading.Event()
        slow = app.ports.catalogs["slow"]
        poll = slow.poll

        def poll_late(*arguments: Any) -> Any:
            answer.wait(60)
            return poll(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(slow, "poll", poll_late)
            waiting = threading.Thread(target=scheduler.run_step, args=("scan slow",))
            waiting.start()
            try:
                assert scheduler.run_step("scan lake")
                assert app.reach.reached == {"lake"}
            finally:
                answer.set()
                waiting.join()
        assert app.reach.reached == {"lake", "slow"}


def test_a_store_that_cannot_be_written_makes_it_not_ready(app: App) -> None:
    scheduler = make_scheduler(app)
    store = app.ports.store
    assert isinstance(store, SqlStore)

    @event.listens_for(store._database.engine, "checkout")
    def protect(connection: sqlite3.Connection, *_rest: object) -> None:
        connection.execute("PRAGMA query_only = ON")

    assert store.describe()
    assert "readonly" in refused(app, scheduler)["store"]


def test_a_deleted_store_makes_it_not_ready(app: App, home: Path) -> None:
    scheduler = make_scheduler(app)
    (home / "maintainer.db").rename(home / "aside.db")
    assert "deleted" in refused(app, scheduler)["store"]


def test_a_daemon_that_has_never_reached_its_only_catalog_is_not_ready(home: Path) -> None:
    (home / "catalog.db").rename(home / "away.db")
    (home / "catalog.db").mkdir()
    file = write_configuration(
        home, "lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}"
    )
    with open_app(load_settings(file, {})) as app:
        scheduler = make_scheduler(app)
        scheduler.run_step("scan lake")
        assert "none reached since the start: lake: " in refused(app, scheduler)["catalogs"]
        (home / "catalog.db").rmdir()
        (home / "away.db").rename(home / "catalog.db")
        assert scheduler.run_step("scan lake")
        assert refused(app, scheduler) == {}


def test_a_daemon_whose_catalog_went_away_is_ready(app: App, home: Path) -> None:
    scheduler = make_scheduler(app)
    assert scheduler.run_step("scan lake")
    with closing(sqlite3.connect(home / "catalog.db")) as database, database:
        database.execute("DROP TABLE iceberg_tables")
        database.execute("DROP TABLE iceberg_namespace_properties")
    scheduler.run_step("scan lake")
    assert [fault.catalog for fault in app.ports.store.catalog_faults()] == ["lake"]
    assert refused(app, scheduler) == {}


@pytest.mark.parametrize(
    ("pause", "took", "patience"),
    [
        (MINUTE, None, LEAST_PATIENCE),
        (HOUR, None, 3 * HOUR),
        (MINUTE, HOUR, 3 * HOUR),
        (HOUR, MINUTE, 3 * HOUR),
    ],
)
def test_a_step_is_late_after_three_intervals_or_three_times_what_it_takes(
    pause: timedelta, took: timedelta | None, patience: timedelta
) -> None:
    assert not StepState("scan", pause, patience, took, is_running=True).is_late
    assert StepState("scan", pause, patience + timedelta(seconds=1), took, is_running=True).is_late


def test_a_step_that_never_ends_makes_it_not_ready(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "LEAST_PATIENCE", timedelta(milliseconds=50))
    entered, release = threading.Event(), threading.Event()

    def hang() -> None:
        entered.set()
        release.wait(20)

    scheduler = Scheduler(
        (Step("scan", hang, timedelta(milliseconds=10), starts_work=True),), FakeTelemetry()
    )
    scheduler.start()
    try:
        assert entered.wait(20)
        deadline = time.monotonic() + 20
        while "scan" not in refused(app, scheduler):
            assert time.monotonic() < deadline, "a scan that hangs goes unnoticed"
            threading.Event().wait(0.01)
        assert "its first run has not ended in" in refused(app, scheduler)["scan"]
        assert "; running, expected within" in refused(app, scheduler)["scan"]
    finally:
        release.set()
        scheduler.stop()


def test_a_step_that_rests_in_proportion_to_its_work_is_not_late_meanwhile() -> None:
    scheduler = Scheduler(
        (
            Step(
                "queue",
                lambda: threading.Event().wait(0.01),
                MINUTE,
                starts_work=True,
                rest_factor=1e6,
            ),
        ),
        FakeTelemetry(),
    )
    assert scheduler.run_step("queue")
    (state,) = scheduler.states
    assert state.pause > HOUR
    assert not state.is_running
