from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock

import pytest

from maintainer.adapters.catalog.side_by_side import Abreast

HUGE = "huge"


class Work:
    """Futures that a test finishes; an item that begins with "huge" says so when it may."""

    def __init__(self) -> None:
        self.started: list[tuple[str, bool]] = []
        self.waiting: dict[str, Future[str]] = {}
        self.is_released = False

    def start(self, item: str, may_be_put_off: bool) -> Future[str]:
        self.started.append((item, may_be_put_off))
        future: Future[str] = Future()
        if not item.startswith(HUGE):
            future.set_result(item)
        elif may_be_put_off:
            future.set_result(HUGE)
        elif self.is_released:
            future.set_result(item)
        else:
            self.waiting[item] = future
        return future

    def release(self) -> None:
        """Let the huge ones end."""
        self.is_released = True
        while self.waiting:
            item, future = self.waiting.popitem()
            future.set_result(item)


def is_huge(found: str) -> bool:
    return found == HUGE


@pytest.mark.parametrize("width", [1, 2, 8])
def test_tiny_tables_are_done_before_the_huge_ones_that_were_there_first(width: int) -> None:
    work = Work()
    tiny = [f"tiny-{number}" for number in range(100)]
    order: list[str] = []
    for item, _ in Abreast(work.start, is_huge, width).run(["huge-1", "huge-2", "huge-3", *tiny]):
        order.append(item)
        if len(order) == len(tiny):  # nothing but the huge ones is left
            work.release()
    assert order[: len(tiny)] == tiny
    assert sorted(order[len(tiny) :]) == ["huge-1", "huge-2", "huge-3"]
    assert sum(not may for _, may in work.started) == 3


def test_no_more_are_under_way_than_the_width_and_items_are_asked_for_one_by_one() -> None:
    now, most, asked = 0, 0, 0
    lock = Lock()

    def items() -> Iterator[str]:
        nonlocal asked
        for number in range(30):
            asked += 1
            yield f"tiny-{number}"

    def work(item: str) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        Event().wait(0.002)
        with lock:
            now -= 1
        return item

    with ThreadPoolExecutor(10) as executor:

        def start(item: str, _may: bool) -> Future[str]:
            return executor.submit(work, item)

        for done, _ in enumerate(Abreast(start, is_huge, 3).run(items())):
            assert asked <= done + 1 + 3
    assert (asked, most) == (30, 3)


def test_what_is_under_way_is_cancelled_when_it_is_to_stop() -> None:
    futures: list[Future[str]] = []

    def start(_item: str, _may: bool) -> Future[str]:
        futures.append(Future())
        return futures[-1]

    started = time.monotonic()
    assert list(Abreast(start, is_huge, 2).run(["a", "b", "c"], lambda: len(futures) == 2)) == []
    assert time.monotonic() - started < 5
    assert [future.cancelled() for future in futures] == [True, True]


def test_what_is_under_way_is_cancelled_when_the_caller_has_enough() -> None:
    work = Work()
    run = Abreast(work.start, is_huge, 2).run(["huge-1", "tiny"])
    assert next(run)[0] == "tiny"
    run.close()  # type: ignore[attr-defined]  # a generator
    assert all(future.cancelled() for future in work.waiting.values())


def test_an_error_is_its_items() -> None:
    def start(item: str, _may: bool) -> Future[str]:
        future: Future[str] = Future()
        if item == "bad":
            future.set_exception(ValueError("bad"))
        else:
            future.set_result(item)
        return future

    found = {
        item: future.exception()
        for item, future in Abreast(start, is_huge, 2).run(["a", "bad", "c"])
    }
    assert (found["a"], found["c"]) == (None, None)
    assert isinstance(found["bad"], ValueError)
