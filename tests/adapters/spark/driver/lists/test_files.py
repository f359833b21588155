"""The driver asks for portions of files, a few at a time, until each has come."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest

from maintainer.adapters.spark.driver.lists import files as module
from maintainer.adapters.spark.driver.lists.files import Files
from maintainer.adapters.spark.driver.lists.portions import pack, write_text
from tests.adapters.spark.driver.sayings import Sayings
from tests.adapters.spark.lakes import wait_until


class Asking:
    """A job that asks on a thread of its own."""

    def __init__(self) -> None:
        self.output, self.is_cancelled = Sayings(), Event()
        self.files = Files("j", self.output, self.is_cancelled)
        self.pool = ThreadPoolExecutor(1)

    def receive(self, first: int, count: int) -> Future[list[str]]:
        return self.pool.submit(lambda: list(self.files.receive("list", first, count)))

    def await_request(self, number: int) -> dict[str, object]:
        wait_until(lambda: len(self.output.said) >= number)
        return self.output.said[number - 1]

    def bring(self, number: int, text: str, kind: str = "list") -> None:
        (packed,) = pack([text])
        self.files.take({"kind": kind, "portion": number, "data": write_text(packed.data)})


@pytest.fixture
def asking() -> Iterator[Asking]:
    made = Asking()
    yield made
    made.is_cancelled.set()
    made.pool.shutdown()


def test_portions_come_in_any_order_and_are_read_in_theirs(asking: Asking) -> None:
    received = asking.receive(3, 2)
    assert asking.await_request(1) == {
        "event": "files.wanted",
        "job": "j",
        "kind": "list",
        "first": 3,
        "count": 2,
    }
    asking.bring(4, "second")
    asking.bring(3, "first")
    assert received.result(10) == ["first", "second"]


def test_no_more_are_asked_for_than_it_holds_at_once(asking: Asking) -> None:
    received = asking.receive(0, 10)
    assert asking.await_request(1)["count"] == 8
    for number in range(8):
        asking.bring(number, f"line {number}")
    assert (asking.await_request(2)["first"], asking.await_request(2)["count"]) == (8, 2)
    asking.bring(8, "line 8")
    asking.bring(9, "line 9")
    assert received.result(10) == [f"line {number}" for number in range(10)]
    assert len(asking.output.said) == 2


def test_what_nobody_asked_for_is_dropped(asking: Asking) -> None:
    asking.bring(0, "too early")
    received = asking.receive(0, 1)
    asking.await_request(1)
    asking.bring(1, "another portion")
    asking.bring(0, "another kind", kind="listing")
    assert asking.files._brought == {}
    asking.bring(0, "this one")
    assert received.result(10) == ["this one"]


def test_a_request_without_an_answer_is_made_again(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REPEAT_SECONDS", 0.05)
    received = asking.receive(0, 2)
    asking.await_request(1)
    asking.bring(0, "first")
    wait_until(lambda: asking.output.said[-1]["first"] == 1)
    asking.bring(1, "second")
    assert received.result(10) == ["first", "second"]


def test_a_portion_that_does_not_exist_fails_the_job_with_the_reason(asking: Asking) -> None:
    received = asking.receive(0, 1)
    asking.await_request(1)
    asking.files.take({"kind": "list", "portion": 0, "error": "it is not in the store"})
    with pytest.raises(RuntimeError, match="it is not in the store"):
        received.result(10)


def test_a_job_that_is_cancelled_waits_no_longer(asking: Asking) -> None:
    received = asking.receive(0, 1)
    asking.await_request(1)
    asking.is_cancelled.set()
    with pytest.raises(RuntimeError, match="cancelled"):
        received.result(10)
