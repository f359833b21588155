from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.chaos import Chaos
from tests.torture.daemon import Daemon
from tests.torture.proxy import Proxy
from tests.torture.schedule import Trouble, TroublePlan

PLANNED_SECONDS = 0.05


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with socket.create_server(("127.0.0.1", 0)) as nobody_answers:
        made = Proxy(nobody_answers.getsockname()[1])
        made.start()
        yield made
        made.stop()


def make_chaos(proxy: Proxy, directory: Path, *plans: TroublePlan) -> Chaos:
    return Chaos(list(plans), Daemon(directory), proxy, proxy, proxy)


def say_something(proxy: Proxy) -> None:
    with (
        contextlib.suppress(ConnectionError),
        socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as client,
    ):
        client.sendall(b"anything")


@pytest.mark.parametrize("trouble", [Trouble.CUT_CATALOG, Trouble.DELAY_COMMITS])
def test_a_trouble_that_meets_a_daemon_that_is_still_starting_goes_on_until_it_hits(
    proxy: Proxy, tmp_path: Path, trouble: Trouble
) -> None:
    chaos = make_chaos(proxy, tmp_path, TroublePlan(0.0, trouble, PLANNED_SECONDS))
    chaos.start()
    assert not chaos.join(20 * PLANNED_SECONDS)
    while not chaos.join(PLANNED_SECONDS):
        say_something(proxy)
    assert [(event.trouble, event.has_hit) for event in chaos.events] == [(trouble, True)]


def test_what_is_planned_after_a_trouble_that_lasted_longer_comes_later_by_as_much(
    proxy: Proxy, tmp_path: Path
) -> None:
    chaos = make_chaos(
        proxy,
        tmp_path,
        TroublePlan(0.0, Trouble.CUT_CATALOG, PLANNED_SECONDS),
        TroublePlan(0.2, Trouble.CUT_STORE, PLANNED_SECONDS),
    )
    chaos.start()
    assert not chaos.join(1.0)
    while not chaos.join(PLANNED_SECONDS):
        say_something(proxy)
    first, second = chaos.events
    assert second.at >= first.at + first.seconds + 0.2 - 2 * PLANNED_SECONDS


def test_a_trouble_ends_with_the_chaos_when_nothing_was_there_to_hit(
    proxy: Proxy, tmp_path: Path
) -> None:
    chaos = make_chaos(proxy, tmp_path, TroublePlan(0.0, Trouble.CUT_CATALOG, PLANNED_SECONDS))
    chaos.start()
    chaos.stop()
    assert [event.has_hit for event in chaos.events] in ([False], [])
