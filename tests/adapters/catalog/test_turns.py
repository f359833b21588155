from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from maintainer.adapters.catalog.turns import map_in_turns


def test_a_tiny_table_waits_for_one_turn_of_a_huge_one_not_for_its_end() -> None:
    order: list[int] = []

    def work(number: int) -> int:
        if number == 0:
            executor.submit(order.append, -1)  # the tiny table comes while the huge one is under way
        order.append(number)
        return number * 2

    with ThreadPoolExecutor(1) as executor:
        assert map_in_turns(executor, work, range(100), window=1) == list(range(0, 200, 2))
    assert order.index(-1) <= 2


def test_no_more_than_the_window_is_handed_over_at_once() -> None:
    taken = 0
    done = 0
    ahead: list[int] = []

    def work(_number: int) -> None:
        nonlocal done
        done += 1

    def count() -> Iterator[int]:
        nonlocal taken
        for number in range(50):
            ahead.append(taken - done)
            taken += 1
            yield number

    with ThreadPoolExecutor(2) as executor:
        map_in_turns(executor, work, count(), window=3)
    assert max(ahead) <= 3


def test_a_pool_that_is_shut_down_cancels_what_is_left() -> None:
    executor = ThreadPoolExecutor(1)

    def work(_number: int) -> None:
        executor.shutdown(wait=False, cancel_futures=True)

    with pytest.raises(CancelledError):
        map_in_turns(executor, work, range(10), window=1)
