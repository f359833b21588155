"""Remote drivers: orders and messages once each, tokens, fences, owners, and who lives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.ports.store import Store
from maintainer.ports.store import drivers as bounds
from maintainer.ports.store.drivers import DriverAnswer, DriverPoll, DriverRecord, DriverTokens
from tests.adapters.store.values import MINUTE, NOW

START = {"start": {"conf": {"secret": "s3cret"}}}
TOKENS = DriverTokens("aa", NOW + MINUTE)


def add(store: Store, name: str = "spark-1", owner: str = "one") -> DriverRecord:
    record = DriverRecord(name, owner, TOKENS, NOW, fingerprint="f", megabytes=2048)
    store.add_driver(record, START)
    return record


def say(
    number: int, event: str = "job.started", job: str | None = "j", **more: Any
) -> dict[str, Any]:
    return {"number": number, "event": event, **({} if job is None else {"job": job}), **more}


def order(store: Store, order: dict[str, Any], *more: Any, owner: str = "one") -> bool:
    record = store.driver("spark-1")
    return store.order("spark-1", owner, 1 if record is None else record.ordered + 1, order, *more)


def poll(
    store: Store,
    number: int,
    *said: dict[str, Any],
    heard: int = 0,
    process: str = "p",
    tokens: DriverTokens | None = None,
    **hello: Any,
) -> DriverAnswer | None:
    return store.take_poll(
        "spark-1", DriverPoll(process, number, heard, {"jobs": {}, **hello}, said), tokens
    )


def answer(store: Store, number: int, *said: dict[str, Any], **more: Any) -> DriverAnswer:
    found = poll(store, number, *said, **more)
    assert found is not None
    return found


def heard(store: Store, owner: str = "one", **after: int) -> list[int]:
    known = {driver.name: 0 for driver in store.drivers()}
    given = {name.replace("_", "-"): number for name, number in after.items()}
    news = store.hear(owner, known | given)
    return [int(str(message["number"])) for said in news.messages.values() for message in said]


def test_a_new_driver_is_found_with_all_that_is_known_of_it(store: Store) -> None:
    record = add(store)
    assert store.driver("spark-1") == record == store.drivers()[0]
    assert store.driver("spark-2") is None
    store.set_handle("spark-1", "pod/7")
    assert store.drivers()[0].handle == "pod/7"
    with pytest.raises(InvalidValueError, match="in the store already"):
        add(store, owner="two")
    assert store.drivers()[0].owner == "one"


def test_an_order_is_given_until_it_is_taken_and_then_its_secrets_are_gone(store: Store) -> None:
    add(store)
    assert order(store, {"run": {"id": "j"}}, ("j", NOW + MINUTE))
    first = answer(store, 1)
    assert first.orders == ((1, START), (2, {"run": {"id": "j"}}))
    assert first.valid_until == {"j": NOW + MINUTE}
    assert answer(store, 2).orders == first.orders, "the answer was lost"
    assert answer(store, 3, heard=1).orders == first.orders[1:]
    assert answer(store, 3, heard=0).orders == first.orders[1:], "an old poll finds no secret"
    assert answer(store, 4, heard=2).orders == ()
    assert order(store, {"cancel": "j"})
    assert answer(store, 5, heard=2).orders == ((3, {"cancel": "j"}),)


def test_an_order_that_is_repeated_is_one_order(store: Store) -> None:
    add(store)
    for _ in range(2):
        assert store.order("spark-1", "one", 2, {"run": {"id": "j"}}, ("j", NOW))
    assert answer(store, 1, heard=1).orders == ((2, {"run": {"id": "j"}}),)
    answer(store, 2, say(1, "job.finished"), heard=2)
    assert store.order("spark-1", "one", 2, {"run": {"id": "j"}}, ("j", NOW))
    assert answer(store, 3, heard=2).orders == (), "it has been taken and carried out"
    assert store.pending_jobs("spark-1") == ()


def test_a_driver_cannot_take_what_was_never_ordered(store: Store) -> None:
    add(store)
    assert answer(store, 1, heard=99).orders == ()
    order(store, {"cancel": "j"})
    assert answer(store, 2, heard=1).orders == ((2, {"cancel": "j"}),)


def test_only_the_owner_orders_and_renews(store: Store) -> None:
    add(store)
    order(store, {"run": {"id": "j"}}, ("j", NOW))
    assert not order(store, {"cancel": "j"}, owner="two")
    assert not store.order("spark-2", "one", 2, {"cancel": "j"})
    assert not store.renew_driver_job("spark-1", "two", "j", NOW + MINUTE)
    assert not store.renew_driver_job("spark-1", "one", "k", NOW + MINUTE)
    assert answer(store, 1).valid_until == {"j": NOW}
    assert store.adopt_driver("spark-1", "one", "two")
    assert not store.adopt_driver("spark-1", "one", "three"), "the second comes too late"
    assert not order(store, {"cancel": "j"})
    assert store.renew_driver_job("spark-1", "two", "j", NOW + MINUTE)
    assert answer(store, 2).valid_until == {"j": NOW + MINUTE}


def test_a_message_is_stored_once_and_heard_until_it_is_acknowledged(store: Store) -> None:
    add(store)
    assert answer(store, 1, say(1), say(2)).received == 2
    assert answer(store, 2, say(2), say(4)).received == 4
    assert heard(store) == [1, 2, 4]
    assert heard(store, spark_1=2) == [4]
    store.acknowledge_messages("spark-1", [1, 4, 9])
    assert answer(store, 3, say(4)).received == 4
    assert heard(store) == [2], "what was acknowledged does not come back"
    assert heard(store, "two") == []


def test_a_late_poll_changes_nothing_and_is_answered_all_the_same(store: Store) -> None:
    add(store)
    answer(store, 5, say(1), is_started=True)
    late = answer(store, 4, say(2), is_started=False, tokens=DriverTokens("bb", NOW))
    assert late.is_late
    assert (late.received, late.orders) == (1, ((1, START),))
    record = store.driver("spark-1")
    assert record is not None
    assert (record.polls, record.tokens) == (5, TOKENS)
    assert record.hello == {"jobs": {}, "is_started": True}
    assert not answer(store, 6, say(2)).is_late
    assert heard(store) == [1, 2]


def test_new_tokens_are_stored_with_the_poll(store: Store) -> None:
    add(store)
    renewed = DriverTokens("bb", NOW + MINUTE, former="aa")
    answer(store, 1, tokens=renewed)
    assert store.drivers()[0].tokens == renewed


def test_of_a_jobs_progress_only_the_newest_is_kept(store: Store) -> None:
    add(store)
    answer(store, 1, say(1, "spark.progress"), say(2, "spark.progress", "k"), say(3))
    answer(store, 2, say(4, "spark.progress"))
    assert heard(store) == [2, 3, 4]


def test_the_end_of_a_job_ends_its_validity(store: Store) -> None:
    add(store)
    for job in ("j", "k"):
        order(store, {"run": {"id": job}}, (job, NOW + MINUTE))
    assert store.pending_jobs("spark-1") == ("j", "k")
    assert set(answer(store, 1, say(1, "job.failed")).valid_until) == {"k"}
    assert store.pending_jobs("spark-1") == ("k",)
    assert not store.renew_driver_job("spark-1", "one", "j", NOW + 2 * MINUTE)


def test_the_fence_is_the_latest_validity_that_was_ever_given(store: Store) -> None:
    add(store)
    order(store, {"run": {"id": "j"}}, ("j", NOW + MINUTE))
    assert store.drivers()[0].fence is None, "the driver knows nothing of the job yet"
    answer(store, 1)
    assert store.drivers()[0].fence == NOW + MINUTE
    store.renew_driver_job("spark-1", "one", "j", NOW + 3 * MINUTE)
    assert store.drivers()[0].fence == NOW + MINUTE, "not given yet"
    answer(store, 1)
    assert store.drivers()[0].fence == NOW + 3 * MINUTE, "a late poll may be answered too"
    store.renew_driver_job("spark-1", "one", "j", NOW + 2 * MINUTE)
    answer(store, 2)
    assert store.drivers()[0].fence == NOW + 3 * MINUTE, "the last answer may be lost"


def test_a_second_process_of_the_same_name_is_refused(store: Store) -> None:
    add(store)
    answer(store, 1, say(1))
    assert poll(store, 2, say(2), process="another") is None
    assert heard(store) == [1]


def test_an_ended_driver_is_refused_and_its_orders_are_gone(store: Store) -> None:
    add(store)
    order(store, {"run": {"id": "j"}}, ("j", NOW))
    answer(store, 1, say(1))
    assert not store.end_driver("spark-1", "silent", NOW, polls=0), "it has polled since"
    assert store.end_driver("spark-1", "silent", NOW, polls=1)
    assert not store.end_driver("spark-1", "again", NOW)
    record = store.driver("spark-1")
    assert record is not None
    assert (record.ended_at, record.reason) == (NOW, "silent")
    assert poll(store, 2) is None
    assert store.drivers() == ()
    assert heard(store) == []
    assert store.pending_jobs("spark-1") == ()
    assert not order(store, {"stop": True})
    assert not store.adopt_driver("spark-1", "one", "two")


def test_sizes_and_numbers_have_bounds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("maintainer.adapters.store.drivers", "tests.fakes.adapters.store_drivers"):
        monkeypatch.setattr(f"{module}.MAX_ORDER_BYTES", 100)
        monkeypatch.setattr(f"{module}.MAX_MESSAGE_BYTES", 100)
        monkeypatch.setattr(f"{module}.MAX_ORDERS", 3)
        monkeypatch.setattr(f"{module}.MAX_HELLO_BYTES", 100)
    add(store)
    with pytest.raises(InvalidValueError, match="bytes"):
        order(store, {"run": "x" * 100})
    with pytest.raises(InvalidValueError, match="bytes"):
        poll(store, 1, say(1, text="x" * 100))
    for _ in range(2):
        assert order(store, {"cancel": "j"})
    with pytest.raises(InvalidValueError, match="3 orders wait for driver"):
        order(store, {"cancel": "j"})
    answer(store, 1, say(1), heard=1)
    assert order(store, {"cancel": "j"})
    assert answer(store, 2, say(2), facts="short").received == 2
    assert answer(store, 3, say(3), facts="x" * 100).received == 3, "its messages are taken"
    record = store.driver("spark-1")
    assert record is not None
    assert record.hello == {"jobs": {}, "facts": "short"}


def test_messages_are_taken_in_portions_and_none_is_dropped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("maintainer.adapters.store.drivers", "tests.fakes.adapters.store_drivers"):
        monkeypatch.setattr(f"{module}.MAX_MESSAGES", 5)
        monkeypatch.setattr(f"{module}.MAX_TAKEN", 3)
    assert bounds.MAX_MESSAGES > bounds.MAX_TAKEN > 3
    add(store)
    said = [say(number, "job.finished", f"j-{number}") for number in range(1, 9)]
    assert answer(store, 1, *said).received == 3
    assert answer(store, 2, *said).received == 5
    assert answer(store, 3, *said).received == 5, "five wait for their owner"
    assert heard(store) == [1, 2, 3, 4, 5]
    store.acknowledge_messages("spark-1", [1, 2, 3, 4])
    assert answer(store, 4, *said).received == 8
    assert heard(store) == [5, 6, 7, 8]


def test_four_thousand_messages_are_taken_in_eight_portions(store: Store) -> None:
    """In one piece they took eight seconds, and no other process could write meanwhile."""
    add(store)
    said = [
        say(number, "spark.progress" if number % 2 else "job.event", f"j-{number % 7}")
        for number in range(1, 4001)
    ]
    received, polls = 0, 0
    while received < 4000:
        polls += 1
        received = answer(store, polls, *said[received:]).received
        store.acknowledge_messages("spark-1", heard(store))
    assert polls == 4000 // bounds.MAX_TAKEN


def test_of_two_that_adopt_a_driver_one_is_first(store: Store) -> None:
    add(store)
    start = Barrier(2)

    def adopt(owner: str) -> bool:
        start.wait()
        return store.adopt_driver("spark-1", "one", owner)

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(adopt, ("two", "three"))) == [False, True]


def test_of_two_replicas_that_get_the_same_poll_one_stores_it(store: Store) -> None:
    """A proxy has sent it twice."""
    add(store)
    order(store, {"run": {"id": "j"}}, ("j", NOW + MINUTE))
    start = Barrier(2)

    def take(_: int) -> DriverAnswer:
        start.wait()
        return answer(store, 1, say(1), say(2))

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(take, range(2))
    assert sorted([first.is_late, second.is_late]) == [False, True]
    assert first.orders == second.orders
    assert first.valid_until == second.valid_until == {"j": NOW + MINUTE}
    assert heard(store) == [1, 2]


def test_hearts_beat_until_they_are_signed_off(store: Store) -> None:
    assert store.heartbeats() == {}
    store.beat("one", NOW)
    store.beat("two", NOW)
    before = store.heartbeats()
    store.beat("one", NOW)
    after = store.heartbeats()
    assert after["one"] != before["one"]
    assert after["two"] == before["two"]
    store.sign_off("one")
    assert store.heartbeats()["one"] is None
    store.beat("one", NOW)
    assert store.heartbeats()["one"] is not None, "it lives again"


def test_ended_drivers_and_forgotten_processes_are_pruned(store: Store) -> None:
    for name, owner in (("spark-1", "one"), ("spark-2", "two"), ("spark-3", "three")):
        add(store, name, owner)
        store.beat(owner, NOW)
    store.end_driver("spark-1", "", NOW)
    store.end_driver("spark-2", "", NOW + 2 * MINUTE)
    assert store.prune_drivers(NOW) == 0
    assert store.prune_drivers(NOW + MINUTE) == 1
    assert [store.driver(f"spark-{n}") is None for n in (1, 2, 3)] == [True, False, False]
    assert set(store.heartbeats()) == {"two", "three"}
    assert store.prune_drivers(NOW + timedelta(days=1)) == 1
    assert set(store.heartbeats()) == {"three"}, "it still owns a driver"
