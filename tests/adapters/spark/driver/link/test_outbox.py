"""The driver keeps its messages within bounds of number and bytes."""

from __future__ import annotations

import json

import pytest

from maintainer.adapters.spark.driver.link import outbox as module
from maintainer.adapters.spark.driver.link.outbox import MAX_MESSAGE_BYTES, Outbox


def keep(outbox: Outbox, event: str, job: str | None = "j", **fields: object) -> None:
    outbox.keep(outbox.write(event, job, fields))


def test_messages_are_numbered_in_order_and_dropped_by_number() -> None:
    outbox = Outbox()
    for event in ("job.started", "statement.started", "job.finished"):
        keep(outbox, event)
    outbox.drop([2, 7])
    assert [message["number"] for message in outbox.kept()] == [1, 3]
    outbox.drop_until(1)
    assert [message["event"] for message in outbox.kept()] == ["job.finished"]


def test_the_oldest_messages_go_when_all_together_are_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", 3_000)
    outbox = Outbox()
    for _ in range(10):
        keep(outbox, "statement.started", statement="x" * 900)
    assert [message["number"] for message in outbox.kept()] == [8, 9, 10]
    outbox.drop([8, 9, 10])
    keep(outbox, "statement.started", statement="x" * 2_000)
    assert len(outbox) == 1, "what was dropped counts no more"


def test_a_message_that_is_too_long_keeps_its_event_and_loses_its_long_fields() -> None:
    outbox = Outbox()
    rows = [{"file": "x" * 100} for _ in range(MAX_MESSAGE_BYTES // 50)]
    keep(outbox, "job.finished", result=rows, failure="f" * MAX_MESSAGE_BYTES, checks={"rows": 1})
    (message,) = outbox.kept()
    assert len(json.dumps(message)) < MAX_MESSAGE_BYTES
    assert (message["event"], message["job"], message["checks"]) == (
        "job.finished",
        "j",
        {"rows": 1},
    )
    assert message["result"] is None
    assert message["failure"].startswith("fff")
    assert message["is_shortened"]


def test_rows_are_kept_beyond_the_bounds_and_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    outbox = Outbox()
    for portion in (0, 1, 2, 3, 1):
        keep(outbox, "job.rows", portion=portion)
    keep(outbox, "statement.finished")
    keep(outbox, "job.rows", job="k", portion=1)
    assert [(message["job"], message.get("portion")) for message in outbox.kept()] == [
        ("j", 0),
        ("j", 2),
        ("j", 3),
        ("j", 1),
        ("k", 1),
    ]


def test_of_the_requests_of_a_job_only_the_newest_is_kept() -> None:
    outbox = Outbox()
    for first in (0, 8):
        keep(outbox, "files.wanted", first=first, count=8)
    assert [message["first"] for message in outbox.kept()] == [8]


@pytest.mark.parametrize("event", ["job.finished", "job.failed", "job.cancelled"])
def test_the_end_of_a_job_is_kept_beyond_the_bounds(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    outbox = Outbox()
    keep(outbox, event, "first")
    for number in range(10):
        keep(outbox, "statement.started", f"j-{number}")
    assert len(outbox) == 3
    assert outbox.kept()[0]["job"] == "first"
