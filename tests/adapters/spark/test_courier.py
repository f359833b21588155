"""Files and rows between the store and the driver, over a link that loses and doubles messages."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from maintainer.adapters.spark.driver.link.outbox import Outbox
from maintainer.adapters.spark.driver.lists import files, portions, rows
from maintainer.adapters.spark.driver.lists.files import Files
from maintainer.adapters.spark.driver.lists.portions import pack, read_text, unpack, write_text
from maintainer.adapters.spark.driver.lists.rows import Rows
from maintainer.adapters.spark.orphans.orphan_files import Courier, OrphanFiles
from maintainer.ports.store.portions import MAX_PORTION_BYTES, Portion, PortionKind, PortionSet
from tests.adapters.spark.lakes import wait_until
from tests.fakes.adapters.store import FakeStore

LIST = PortionSet("j", PortionKind.LIST)
ROWS = PortionSet("j", PortionKind.ROWS)
WANTED = {"event": "files.wanted", "job": "j", "kind": "list", "first": 0, "count": 2, "number": 7}


@dataclass
class Link:
    """The daemon's side of a driver; `receive` gets each order."""

    receive: Callable[[Mapping[str, Any]], None] = lambda _: None
    orders: list[Mapping[str, Any]] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    is_ended: threading.Event = field(default_factory=threading.Event)

    def send(self, order: Mapping[str, Any]) -> bool:
        self.orders.append(order)
        self.receive(order)
        return True

    def acknowledge(self, numbers: Sequence[int]) -> None:
        self.acknowledged += numbers


def listed(store: FakeStore, *texts: str) -> None:
    for number, text in enumerate(texts):
        packed, *_ = pack([text])
        store.add_portion(LIST, number, Portion(1, packed.data, number == len(texts) - 1))


def some_rows(number: int, data: str = write_text(b"x")) -> dict[str, object]:
    return {
        "event": "job.rows",
        "job": "j",
        "portion": 0,
        "lines": 3,
        "is_last": True,
        "data": data,
        "number": number,
    }


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def courier(store: FakeStore) -> Iterator[Courier]:
    with closing(Courier(OrphanFiles(store, "one"))) as opened:
        yield opened


def take(courier: Courier, link: Link, message: Mapping[str, object]) -> None:
    courier.take(link, message)  # type: ignore[arg-type]  # what a courier needs of a driver


def test_what_is_wanted_is_brought_and_then_acknowledged(
    store: FakeStore, courier: Courier
) -> None:
    listed(store, "one", "two")
    link = Link()
    take(courier, link, WANTED)
    wait_until(lambda: link.acknowledged == [7])
    brought = [order["bring"] for order in link.orders]
    assert [unpack(read_text(order["data"])) for order in brought] == ["one", "two"]
    assert [(order["id"], order["kind"], order["portion"]) for order in brought] == [
        ("j", "list", 0),
        ("j", "list", 1),
    ]


def test_what_is_not_there_is_said_in_place_of_the_data(store: FakeStore, courier: Courier) -> None:
    listed(store, "one")
    link = Link()
    take(courier, link, WANTED)
    wait_until(lambda: link.acknowledged == [7])
    assert link.orders[1]["bring"]["error"] == (
        "portion 1 of the list of job j is not in the store"
    )


def test_rows_are_stored_once_then_confirmed_and_acknowledged(
    store: FakeStore, courier: Courier
) -> None:
    link = Link()
    take(courier, link, some_rows(3))
    take(courier, link, some_rows(4))
    wait_until(lambda: link.acknowledged == [3, 4])
    assert link.orders == [{"stored": {"id": "j", "portion": 0}}] * 2
    assert store.portion(ROWS, 0) == Portion(3, b"x", is_last=True)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("not base64", "Only base64 data is allowed"),
        (write_text(b"x" * (MAX_PORTION_BYTES + 1)), "has 1,048,577 bytes; the limit is 1,048,576"),
    ],
)
def test_rows_that_can_never_be_stored_are_refused_with_the_reason(
    courier: Courier, data: str, complaint: str
) -> None:
    link = Link()
    take(courier, link, some_rows(3, data))
    wait_until(lambda: link.acknowledged == [3])
    assert complaint in link.orders[0]["stored"]["error"]


def test_while_the_store_is_away_nothing_is_confirmed(
    store: FakeStore, courier: Courier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maintainer.adapters.spark.orphans.orphan_files._RETRY_SECONDS", 0.01)
    store.broken = "it is away"
    tried = threading.Event()
    add = store.add_portion

    def try_to_add(*args: Any) -> bool:
        tried.set()
        return add(*args)

    monkeypatch.setattr(store, "add_portion", try_to_add)
    link = Link()
    take(courier, link, some_rows(3))
    assert tried.wait(10)
    assert (link.orders, link.acknowledged) == ([], [])
    store.broken = ""
    wait_until(lambda: link.acknowledged == [3])
    assert store.portion(ROWS, 0) is not None


class Driver:
    """The driver's side of the link: loses a third of what passes it, and doubles a third."""

    left_at = None

    def __init__(self, store: FakeStore, seed: int) -> None:
        self.store, self.chance, self.lock = store, random.Random(seed), threading.Lock()
        self.outbox = Outbox()
        self.is_cancelled = threading.Event()
        self.files = Files("j", self, self.is_cancelled)
        self.rows = Rows("j", self, self.is_cancelled)
        self.sent = 0
        self.link = Link(self.receive)
        self.courier = Courier(OrphanFiles(store, "one"))

    def times(self) -> range:
        return range(self.chance.choice([0, 1, 2]))

    def send(self, event: str, job: str | None = None, **fields: object) -> None:
        with self.lock:
            message = self.outbox.keep(self.outbox.write(event, job, fields))
            self.sent += 1
            if self.sent % 5 == 0:
                self.change_daemon()
            for _ in self.times():
                take(self.courier, self.link, message)

    def change_daemon(self) -> None:
        """The daemon is killed; the next one gets what is not acknowledged."""
        threading.Thread(target=self.courier.close, daemon=True).start()
        self.outbox.drop(self.link.acknowledged)
        self.link, self.courier = (
            Link(self.receive),
            Courier(OrphanFiles(self.store, f"daemon-{self.sent}")),
        )
        for message in self.outbox.kept():
            take(self.courier, self.link, message)

    def receive(self, order: Mapping[str, Any]) -> None:
        for _ in self.times():
            match order:
                case {"bring": brought}:
                    self.files.take(brought)
                case {"stored": stored}:
                    self.rows.confirm(stored["portion"], stored.get("error", ""))
                case _:
                    raise AssertionError(order)

    def acknowledge(self, numbers: list[int]) -> None:
        raise NotImplementedError

    def flush(self, seconds: float) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("seed", range(5))
def test_after_any_loss_and_adoption_all_lines_arrive(
    seed: int, store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "_ENOUGH_RAW_BYTES", 100)
    for module in (files, rows):
        monkeypatch.setattr(module, "_REPEAT_SECONDS", 0.05)
        monkeypatch.setattr(module, "_ROUND_SECONDS", 0.01)
    lines = [json.dumps([f"data/{number}", number]) for number in range(200)]
    listed(store, *("\n".join(lines[start : start + 10]) for start in range(0, 200, 10)))
    driver = Driver(store, seed)
    received = [line for text in driver.files.receive("list", 0, 20) for line in text.split("\n")]
    assert received == lines
    found = SimpleNamespace(
        schema=SimpleNamespace(jsonValue=dict),
        toLocalIterator=lambda: iter(tuple(json.loads(line)) for line in received),
    )
    assert driver.rows.write(found) == {"rows": 200}
    driver.rows.end(is_complete=True)
    driver.courier.close()
    counts = store.count_lines(ROWS)
    assert counts is not None
    assert sum(counts) == 202, "with the schema and the number of rows"
    stored = [store.portion(ROWS, number) for number in range(len(counts))]
    texts = [unpack(portion.data) for portion in stored if portion is not None and portion.lines]
    assert "\n".join(texts).split("\n")[1:-1] == lines
