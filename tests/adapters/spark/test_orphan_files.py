"""What orphan scans and removals are given and report lies in the store, in portions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from maintainer.adapters.spark.driver.lists import portions
from maintainer.adapters.spark.driver.lists.portions import pack, unpack
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.statements.orphans import GivenFiles
from maintainer.domain.action import ApprovedList, RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.orphan import FoundFile, FoundOrphans
from maintainer.ports.store.portions import Portion
from tests.adapters.spark.lakes import job_on
from tests.fakes.adapters.store import FakeStore

ORDERS = TableIdentifier("lake", ("sales",), "orders")
PLACE = "s3://lake/orders"
OLDER_THAN = datetime(2026, 3, 4, tzinfo=UTC)
LONG_AGO = datetime(2026, 1, 2, tzinfo=UTC)
SCAN = RemoveOrphanFiles(OLDER_THAN, PLACE, is_listed=True)
REMOVAL = RemoveOrphanFiles(OLDER_THAN, PLACE, approved=ApprovedList("m-1", "abc"))
STRAYS = [FoundFile(f"{PLACE}/data/{name}.parquet", 1, LONG_AGO) for name in "ab"]
ROWS = ['{"schema": {}}', "[0]", '{"rows": 1}', '{"schema": {}}', '["x"]', '{"rows": 1}']


def removal(state: JobState = JobState.PENDING) -> Job:
    return replace(job_on(ORDERS, "m-2", REMOVAL), state=state)


def scan() -> Job:
    return replace(job_on(ORDERS, "m-2", SCAN), state=JobState.RUNNING)


def listed_paths(files: OrphanFiles, job: Job) -> list[str]:
    given = files.find_input(job)
    assert given is not None
    portions = [
        unpack(files.read_portion(job.job_id, given.kind, number))
        for number in range(len(given.lines))
    ]
    return [json.loads(line)[0] for text in portions if text for line in text.split("\n")]


def test_a_listing_of_any_length_is_kept_page_by_page_without_its_young_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(portions, "_ENOUGH_RAW_BYTES", 200)
    store, stored_at = FakeStore(), []
    files = OrphanFiles(store, "one")

    def pages() -> Iterator[Sequence[FoundFile]]:
        for page in range(20):
            stored_at.append(sum(map(len, store._portions.values())))
            yield [FoundFile(f"{PLACE}/{page:02}/{n}", 1, LONG_AGO) for n in range(3)]
            yield [FoundFile(f"{PLACE}/young", 1, OLDER_THAN), FoundFile(f"{PLACE}/{page}", 1)]

    assert files.write_listing("m-2", SCAN, pages()) == 80
    assert stored_at[-1] > 10, "most was stored before the last page was read"
    files.claim(scan())
    paths = listed_paths(files, scan())
    assert len(paths) == 80
    assert paths[:4] == [f"{PLACE}/00/0", f"{PLACE}/00/1", f"{PLACE}/00/2", f"{PLACE}/0"]


def test_of_two_processes_that_prepare_a_job_the_one_that_submits_it_is_read() -> None:
    store = FakeStore()
    one, two = OrphanFiles(store, "one"), OrphanFiles(store, "two")
    one.write_list("m-2", REMOVAL, STRAYS)
    two.write_list("m-2", REMOVAL, STRAYS[:1])
    one.claim(removal())
    assert listed_paths(two, removal()) == ["data/a.parquet", "data/b.parquet"], (
        "the adopter of the job reads the same"
    )
    two.write_list("m-2", REMOVAL, STRAYS[:1])
    assert two.find_input(removal()) == GivenFiles("list", (2,)), "its own comes too late"
    two.remove(removal())
    assert listed_paths(one, removal()) == ["data/a.parquet", "data/b.parquet"]
    found = two.find_removed(removal(JobState.RUNNING))
    assert found is not None
    assert found.brought == tuple(file.path for file in STRAYS)
    two.remove(removal(JobState.RUNNING))
    assert one.find_removed(removal(JobState.RUNNING)) is None
    assert one.find_input(removal()) is None


def test_a_list_that_is_not_whole_is_no_list() -> None:
    store = FakeStore()
    files = OrphanFiles(store, "one")
    files.write_list("m-2", REMOVAL, STRAYS)
    files.claim(removal())
    (held,) = store._portions.values()
    held[0] = replace(held[0], is_last=False)
    assert files.find_input(removal()) is None
    assert files.find_removed(removal()) is None
    with pytest.raises(InvalidValueError, match="portion 1 of the list of job m-2 is not in the"):
        files.read_portion("m-2", "list", 1)
    with pytest.raises(InvalidValueError, match="portion 0 of the rows of job m-2 is not in the"):
        files.read_portion("m-2", "rows", 0)


def test_a_list_that_cannot_be_kept_is_refused_with_the_reason() -> None:
    files = OrphanFiles(FakeStore(), "one")
    with pytest.raises(RunnerUnavailableError, match="s3://lake/x is not in s3://lake/orders/"):
        files.write_list("m-2", REMOVAL, [FoundFile("s3://lake/x", 1)])


def rows_in(monkeypatch: pytest.MonkeyPatch) -> list[Portion]:
    monkeypatch.setattr(portions, "_ENOUGH_RAW_BYTES", 1)
    return [Portion(packed.lines, packed.data, packed.is_last) for packed in pack(ROWS)]


def test_rows_are_read_when_all_of_them_have_come_in_any_order_and_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = OrphanFiles(FakeStore(), "one")
    sent = list(enumerate(rows_in(monkeypatch)))
    for number, portion in [*reversed(sent), *sent]:
        files.store_rows("m-2", number, portion)
    assert files.find_orphans(scan()) == FoundOrphans(("x",), 1, 0)


@pytest.mark.parametrize("lost", range(7))
def test_rows_of_which_a_portion_is_lost_have_found_nothing(
    lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OrphanFiles(FakeStore(), "one")
    for number, portion in enumerate(rows_in(monkeypatch)):
        if number != lost:
            files.store_rows("m-2", number, portion)
    assert files.find_orphans(scan()) is None
