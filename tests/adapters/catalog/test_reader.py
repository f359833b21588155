from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from maintainer.adapters.catalog import pyiceberg_catalog
from maintainer.adapters.catalog import reader as reading
from maintainer.adapters.catalog.files.access import Access
from maintainer.adapters.catalog.limits import MAX_DOCUMENT_BYTES
from maintainer.adapters.catalog.loop import in_thread
from maintainer.adapters.catalog.manifests import fast_reader as fast
from maintainer.adapters.catalog.manifests.decoding import Batch, Decoded, decode_batch
from maintainer.adapters.catalog.manifests.fast_reader import _sample
from maintainer.adapters.catalog.manifests.generated_reader import NotGeneratedError
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.packed_digests import GatheredDigests
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.reader import (
    BATCH_BYTES,
    BATCH_ENTRIES,
    BATCH_MANIFESTS,
    ByteBudget,
    MetadataReader,
    ReadLimits,
    count_entries,
    split,
)
from maintainer.domain.inventory import (
    ManifestContent,
    ManifestDigest,
    SizeClasses,
    TableInventory,
    Unreadable,
)
from maintainer.domain.scan_cost import SlowRead
from maintainer.domain.units import KIB, MIB
from tests.adapters.catalog.lake import (
    TARGET_BYTES,
    Lake,
    StoppedClock,
    identify,
    know_nothing,
    rows,
    small_target,
)

RAW = _sample()
CLASSES = SizeClasses.around(1000)


def listed(path: str, length: int | None = None) -> ListedManifest:
    return ListedManifest(
        path, length, 0, ManifestContent.DATA, 1, live_entries=9 if length == len(RAW) else None
    )


class Shelf(Access):
    """Hands out the sample under any name, and knows how many bytes are out: from a request until
    its manifest is decoded.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.most_requests = 0
        self.missing: set[str] = set()

    async def read(self, location: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
        assert most >= len(RAW), "the file is longer than it may be"
        self.requests += 1
        self.most_requests = max(self.most_requests, self.requests)
        await asyncio.sleep(0)
        self.requests -= 1
        if location in self.missing:
            raise FileNotFoundError(location)
        return RAW

    def secrets(self) -> tuple[str, ...]:
        return ()


async def digest(
    reader: MetadataReader, access: Access, manifests: Sequence[ListedManifest]
) -> tuple[Sequence[ManifestDigest], list[Unreadable]]:
    gathered = GatheredDigests(0)
    broken = await reader.digest(access, manifests, {}, CLASSES, gathered)
    return gathered.tell(manifests), broken


@pytest.fixture
def reader() -> Iterator[MetadataReader]:
    with closing(MetadataReader(ReadLimits(decode_processes=0))) as made:
        yield made


def test_batches_are_bounded_by_bytes_and_by_number_and_a_large_manifest_goes_alone() -> None:
    small = [listed(f"s{number}", 10) for number in range(BATCH_MANIFESTS + 1)]
    assert [len(batch) for batch in split(small)] == [BATCH_MANIFESTS, 1]
    sizes = [BATCH_BYTES // 2, BATCH_BYTES // 2, 1, BATCH_BYTES * 3, 1]
    found = [
        [manifest.length_bytes for manifest in batch]
        for batch in split([listed(str(number), size) for number, size in enumerate(sizes)])
    ]
    assert found == [[BATCH_BYTES // 2, BATCH_BYTES // 2], [1], [BATCH_BYTES * 3], [1]]
    assert list(split([])) == []
    dense = [
        replace(listed(str(number), 10), live_entries=BATCH_ENTRIES // 2) for number in range(5)
    ]
    assert [len(batch) for batch in split(dense)] == [2, 2, 1]
    assert [len(batch) for batch in split([listed("a"), listed("b")])] == [1, 1], (
        "what has no length may be large"
    )


def test_the_budget_is_lent_in_order_and_never_overdrawn() -> None:
    async def run() -> tuple[list[int], int]:
        budget, order, most = ByteBudget(10), list[int](), 0

        async def borrow(number: int, size: int) -> None:
            nonlocal most
            async with budget.lend(size):
                order.append(number)
                most = max(most, budget.lent)
                await asyncio.sleep(0)

        await asyncio.gather(
            *[borrow(number, size) for number, size in enumerate([6, 6, 1, 10, 25, 1, 1])]
        )
        assert budget.lent == 0
        return order, most

    assert asyncio.run(run()) == ([0, 1, 2, 3, 4, 5, 6], 10)


def test_a_borrower_that_is_cancelled_gives_back_what_it_has_and_its_place() -> None:
    async def run() -> None:
        budget = ByteBudget(10)
        held = asyncio.Event()

        async def borrow(size: int) -> None:
            async with budget.lend(size):
                await held.wait()

        tasks = [asyncio.create_task(borrow(size)) for size in (10, 10, 3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        tasks[0].cancel()
        await asyncio.gather(*tasks[:2], return_exceptions=True)
        await asyncio.sleep(0)
        assert budget.lent == 3
        held.set()
        await tasks[2]
        assert budget.lent == 0

    asyncio.run(run())


def test_the_bytes_of_manifests_in_flight_stay_under_their_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "BATCH_BYTES", 4 * len(RAW))
    monkeypatch.setattr(reading, "INLINE_ENTRIES", 0)
    limit = 10 * len(RAW)
    in_flight, most_in_flight, lock = 0, 0, threading.Lock()
    reader = MetadataReader(ReadLimits(decode_processes=2, manifest_bytes=limit, requests=1000))

    class Counting(Shelf):
        async def read(self, location: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
            nonlocal in_flight, most_in_flight
            with lock:
                in_flight += len(RAW)
                most_in_flight = max(most_in_flight, in_flight)
            return await super().read(location, most)

    def decode(batch: Batch, most_bytes: int | None = None) -> Decoded:
        nonlocal in_flight
        found = decode_batch(batch, most_bytes)
        with lock:
            in_flight -= sum(len(raw) for _, raw in batch.manifests)
        return found

    monkeypatch.setattr(reading, "decode_batch", decode)
    monkeypatch.setattr(reading, "POOLED_ENTRIES", 1 << 60)  # here, so that they can be counted

    async def read_tables() -> list[tuple[Sequence[ManifestDigest], list[Unreadable]]]:
        tables = [
            [listed(f"t{table}-m{number}", len(RAW)) for number in range(40)] for table in range(5)
        ]
        return await asyncio.gather(*[digest(reader, Counting(), table) for table in tables])

    with closing(reader):
        found = reader.loop.run(read_tables())
    assert [(len(digests), broken) for digests, broken in found] == [(40, [])] * 5
    assert limit // 2 < most_in_flight <= limit
    assert in_flight == 0


def test_requests_are_bounded_for_all_tables_together() -> None:
    shelf = Shelf()

    async def read_tables(reader: MetadataReader) -> None:
        await asyncio.gather(
            *[
                digest(
                    reader, shelf, [listed(f"t{table}-m{number}", len(RAW)) for number in range(20)]
                )
                for table in range(5)
            ]
        )

    with closing(MetadataReader(ReadLimits(decode_processes=0, requests=7))) as reader:
        reader.loop.run(read_tables(reader))
    assert 1 < shelf.most_requests <= 7


def test_digests_are_in_the_order_of_the_list_also_after_failures(
    reader: MetadataReader,
) -> None:
    shelf = Shelf()
    shelf.missing = {"b"}
    manifests = [
        listed("a", len(RAW)),
        listed("b", len(RAW)),
        listed("c", len(RAW) + 1),
        ListedManifest("d", 1, 0, ManifestContent.DATA, 1, is_encrypted=True),
    ]
    found, broken = reader.loop.run(digest(reader, shelf, manifests))
    assert [one.path for one in found] == ["a"]
    assert broken == [
        Unreadable("b", "manifest: the file does not exist"),
        Unreadable(
            "c", f"manifest: it has {len(RAW)} bytes, the manifest list says {len(RAW) + 1}"
        ),
        Unreadable("d", "manifest: it is encrypted"),
    ]


def test_what_is_read_is_counted_batch_by_batch(
    reader: MetadataReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_MANIFESTS", 1)
    counts: list[tuple[int, int]] = []
    original = reader._digest_batch

    async def note(*arguments: Any, **options: Any) -> list[ManifestDigest | Unreadable]:
        found = await original(*arguments, **options)
        counts.append((reader.count.manifests, reader.count.entries))
        return found

    monkeypatch.setattr(reader, "_digest_batch", note)
    shelf = Shelf()
    shelf.missing = {"b"}
    found, _ = reader.loop.run(digest(reader, shelf, [listed(name, len(RAW)) for name in "abc"]))
    each = found[0].entries_read
    assert each > 0
    assert sorted(set(counts)) == [(1, each), (2, 2 * each)], (
        "it grows within one table, and what cannot be read counts for nothing"
    )


def test_manifests_that_are_read_slowly_are_reported_batch_by_batch(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(lake, "orders", 3)
    monkeypatch.setattr(reading, "BATCH_MANIFESTS", 2)
    monkeypatch.setattr(fast, "_compile_entries", refuse)
    monkeypatch.setattr(fast, "_compile_list", refuse)
    reported: list[tuple[SlowRead, int]] = []
    with closing(
        MetadataReader(on_slow=lambda reason, manifests: reported.append((reason, manifests)))
    ) as reader:
        catalog = PyIcebergCatalog("lake", lake.properties, StoppedClock(), reader=reader)
        inventory = catalog.inventory(identify("sales", "orders"), small_target, know_nothing)
        catalog.close()
    assert isinstance(inventory, TableInventory)
    assert sorted(reported) == [(SlowRead.SCHEMA, 1), (SlowRead.SCHEMA, 1), (SlowRead.SCHEMA, 2)], (
        "the list, and three manifests in two batches"
    )


def refuse(*_schema: object) -> None:
    message = "its writer wrote something new"
    raise NotGeneratedError(message)


@pytest.mark.slow
def test_a_large_table_is_decoded_by_processes_a_tiny_one_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "STARTING_ENTRIES", 10)
    monkeypatch.setattr(reading, "POOLED_ENTRIES", 9)
    monkeypatch.setattr(reading, "INLINE_ENTRIES", 0)
    with closing(MetadataReader(ReadLimits(decode_processes=1))) as reader:
        tiny, _ = reader.loop.run(digest(reader, Shelf(), [listed("m0", len(RAW))]))
        assert reader.pool.ids() == []
        large, _ = reader.loop.run(
            digest(reader, Shelf(), [listed(f"m{number}", len(RAW)) for number in range(3)])
        )
        assert len(reader.pool.ids()) == 1
        assert large[:1] == tiny


def fill(lake: Lake, name: str, appends: int) -> None:
    table = lake.make_table("sales", name)
    for _ in range(appends):
        table.append(rows(5))


@pytest.mark.parametrize("workers", [1, 4])
def test_a_huge_table_keeps_no_tiny_one_waiting(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    fill(lake, "huge", 3)
    for number in range(5):
        fill(lake, f"tiny{number}", 1)
    monkeypatch.setattr(
        pyiceberg_catalog, "HUGE_ENTRIES", 6
    )  # more than the one manifest of a tiny table, less than three
    may_go_on = threading.Event()
    original = MetadataReader._fetch_manifest
    names = [
        identify("sales", name) for name in ("huge", *(f"tiny{number}" for number in range(5)))
    ]

    async def fetch(
        self: MetadataReader, access: Access, manifest: ListedManifest
    ) -> bytes | Unreadable:
        if "/huge/" in manifest.path:
            await in_thread(may_go_on.wait, 20)
        return await original(self, access, manifest)

    monkeypatch.setattr(MetadataReader, "_fetch_manifest", fetch)
    order = []
    with closing(PyIcebergCatalog("lake", lake.properties, StoppedClock(), workers)) as catalog:
        for taken in catalog.inventories(names, small_target, know_nothing):
            assert isinstance(taken.outcome, TableInventory)
            assert taken.outcome == catalog.inventory(taken.table, small_target, know_nothing)
            order.append(taken.table.name)
            if len(order) == 5:
                may_go_on.set()
    assert sorted(order[:5]) == [f"tiny{number}" for number in range(5)]
    assert order[5:] == ["huge"]


def test_what_was_read_of_a_table_is_handed_over_before_the_rest_is_there(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(lake, "orders", 4)
    monkeypatch.setattr(reading, "BATCH_MANIFESTS", 1)
    inventory = lake.catalog.inventory(identify("sales", "orders"), small_target, know_nothing)
    assert isinstance(inventory, TableInventory)
    stuck = inventory.manifests[0].path
    kept: list[ManifestDigest] = []
    are_kept = threading.Event()
    original = MetadataReader._fetch_manifest

    async def fetch(
        self: MetadataReader, access: Access, manifest: ListedManifest
    ) -> bytes | Unreadable:
        if manifest.path == stuck:
            await asyncio.Event().wait()
        return await original(self, access, manifest)

    def keep(table_uuid: str, target_bytes: int, digests: Sequence[ManifestDigest]) -> None:
        assert (table_uuid, target_bytes) == (inventory.table_uuid, TARGET_BYTES)
        kept.extend(digests)
        if len(kept) == 3:
            are_kept.set()

    monkeypatch.setattr(MetadataReader, "_fetch_manifest", fetch)
    deadline = time.monotonic() + 30
    orders = [identify("sales", "orders")]
    taken = lake.catalog.inventories(
        orders,
        small_target,
        know_nothing,
        lambda: are_kept.is_set() or time.monotonic() > deadline,
        keep=keep,
    )
    assert list(taken) == []
    assert sorted(kept, key=lambda digest: digest.path) == sorted(
        inventory.manifests[1:], key=lambda digest: digest.path
    )


def test_a_table_that_is_read_at_one_go_is_not_handed_over_in_portions(lake: Lake) -> None:
    fill(lake, "orders", 4)
    kept: list[object] = []
    (taken,) = lake.catalog.inventories(
        [identify("sales", "orders")],
        small_target,
        know_nothing,
        keep=lambda *portion: kept.append(portion),
    )
    assert isinstance(taken.outcome, TableInventory)
    assert kept == []


def test_a_table_whose_manifests_are_missing_is_not_asked_for_all_of_them(
    reader: MetadataReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of very many manifests that do not exist would cost as many requests at each scan."""
    monkeypatch.setattr(reading, "MAX_BROKEN", 3)
    monkeypatch.setattr(reading, "BATCH_MANIFESTS", 2)
    shelf = Shelf()
    manifests = [listed(f"m{number}", len(RAW)) for number in range(100)]
    shelf.missing = {manifest.path for manifest in manifests[1:]}
    asked: list[str] = []
    read = shelf.read

    async def spy(location: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
        asked.append(location)
        return await read(location, most)

    monkeypatch.setattr(shelf, "read", spy)
    found, broken = reader.loop.run(digest(reader, shelf, manifests))
    assert [digest.path for digest in found] == ["m0"]
    assert len(asked) < 20
    assert {one.reason for one in broken[:-1]} == {"manifest: the file does not exist"}
    assert broken[-1].reason == (
        f"manifest: this one and {100 - len(asked) - 1} others were not read, because "
        f"{len(asked) - 1} cannot be read"
    )


def test_what_a_manifest_costs_is_known_from_its_list_or_guessed_from_its_length() -> None:
    assert count_entries(replace(listed("a", 100 * KIB), live_entries=4000)) == 4000
    assert count_entries(listed("a", 100 * KIB)) == 100
    assert count_entries(replace(listed("a", 100 * KIB), live_entries=0)) == 100, (
        "all of them deleted, which takes as long to read"
    )
    assert count_entries(listed("a")) == 16_384


def test_the_bounds_have_a_size_that_a_batch_fits_in() -> None:
    assert ReadLimits().manifest_bytes > BATCH_BYTES
    assert ReadLimits().manifest_bytes <= 256 * MIB
