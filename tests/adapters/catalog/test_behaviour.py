"""What every catalog does, the fake one and the real one alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from maintainer.domain.effect import CanaryResult
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    FaultKind,
    ManifestContent,
    ManifestDigest,
    Snapshot,
    TableFault,
    TableInventory,
)
from maintainer.ports.catalog import Catalog, Polled
from tests.adapters.catalog.lake import (
    NOW,
    TARGET_BYTES,
    Lake,
    Memory,
    StoppedClock,
    identify,
    know_nothing,
    read_by,
    rows,
    small_target,
)
from tests.fakes.adapters.catalog import FakeCatalog
from tests.samples import inventory as sample_inventory

ORDERS = identify("sales", "orders")
ITEMS = identify("sales", "returns", "items")
ABSENT = identify("sales", "absent")


class World(Protocol):
    """A catalog and the means to change what lies behind it."""

    @property
    def catalog(self) -> Catalog: ...

    def append(self, table: TableIdentifier, count: int) -> None: ...

    def make_view(self, table: TableIdentifier) -> None: ...

    def drop(self, table: TableIdentifier) -> None: ...

    def break_down(self) -> None: ...

    def repair(self) -> None: ...


@dataclass
class RealWorld:
    lake: Lake

    @property
    def catalog(self) -> Catalog:
        return self.lake.catalog

    def append(self, table: TableIdentifier, count: int) -> None:
        name = (*table.namespace, table.name)
        exists = self.lake.writer.table_exists(name)
        written = self.lake.writer.load_table(name) if exists else self.lake.make_table(*name)
        written.append(rows(count))

    def make_view(self, table: TableIdentifier) -> None:
        self.lake.execute(
            "insert into iceberg_tables (catalog_name, table_namespace, table_name, "
            "metadata_location, iceberg_type)"
            " values ('lake', ?, ?, 'file:///v.json', 'VIEW')",
            ".".join(table.namespace),
            table.name,
        )

    def drop(self, table: TableIdentifier) -> None:
        self.lake.writer.drop_table((*table.namespace, table.name))

    def break_down(self) -> None:
        self.lake.catalog.close()
        self.lake.database.rename(self.lake.directory / "away.db")

    def repair(self) -> None:
        (self.lake.directory / "away.db").rename(self.lake.database)


class FakeWorld:
    def __init__(self) -> None:
        self._fake = FakeCatalog("lake", StoppedClock())
        self._history: dict[TableIdentifier, list[int]] = {}

    @property
    def catalog(self) -> Catalog:
        return self._fake

    def append(self, table: TableIdentifier, count: int) -> None:
        counts = self._history.setdefault(table, [])
        counts.append(count)
        snapshots = tuple(
            Snapshot(n, n - 1 or None, n, NOW, "append") for n in range(1, len(counts) + 1)
        )
        digests = tuple(
            ManifestDigest(f"m{n}.avro", 100, 0, ManifestContent.DATA, n, entries_read=1)
            for n in range(len(counts), 0, -1)
        )
        made = sample_inventory(manifests=digests, snapshots=snapshots)
        changed = {name: getattr(made, name) for name in made.__slots__} | {
            "table": table,
            "metadata_location": f"v{len(counts)}.metadata.json",
        }
        self._fake.put(TableInventory(**changed))
        self._fake.set_rows(table, len(counts), sum(counts))

    def make_view(self, table: TableIdentifier) -> None:
        self._fake.put(TableFault(table, FaultKind.VIEW, "the catalog lists it as a view", NOW))

    def drop(self, table: TableIdentifier) -> None:
        self._fake.drop(table)

    def break_down(self) -> None:
        self._fake.fail("catalog lake cannot be reached")

    def repair(self) -> None:
        self._fake.recover()


@pytest.fixture(params=["real", "fake"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    if request.param == "fake":
        yield FakeWorld()
        return
    lake = Lake(tmp_path)
    yield RealWorld(lake)
    lake.close()


def listed(catalog: Catalog) -> list[TableIdentifier | CatalogFault]:
    return sorted(catalog.tables(), key=str)


def test_its_name_is_the_configurations(world: World) -> None:
    assert world.catalog.name == "lake"


def test_tables_of_nested_namespaces_are_listed_once_each(world: World) -> None:
    for table in (ITEMS, ORDERS):
        world.append(table, 1)
    assert listed(world.catalog) == [ORDERS, ITEMS]


def test_a_view_is_not_listed_and_is_named_when_asked_for(world: World) -> None:
    world.append(ORDERS, 1)
    world.make_view(ABSENT)
    assert listed(world.catalog) == [ORDERS]
    found = world.catalog.inventory(ABSENT, small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert (found.kind, found.table, found.seen_at) == (FaultKind.VIEW, ABSENT, NOW)


def test_an_inventory_is_of_the_present(world: World) -> None:
    world.append(ORDERS, 3)
    first = read_by(world.catalog, ORDERS)
    world.append(ORDERS, 4)
    second = read_by(world.catalog, ORDERS)
    assert first.metadata_location != second.metadata_location
    assert (len(first.manifests), len(second.manifests)) == (1, 2)
    assert (
        second.current_snapshot_id == second.snapshots[-1].snapshot_id != first.current_snapshot_id
    )
    assert second.read_at == NOW


def test_size_classes_are_those_of_the_callers_target(world: World) -> None:
    world.append(ORDERS, 3)
    assert read_by(world.catalog, ORDERS).size_classes.target_bytes == TARGET_BYTES


def test_manifests_that_are_known_are_not_read_again(world: World) -> None:
    world.append(ORDERS, 3)
    memory = Memory()
    memory.remember(read_by(world.catalog, ORDERS, memory))
    world.append(ORDERS, 4)
    assert [digest.entries_read for digest in read_by(world.catalog, ORDERS, memory).manifests] == [
        1,
        0,
    ]


def test_inventories_of_several_tables_are_those_of_each(world: World) -> None:
    for count, table in enumerate((ORDERS, ITEMS), start=1):
        world.append(table, count)
    taken = list(world.catalog.inventories([ORDERS, ABSENT, ITEMS], small_target, know_nothing))
    assert {one.table: one.outcome for one in taken} == {
        table: world.catalog.inventory(table, small_target, know_nothing)
        for table in (ORDERS, ABSENT, ITEMS)
    }
    assert len(taken) == 3
    assert all(one.seconds >= 0 for one in taken)


def test_portions_are_of_what_is_read_and_of_the_callers_target(world: World) -> None:
    world.append(ORDERS, 3)
    memory = Memory()
    memory.remember(read_by(world.catalog, ORDERS, memory))
    for count in (4, 5):
        world.append(ORDERS, count)
    kept: list[tuple[str, int, ManifestDigest]] = []

    def keep(table_uuid: str, target_bytes: int, digests: Sequence[ManifestDigest]) -> None:
        kept.extend((table_uuid, target_bytes, digest) for digest in digests)

    (taken,) = world.catalog.inventories([ORDERS], small_target, memory.known, keep=keep)
    assert isinstance(taken.outcome, TableInventory)
    fresh = {digest for digest in taken.outcome.manifests if digest.entries_read > 0}
    assert len(fresh) == 2
    assert {(uuid, target) for uuid, target, _ in kept} <= {
        (taken.outcome.table_uuid, TARGET_BYTES)
    }
    assert {digest for _, _, digest in kept} <= fresh


def test_a_mistake_that_one_table_brings_out_is_reported_with_it(world: World) -> None:
    world.append(ORDERS, 1)
    world.append(ITEMS, 1)

    def stumble(table: TableIdentifier, _properties: Mapping[str, str]) -> int:
        return TARGET_BYTES // (table == ITEMS)

    found = {
        one.table: one.outcome
        for one in world.catalog.inventories([ORDERS, ITEMS], stumble, know_nothing)
    }
    assert isinstance(found[ORDERS], ZeroDivisionError)
    assert isinstance(found[ITEMS], TableInventory)


def test_inventories_and_polls_end_when_they_are_stopped(world: World) -> None:
    for table in (ORDERS, ITEMS):
        world.append(table, 1)
    assert (
        list(world.catalog.inventories([ORDERS, ITEMS], small_target, know_nothing, lambda: True))
        == []
    )
    assert list(world.catalog.poll({}, lambda: True)) == []
    seen: list[TableIdentifier] = []
    for taken in world.catalog.inventories(
        [ORDERS] * 100, small_target, know_nothing, lambda: bool(seen)
    ):
        seen.append(taken.table)  # noqa: PERF401 - what was seen says when to stop
    assert 1 <= len(seen) < 100


def test_tables_are_asked_for_as_there_is_room(world: World) -> None:
    """What the caller finds out while the first are read decides what is read next."""
    world.append(ORDERS, 1)
    asked: list[int] = []

    def tables() -> Iterator[TableIdentifier]:
        for number in range(100):
            asked.append(number)
            yield ORDERS

    ahead = [
        len(asked) - done
        for done, _ in enumerate(
            world.catalog.inventories(tables(), small_target, know_nothing), start=1
        )
    ]
    assert len(ahead) == 100
    assert max(ahead) <= 10


@pytest.mark.parametrize("ask", ["inventory", "snapshots"])
def test_a_table_dropped_meanwhile_is_a_fault(world: World, ask: str) -> None:
    world.append(ORDERS, 3)
    world.drop(ORDERS)
    catalog = world.catalog
    found = (
        catalog.inventory(ORDERS, small_target, know_nothing)
        if ask == "inventory"
        else catalog.snapshots(ORDERS)
    )
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.DROPPED


def test_snapshots_come_oldest_first(world: World) -> None:
    for count in (1, 2, 3):
        world.append(ORDERS, count)
    snapshots = world.catalog.snapshots(ORDERS)
    assert isinstance(snapshots, tuple)
    assert [s.sequence_number for s in snapshots] == [1, 2, 3]
    assert snapshots == read_by(world.catalog, ORDERS).snapshots


def test_rows_are_those_of_the_snapshot_asked_for(world: World) -> None:
    for count in (1, 2, 3):
        world.append(ORDERS, count)
    snapshots = world.catalog.snapshots(ORDERS)
    assert isinstance(snapshots, tuple)
    assert [
        world.catalog.count_rows(ORDERS, s.snapshot_id, limit_bytes=10**9) for s in snapshots
    ] == [1, 3, 6]
    assert world.catalog.count_rows(ORDERS, 987654321, limit_bytes=10**9) is None
    assert world.catalog.count_rows(ABSENT, snapshots[0].snapshot_id, limit_bytes=10**9) is None


def test_what_snapshots_added_is_read_again_unless_they_are_gone(world: World) -> None:
    for count in (1, 2):
        world.append(ORDERS, count)
    snapshots = world.catalog.snapshots(ORDERS)
    assert isinstance(snapshots, tuple)
    assert world.catalog.read_canary(ORDERS, [s.snapshot_id for s in snapshots]) == CanaryResult(2)
    assert world.catalog.read_canary(ORDERS, [987654321]) == CanaryResult(0)
    assert world.catalog.read_canary(ABSENT, [snapshots[0].snapshot_id]) is None


def polled(catalog: Catalog, known: dict[TableIdentifier, str]) -> dict[TableIdentifier, bool]:
    """Which tables are there and which have changed; `known` becomes what is known afterwards."""
    found = list(catalog.poll(known))
    assert all(isinstance(one, Polled) for one in found), found
    changes = [one for one in found if isinstance(one, Polled)]
    known.clear()
    known.update({one.table: one.token for one in changes})
    return {one.table: one.is_changed for one in changes}


def test_a_poll_tells_apart_what_changed_and_what_did_not(world: World) -> None:
    known: dict[TableIdentifier, str] = {}
    world.append(ORDERS, 1)
    assert polled(world.catalog, known) == {ORDERS: True}
    assert polled(world.catalog, known) == {ORDERS: False}
    world.append(ITEMS, 1)
    world.make_view(ABSENT)
    assert polled(world.catalog, known) == {ORDERS: False, ITEMS: True}
    world.append(ORDERS, 2)
    assert polled(world.catalog, known) == {ORDERS: True, ITEMS: False}
    world.drop(ORDERS)
    assert polled(world.catalog, known) == {ITEMS: False}


def test_a_token_that_is_not_known_counts_as_changed(world: World) -> None:
    world.append(ORDERS, 1)
    assert polled(world.catalog, {ORDERS: ""}) == {ORDERS: True}
    assert polled(world.catalog, {ORDERS: "of another kind\nof catalog"}) == {ORDERS: True}


def test_an_outage_is_one_fault_of_the_poll_and_passes(world: World) -> None:
    world.append(ORDERS, 1)
    world.break_down()
    (fault,) = world.catalog.poll({})
    assert isinstance(fault, CatalogFault)
    assert (fault.catalog, fault.namespace) == ("lake", ())
    world.repair()
    assert polled(world.catalog, {}) == {ORDERS: True}


def test_ping_says_in_a_sentence_what_answers(world: World) -> None:
    sentence = world.catalog.ping()
    assert "lake answers" in sentence
    assert "\n" not in sentence


QUESTIONS: dict[str, Callable[[Catalog], object]] = {
    "inventory": lambda catalog: catalog.inventory(ORDERS, small_target, know_nothing),
    "snapshots": lambda catalog: catalog.snapshots(ORDERS),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_outage_is_a_fault_of_every_table_and_passes(world: World, question: str) -> None:
    world.append(ORDERS, 1)
    world.break_down()
    found = QUESTIONS[question](world.catalog)
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.CATALOG_UNAVAILABLE
    world.repair()
    assert not isinstance(QUESTIONS[question](world.catalog), TableFault)


def test_an_outage_is_one_fault_of_the_listing_and_passes(world: World) -> None:
    world.append(ORDERS, 1)
    world.break_down()
    (fault,) = world.catalog.tables()
    assert isinstance(fault, CatalogFault)
    assert (fault.catalog, fault.namespace, fault.seen_at) == ("lake", (), NOW)
    with pytest.raises(CatalogUnavailableError) as raised:
        world.catalog.ping()
    assert "\n" not in str(raised.value)
    assert world.catalog.count_rows(ORDERS, 1, limit_bytes=1) is None
    world.repair()
    assert listed(world.catalog) == [ORDERS]


def test_closing_twice_is_harmless(world: World) -> None:
    world.append(ORDERS, 1)
    world.catalog.close()
    world.catalog.close()
