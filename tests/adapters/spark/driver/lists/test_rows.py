"""The driver sends rows in portions, a few at a time, and ends when all are stored."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from maintainer.adapters.spark.driver.lists import portions, rows
from maintainer.adapters.spark.driver.lists.portions import read_text, unpack
from maintainer.adapters.spark.driver.lists.rows import Rows
from tests.adapters.spark.driver.sayings import Sayings
from tests.adapters.spark.lakes import wait_until


def frame(*found: str) -> Any:
    """A frame of one column, as far as it is asked."""
    schema = SimpleNamespace(jsonValue=dict)
    return SimpleNamespace(schema=schema, toLocalIterator=lambda: iter([(row,) for row in found]))


class Sending:
    """A job that sends on a thread of its own."""

    def __init__(self) -> None:
        self.output, self.is_cancelled = Sayings(), Event()
        self.rows = Rows("j", self.output, self.is_cancelled)
        self.pool = ThreadPoolExecutor(1)

    def send(self, *found: str, is_complete: bool = True) -> Future[None]:
        def run() -> None:
            self.rows.write(frame(*found))
            self.rows.end(is_complete=is_complete)

        return self.pool.submit(run)

    def sent(self) -> list[int]:
        return [message["portion"] for message in self.output.said]

    def lines(self) -> list[str]:
        texts = [unpack(read_text(message["data"])) for message in self.output.said]
        return [line for text in texts if text for line in text.split("\n")]


@pytest.fixture
def sending(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sending]:
    monkeypatch.setattr(portions, "_ENOUGH_RAW_BYTES", 1)  # every line is a portion
    made = Sending()
    yield made
    made.is_cancelled.set()
    made.pool.shutdown()


def test_the_schema_the_rows_and_their_number_come_in_order(sending: Sending) -> None:
    done = sending.send("a", is_complete=True)
    wait_until(lambda: sending.sent() == [0, 1, 2, 3])
    assert not done.done(), "it ends when all are stored"
    for portion in range(4):
        sending.rows.confirm(portion, "")
    assert done.result(10) is None
    assert sending.lines() == ['{"schema": {}}', '["a"]', '{"rows": 1}']
    assert [message["is_last"] for message in sending.output.said] == [False, False, False, True]
    assert [message["lines"] for message in sending.output.said] == [1, 1, 1, 0]


def test_no_more_are_on_their_way_than_the_bound(sending: Sending) -> None:
    done = sending.send(*"abcdef")
    wait_until(lambda: len(sending.sent()) == 4)
    sending.rows.confirm(0, "")
    wait_until(lambda: len(sending.sent()) == 5)
    for portion in range(1, 9):
        wait_until(lambda portion=portion: portion in sending.sent())  # type: ignore[misc]
        sending.rows.confirm(portion, "")
    done.result(10)
    assert sending.sent() == list(range(9))


def test_what_nobody_confirms_is_sent_again(
    sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_REPEAT_SECONDS", 0.05)
    done = sending.send()
    wait_until(lambda: sending.sent().count(2) > 1)
    for portion in (2, 1, 0, 0):
        sending.rows.confirm(portion, "")
    done.result(10)


def test_rows_that_cannot_be_stored_fail_the_job_with_the_reason(sending: Sending) -> None:
    done = sending.send(*"abcdef")
    wait_until(lambda: len(sending.sent()) == 4)
    sending.rows.confirm(0, "it has 9 bytes; the limit is 8")
    with pytest.raises(RuntimeError, match="the job's rows cannot be stored: it has 9 bytes"):
        done.result(10)


def test_a_job_that_fails_sends_the_rest_without_waiting(sending: Sending) -> None:
    sending.send(is_complete=False).result(10)
    assert [message["is_last"] for message in sending.output.said] == [False, False, False]


def test_a_job_that_is_cancelled_waits_no_longer(sending: Sending) -> None:
    done = sending.send(*"abcdef")
    wait_until(lambda: len(sending.sent()) == 4)
    sending.is_cancelled.set()
    with pytest.raises(RuntimeError, match="cancelled"):
        done.result(10)
