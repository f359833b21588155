from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import CancelledError
from functools import partial

import pytest

from maintainer.adapters.catalog.loop import (
    DaemonThreads,
    EventLoop,
    _SpareThreads,
    begin_aside,
    in_thread,
    iterate_aside,
    wait_for,
)

SECONDS = 5.0  # in which every waiting thread of these tests has to notice


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    made = EventLoop()
    yield made
    made.close()


@pytest.fixture
def never_set() -> Iterator[threading.Event]:
    """What hangs in a test hangs until its end."""
    event = threading.Event()
    yield event
    event.set()


def test_a_caller_that_is_asked_to_stop_does_not_wait_for_a_call_that_hangs(
    loop: EventLoop, never_set: threading.Event
) -> None:
    started = time.monotonic()
    with pytest.raises(CancelledError):
        loop.run(in_thread(never_set.wait), should_stop=lambda: True)
    assert time.monotonic() - started < SECONDS


def test_closing_the_loop_cancels_what_is_under_way_and_does_not_wait_for_threads(
    loop: EventLoop, never_set: threading.Event
) -> None:
    waiting = loop.submit(in_thread(never_set.wait))
    started = time.monotonic()
    loop.close()
    assert time.monotonic() - started < SECONDS
    with pytest.raises(CancelledError):
        wait_for(waiting)


def test_a_closed_loop_serves_again(loop: EventLoop) -> None:
    for _ in range(2):
        assert loop.run(in_thread(len, "four")) == 4
        loop.close()


def test_what_a_call_raises_reaches_who_waits(loop: EventLoop) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        loop.run(in_thread(int, "none"))


def test_calls_beside_the_loop_do_not_hold_it_up(
    loop: EventLoop, never_set: threading.Event
) -> None:
    async def both() -> str:
        hanging = asyncio.create_task(in_thread(never_set.wait))
        found = await in_thread(str, 1)
        hanging.cancel()
        return found

    assert loop.run(both()) == "1"


def test_threads_are_used_again_and_end_when_there_is_nothing_to_do(
    loop: EventLoop, monkeypatch: pytest.MonkeyPatch, never_set: threading.Event
) -> None:
    spare = _SpareThreads()
    monkeypatch.setattr("maintainer.adapters.catalog.loop._SPARE", spare)
    first = loop.run(in_thread(threading.current_thread))

    def wait_until_spare() -> None:
        """Its answer comes a moment before it is free."""
        deadline = time.monotonic() + SECONDS
        while not spare._free and first.is_alive():
            assert time.monotonic() < deadline

    wait_until_spare()
    monkeypatch.setattr("maintainer.adapters.catalog.loop.SPARE_SECONDS", 0.05)
    assert loop.run(in_thread(threading.current_thread)) is first
    wait_until_spare()
    began = threading.Event()

    def hang() -> None:
        began.set()
        never_set.wait()

    hanging = loop.submit(in_thread(hang))
    assert began.wait(SECONDS)
    assert loop.run(in_thread(threading.current_thread)) is not first, "which hangs"
    hanging.cancel()
    never_set.set()
    first.join(SECONDS)
    assert not first.is_alive()

    async def many() -> list[int]:
        return await asyncio.gather(*[in_thread(int, str(number)) for number in range(200)])

    for _ in range(20):
        assert loop.run(many()) == list(range(200))


def test_a_stream_ends_when_its_reader_is_asked_to_stop_although_it_hangs(
    never_set: threading.Event,
) -> None:
    def stream() -> Iterator[int]:
        yield 1
        never_set.wait()
        yield 2

    is_stopped = threading.Event()
    started = time.monotonic()
    for item in iterate_aside(stream(), is_stopped.is_set):
        assert item == 1
        is_stopped.set()
    assert time.monotonic() - started < SECONDS


def test_a_stream_is_whole_and_in_order_when_nobody_stops_it() -> None:
    assert list(iterate_aside(iter(range(5000)), lambda: False)) == list(range(5000))


def test_the_error_that_ends_a_stream_reaches_its_reader() -> None:
    def stream() -> Iterator[int]:
        yield 1
        message = "broken"
        raise OSError(message)

    items = iterate_aside(stream(), lambda: False)
    assert next(items) == 1
    with pytest.raises(OSError, match="broken"):
        next(items)


def test_a_pool_of_daemon_threads_keeps_its_width_and_its_order() -> None:
    now, most = 0, 0
    lock = threading.Lock()

    def work(number: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.001)
        with lock:
            now -= 1
        return number

    pool = DaemonThreads(3, "test")
    assert list(pool.map(work, range(50))) == list(range(50))
    assert 1 < most <= 3
    pool.shutdown()


def test_the_errors_of_a_pool_are_its_callers() -> None:
    pool = DaemonThreads(1, "test")
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 // 0).result(SECONDS)
    assert pool.submit(len, "abc").result(SECONDS) == 3
    pool.shutdown(cancel_futures=True)


class _Large:
    """Stands for a file of many megabytes."""


def test_nothing_keeps_what_a_failed_call_has_read(loop: EventLoop) -> None:
    """Without a collection of garbage, which is rare: a refused file may be large."""
    kept: list[weakref.ref[_Large]] = []

    def fail() -> None:
        large = _Large()
        kept.append(weakref.ref(large))
        message = f"refused: {large!r}"
        raise ValueError(message)

    gc.disable()
    try:
        with pytest.raises(ValueError, match="refused"):
            loop.run(in_thread(fail))
        assert kept[0]() is None
    finally:
        gc.enable()


def test_a_waiting_thread_keeps_no_argument_of_its_last_call() -> None:
    large = _Large()
    kept = weakref.ref(large)
    done = begin_aside(partial(repr, large))
    assert done.result(10)
    del large, done
    deadline = time.monotonic() + SECONDS
    while kept() is not None:
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
