"""Work that passes its time limit: nobody waits for it, and there is never much of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import timedelta
from threading import Event

import pytest

from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import FaultKind, TableFault, TableInventory
from maintainer.measure.health import measure
from maintainer.steps import isolation
from maintainer.steps.isolation import (
    Abandoned,
    CrowdedError,
    StoppedError,
    TimeLimit,
    TookTooLongError,
)
from maintainer.steps.plan import plan
from maintainer.steps.scan import ScanOptions, scan
from tests.api.listening import DEADLINE_SECONDS, wait_for
from tests.steps.world import World

SHORT = timedelta(milliseconds=50)


@pytest.fixture
def abandoned(monkeypatch: pytest.MonkeyPatch) -> Abandoned:
    """The counted threads of this test alone."""
    counted = Abandoned(2)
    monkeypatch.setattr(isolation, "ABANDONED", counted)
    return counted


@pytest.fixture
def released(abandoned: Abandoned) -> Iterator[Event]:
    """What ends the work of the test; set at the end, so that no thread outlives it."""
    event = Event()
    yield event
    event.set()
    wait_for(lambda: not abandoned.names())


def hang(name: str, released: Event) -> None:
    with pytest.raises(TookTooLongError, match="it took longer than"):
        TimeLimit(SHORT).run(name, lambda: released.wait(DEADLINE_SECONDS))


def test_no_thread_is_interrupted_at_an_arbitrary_instruction() -> None:
    assert "ctypes" not in inspect.getsource(isolation)


def test_work_in_time_gives_its_result_and_work_that_fails_its_error(abandoned: Abandoned) -> None:
    assert TimeLimit().run("adding", lambda: 1 + 1) == 2
    with pytest.raises(ZeroDivisionError):
        TimeLimit().run("dividing", lambda: 1 // 0)
    assert abandoned.names() == ()


def test_what_takes_too_long_is_counted_and_does_not_begin_again_before_it_has_ended(
    abandoned: Abandoned, released: Event, caplog: pytest.LogCaptureFixture
) -> None:
    hang("planning a", released)
    assert abandoned.names() == ("planning a",)
    assert "work.abandoned work='planning a' running=1 most=2" in caplog.text
    begun: list[str] = []
    with pytest.raises(TookTooLongError, match="its last run, which took too long, has not ended"):
        TimeLimit().run("planning a", lambda: begun.append("a"))
    TimeLimit().run("planning b", lambda: begun.append("b"))
    assert begun == ["b"]
    released.set()
    wait_for(lambda: not abandoned.names())
    TimeLimit().run("planning a", lambda: begun.append("a"))
    assert begun == ["b", "a"]


def test_what_people_ask_for_does_not_keep_the_daemon_from_its_own_work(
    abandoned: Abandoned, released: Event
) -> None:
    previews = Abandoned(most=1)
    limit = TimeLimit(SHORT, abandoned=previews)
    with pytest.raises(TookTooLongError):
        limit.run("rescuing a", lambda: released.wait(DEADLINE_SECONDS))
    with pytest.raises(CrowdedError):
        limit.run("rescuing b", lambda: None)
    assert (previews.names(), abandoned.names()) == (("rescuing a",), ())
    TimeLimit().run("planning a", lambda: None)
    released.set()
    wait_for(lambda: not previews.names())


def test_nothing_begins_while_too_much_runs_on_after_its_limit(
    abandoned: Abandoned, released: Event
) -> None:
    hang("planning a", released)
    hang("planning b", released)
    with pytest.raises(
        CrowdedError,
        match=r"^planning c waits, because 2 pieces of work run on after their time limit$",
    ):
        TimeLimit().run("planning c", lambda: None)
    assert abandoned.names() == ("planning a", "planning b")
    released.set()
    wait_for(lambda: not abandoned.names())
    TimeLimit().run("planning c", lambda: None)


def test_work_of_a_process_that_ends_is_not_waited_for(
    abandoned: Abandoned, released: Event
) -> None:
    with pytest.raises(StoppedError):
        TimeLimit(should_stop=lambda: True).run("a", lambda: released.wait(DEADLINE_SECONDS))
    assert abandoned.names() == ()


def test_a_table_whose_measurement_takes_too_long_costs_its_fault_and_one_thread(
    abandoned: Abandoned, released: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    endless, other = world.put("endless"), world.put("other")

    def never_ends(found: TableInventory) -> TableHealth:
        while found.table == endless and not released.is_set():
            pass
        return measure(found)

    monkeypatch.setattr("maintainer.steps.table.measure", never_ends)
    options = ScanOptions(timeout=timedelta(milliseconds=300))
    for reason in ("it took longer than", "its last run, which took too long"):
        [fault] = scan(world.ports, options=options).faults
        assert isinstance(fault, TableFault)
        assert (fault.table, fault.kind) == (endless, FaultKind.FAILED)
        assert fault.reason.startswith(f"measuring was stopped: {reason}")
        assert abandoned.names() == (f"measuring {endless}",)
        world.commit(other)
    record = world.store.table(other)
    assert record is not None
    assert record.health is not None


def test_tables_wait_without_a_fault_while_too_much_runs_on_after_its_limit(
    abandoned: Abandoned, released: Event
) -> None:
    world = World()
    orders = world.put("orders")
    hang("planning a", released)
    hang("planning b", released)
    scanned = scan(world.ports)
    assert (scanned.measured, scanned.faults, scanned.is_complete) == (0, [], False)
    released.set()
    wait_for(lambda: not abandoned.names())
    assert scan(world.ports).measured == 1
    again = Event()
    try:
        hang("planning a", again)
        hang("planning b", again)
        assert plan(world.ports) == 0
        record = world.store.table(orders)
        assert record is not None
        assert (record.plan, record.fault) == (None, None)
    finally:
        again.set()
    wait_for(lambda: not abandoned.names())
    assert plan(world.ports) == 1
