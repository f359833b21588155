from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.notice import Notice, NoticeKind, NoticeLimits, PostedNotice
from maintainer.domain.units import CLOCK_TOLERANCE
from maintainer.ports.store import Store
from maintainer.ports.store import notices as bounds
from maintainer.ports.store.notices import MAX_AGE
from tests.adapters.store.values import MINUTE, NOW

LIMITS = NoticeLimits(timedelta(hours=6), 3)
HELD = NOW + 2 * MINUTE


def notice(
    subject: str = "lake.sales.orders",
    at: datetime = NOW,
    kind: NoticeKind = NoticeKind.APPROVAL_NEEDED,
) -> Notice:
    return Notice(kind, subject, f"it's {subject}, 100% \N{SNOWMAN}", at, "m-1")


def post(
    store: Store, subject: str = "lake.sales.orders", at: datetime = NOW
) -> PostedNotice | None:
    return store.post_notice(notice(subject, at), LIMITS, at + 2 * MINUTE)


def test_the_same_is_posted_once_in_a_while_and_again_later(store: Store) -> None:
    assert post(store) is not None
    assert post(store, at=NOW + timedelta(hours=5)) is None
    assert store.post_notice(notice(kind=NoticeKind.FAILED_PROOF), LIMITS, HELD) is not None, (
        "another kind is another notice"
    )
    assert post(store, at=NOW + timedelta(hours=6)) is not None


def test_beyond_the_hourly_limit_notices_are_counted_and_the_next_one_says_so(store: Store) -> None:
    posted = [post(store, f"t{number}") for number in range(5)]
    assert [one is not None for one in posted] == [True, True, True, False, False]
    late = post(store, "late", NOW + timedelta(hours=1))
    assert late is not None
    assert late.held_back == 2
    later = post(store, "later", NOW + timedelta(hours=1))
    assert later is not None
    assert later.held_back == 0


def test_a_repeated_notice_counts_towards_the_hour_each_time(store: Store) -> None:
    limits = NoticeLimits(timedelta(seconds=1), 3)
    moments = [NOW + timedelta(seconds=number) for number in range(5)]
    assert [store.post_notice(notice(at=at), limits, HELD) is not None for at in moments] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_what_nobody_has_in_time_is_another_ones_to_deliver_once(store: Store) -> None:
    first, second = post(store), post(store, "lake.sales.other")
    assert first is not None
    assert second is not None
    assert store.take_notices(NOW + MINUTE, HELD) == (), "who posted it is about to deliver it"
    store.hold_notices([second.number], HELD + MINUTE)
    store.hold_notices([], HELD)
    assert store.take_notices(HELD, HELD + 2 * MINUTE) == (first,)
    assert store.take_notices(HELD, HELD + 2 * MINUTE) == ()
    store.note_delivered(first.number, HELD)
    assert store.take_notices(HELD + 2 * MINUTE, HELD + 4 * MINUTE) == (second,)


def test_what_was_delivered_is_remembered_for_the_limits_alone(store: Store) -> None:
    posted = post(store)
    assert posted is not None
    store.note_delivered(posted.number, NOW)
    assert store.take_notices(HELD, HELD) == ()
    assert post(store, at=NOW + MINUTE) is None


def test_what_reached_nobody_is_posted_again_and_counted_by_the_next(store: Store) -> None:
    posted = post(store)
    assert posted is not None
    store.give_up_notice(posted.number)
    store.give_up_notice(posted.number)
    again = post(store, at=NOW + MINUTE)
    assert again is not None
    assert again.held_back == 1
    assert again.number != posted.number


def test_a_notice_of_yesterday_is_no_news(store: Store) -> None:
    assert post(store) is not None
    late = NOW + MAX_AGE
    assert store.take_notices(late, late + MINUTE) == ()
    assert store.take_notices(HELD, late) == (), "it is gone"


def test_a_few_are_taken_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("maintainer.adapters.store.notices", "tests.fakes.adapters.store_notices"):
        monkeypatch.setattr(f"{module}.MAX_TAKEN", 2)
    posted = [post(store, f"t{number}") for number in range(3)]
    assert store.take_notices(HELD, HELD + MINUTE) == tuple(posted[:2])
    assert store.take_notices(HELD, HELD + MINUTE) == tuple(posted[2:])
    assert bounds.MAX_TAKEN == 100


def test_of_many_processes_that_post_at_once_the_limits_let_through_what_one_may(
    store_url: str,
) -> None:
    stores = [open_store(store_url) for _ in range(4)]
    together = Barrier(len(stores))

    def tell(number: int, subject: Callable[[int], str]) -> list[PostedNotice]:
        together.wait(timeout=60)
        return [
            posted
            for turn in range(5)
            if (posted := post(stores[number], subject(turn))) is not None
        ]

    def tell_all(subject: Callable[[int], str]) -> list[PostedNotice]:
        with ThreadPoolExecutor(len(stores)) as pool:
            return [
                posted
                for found in [pool.submit(tell, number, subject) for number in range(len(stores))]
                for posted in found.result(timeout=60)
            ]

    assert len(tell_all(lambda _: "the same")) == 1
    assert len(tell_all(lambda turn: f"t{turn}")) == LIMITS.max_per_hour - 1
    (late,) = [post(stores[0], "late", NOW + timedelta(hours=1))]
    assert late is not None
    held_back = 4 * 5 - (LIMITS.max_per_hour - 1)
    assert held_back - 3 * (LIMITS.max_per_hour - 1) <= late.held_back <= held_back, (
        "all but the same again"
    )
    taken = [
        store.take_notices(NOW + timedelta(hours=2), NOW + timedelta(hours=3)) for store in stores
    ]
    assert [len(found) for found in taken] == [LIMITS.max_per_hour + 1, 0, 0, 0]
    for store in stores:
        store.close()


def test_notices_of_a_clock_that_was_ahead_silence_nobody(store: Store) -> None:
    ahead = NOW + timedelta(days=400)
    assert [
        post(store, subject, ahead) is not None
        for subject in ("lake.sales.orders", "t2", "t3", "t4")
    ] == [True, True, True, False]
    assert post(store) is not None, "the same was reported in the future alone"
    assert post(store, at=NOW - CLOCK_TOLERANCE) is None, (
        "another machine's clock may be a little behind"
    )
