"""Three replicas share three catalogs: each is asked once in a scan interval, also after a kill."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.replica import DutyKind
from maintainer.ports.store import Store
from tests.adapters.catalog.conditional_server import ConditionalServer
from tests.end_to_end.programs import serving, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

INTERVAL = 2.0
LEAST_PAUSE = 0.9 * INTERVAL  # the scheduler's jitter
CONFIGURATION = """
catalogs: {{{catalogs}}}
store: sqlite:///store.db
scan: {{interval: {interval}s, decode_processes: 0}}
lease: {{duration: 30s}}
"""


@pytest.fixture
def catalogs() -> Iterator[Sequence[ConditionalServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(ConditionalServer.running()) for _ in range(3)]


def find_scanners(store: Store) -> list[str]:
    """Who scans, one for each catalog that somebody scans."""
    return [held.holder for held in store.duties() if held.duty.kind is DutyKind.SCAN]


def check_pace(catalogs: Sequence[ConditionalServer]) -> None:
    """Each catalog is asked, and not more often than by one replica."""
    begun, before = time.monotonic(), [server.listings for server in catalogs]
    wait_for(
        lambda: all(
            server.listings >= count + 4 for server, count in zip(catalogs, before, strict=True)
        ),
        60,
        "four scans of each catalog",
    )
    most = (time.monotonic() - begun) / LEAST_PAUSE + 1
    asked = [server.listings - count for server, count in zip(catalogs, before, strict=True)]
    assert max(asked) <= most, (asked, most)


def test_each_catalog_is_asked_by_one_replica_and_by_another_when_it_is_killed(
    tmp_path: Path, catalogs: Sequence[ConditionalServer]
) -> None:
    written = ", ".join(
        f"{name}: {{type: rest, uri: '{server.address}'}}"
        for name, server in zip("abc", catalogs, strict=True)
    )
    (tmp_path / "maintainer.yaml").write_text(
        CONFIGURATION.format(catalogs=written, interval=INTERVAL)
    )
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    with ExitStack() as stack:
        stack.callback(store.close)
        replicas = [stack.enter_context(serving(tmp_path, "--role", "worker")) for _ in range(3)]
        wait_for(lambda: len(set(find_scanners(store))) == 3, 60, "a catalog for each")
        check_pace(catalogs)
        assert [replica.count_duties("scan") for replica in replicas] == [1, 1, 1]
        killed = find_holder_of("c", store)
        victim = next(each for each in replicas if f"-{each.process.pid}-" in killed)
        victim.kill()
        wait_for(
            lambda: len(found := find_scanners(store)) == 3 and killed not in found,
            60,
            "a new holder",
        )
        check_pace(catalogs)
        others = [each for each in replicas if each is not victim]
        assert sorted(each.count_duties("scan") for each in others) == [1, 2]
        assert others[0].stop() == 0
        left = f"-{others[0].process.pid}-"
        assert not any(left in held.holder for held in store.duties())
        wait_for(lambda: len(find_scanners(store)) == 3, 60, "the last one to have all")
        assert others[1].stop() == 0
        # The killed one gave nothing back; what nobody took over ends by itself.
        assert {held.holder for held in store.duties()} <= {killed}


def find_holder_of(catalog: str, store: Store) -> str:
    return next(held.holder for held in store.duties() if str(held.duty) == f"scan {catalog}")
