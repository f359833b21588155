"""What Spark finds in manifests, held against our own readers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.catalog import PyIcebergCatalog
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content, ManifestDigest, TableInventory
from maintainer.domain.job import FailureReason, Job
from maintainer.domain.plan import Estimate
from maintainer.domain.reading import DigestManifests, Reading, UnreadManifests
from tests.adapters.catalog.lake import know_nothing
from tests.adapters.spark.lakes import Lake, WallClock, outcome_of, runner_on, wait_until
from tests.adapters.spark.reading_tables import (
    NAMESPACE,
    TABLES,
    make_all,
    run_statements,
    statements_of_job,
)
from tests.plain_manifests import check_every_manifest

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TARGET_BYTES = 1 << 29


def target(*_: object) -> int:
    return TARGET_BYTES


@pytest.fixture(scope="module")
def catalog(lake: Lake, warm: LocalRunner) -> Iterator[PyIcebergCatalog]:
    make_all(warm, lake)
    found = PyIcebergCatalog("lake", lake.properties, WallClock())
    yield found
    found.close()


def find(table: str) -> TableIdentifier:
    return TableIdentifier("lake", (NAMESPACE,), table)


def unread(catalog: PyIcebergCatalog, table: str) -> UnreadManifests:
    (taken,) = catalog.inventories([find(table)], target, know_nothing, most_files=0)
    assert isinstance(taken.outcome, UnreadManifests), taken.outcome
    return taken.outcome


def read_here(catalog: PyIcebergCatalog, table: str) -> TableInventory:
    inventory = catalog.inventory(find(table), target, know_nothing)
    assert isinstance(inventory, TableInventory)
    assert inventory.unreadable == ()
    return inventory


def reading(left: UnreadManifests, name: str) -> Job:
    job_id = f"reading-{name}"  # the runner is shared: its other tests have ids of their own
    action = DigestManifests(
        left.snapshot_id, left.target_bytes, left.is_partitioned, left.has_deletes
    )
    return Job(
        job_id,
        left.table,
        left.table_uuid,
        Reading.DIGEST_MANIFESTS,
        action,
        (),
        Estimate(1, 1, 0, 0),
        "",
        "",
        50,
        "person",
        WallClock().now(),
    )


def wait_for_start(runner: LocalRunner, job: Job) -> None:
    """Until Spark has tasks for it; it must not be over by then."""

    def has_tasks() -> bool:
        report = runner.report(job)
        assert report is not None
        assert report.outcome is None, report.outcome
        return bool(report.progress.tasks_total)

    wait_until(has_tasks)


def digests_of(catalog: PyIcebergCatalog, runner: LocalRunner, job: Job) -> list[ManifestDigest]:
    assert isinstance(job.action, DigestManifests)
    found = runner.found(job)
    assert found is not None
    digests = catalog.digests(job.table, job.action.snapshot_id, job.action.target_bytes, found)
    assert isinstance(digests, Iterator)
    return list(digests)


@pytest.mark.parametrize("table", TABLES)
def test_digests_by_spark_equal_our_own(
    catalog: PyIcebergCatalog, warm: LocalRunner, table: str
) -> None:
    ours = read_here(catalog, table)
    left = unread(catalog, table)
    assert (left.snapshot_id, left.manifests, left.files) == (
        ours.current_snapshot_id,
        len(ours.manifests),
        ours.listed_files,
    )
    job = reading(left, f"read-{table}")
    warm.submit(job)
    outcome = outcome_of(warm, job)
    assert outcome.kind == "finished", outcome
    by_spark = {digest.path: digest for digest in digests_of(catalog, warm, job)}
    assert by_spark == {digest.path: digest for digest in ours.manifests}
    warm.forget(job.job_id)
    assert warm.found(job) is None


def test_the_tables_have_all_that_digests_tell_apart(catalog: PyIcebergCatalog) -> None:
    inventories = {table: read_here(catalog, table) for table in TABLES}
    shares = [
        share
        for inventory in inventories.values()
        for digest in inventory.manifests
        for share in digest.partitions
    ]
    assert {share.content for share in shares} == set(Content)
    assert len({digest.spec_id for digest in inventories["evolved"].manifests}) == 4
    assert any(share.sizes.runs for share in shares)
    assert any(share.sizes.listed for share in shares)
    assert {share.newest_sequence_number is None for share in shares} == {True, False}
    assert {
        digest.lists_files for inventory in inventories.values() for digest in inventory.manifests
    } == {True, False}
    assert {len(digest.formats) for digest in inventories["many"].manifests} == {2}


@pytest.mark.usefixtures("catalog")
def test_every_manifest_is_read_as_fastavro_reads_it(lake: Lake) -> None:
    checked = check_every_manifest(lake.root)
    assert checked.refused == set()
    assert checked.contents == set(Content)


def test_reading_commits_nothing(catalog: PyIcebergCatalog, warm: LocalRunner) -> None:
    before = read_here(catalog, "flat").metadata_location
    job = reading(unread(catalog, "flat"), "reads-only")
    warm.submit(job)
    assert outcome_of(warm, job).kind == "finished"
    assert read_here(catalog, "flat").metadata_location == before


def test_an_old_snapshot_is_read_as_it_was(catalog: PyIcebergCatalog, warm: LocalRunner) -> None:
    before = {digest.path: digest for digest in read_here(catalog, "branched").manifests}
    job = reading(unread(catalog, "branched"), "old-snapshot")
    run_statements(
        warm, ["insert into lake.readings.branched select id, int(id) from range(90, 120, 1, 1)"]
    )
    warm.submit(job)
    assert outcome_of(warm, job).kind == "finished"
    assert {manifest.path for manifest in warm.found(job) or ()} == before.keys()
    assert {digest.path: digest for digest in digests_of(catalog, warm, job)} == before


def test_of_partitions_whose_source_column_was_dropped_spark_tells_nothing(
    catalog: PyIcebergCatalog, warm: LocalRunner
) -> None:
    assert len(read_here(catalog, "orphaned").manifests) == 2
    job = reading(unread(catalog, "orphaned"), "orphaned")
    warm.submit(job)
    outcome = outcome_of(warm, job)
    told = {digest.path: digest for digest in digests_of(catalog, warm, job)}
    assert (outcome.kind, outcome.reason, told) == ("failed", FailureReason.INVALID_REQUEST, {})


def test_of_a_snapshot_that_is_gone_nothing_is_found(
    catalog: PyIcebergCatalog, warm: LocalRunner
) -> None:
    job = reading(unread(catalog, "flat"), "gone")
    assert isinstance(job.action, DigestManifests)
    object.__setattr__(job.action, "snapshot_id", 42)
    warm.submit(job)
    assert outcome_of(warm, job).result == {"rows": 0}
    assert digests_of(catalog, warm, job) == []


def test_what_is_cut_short_keeps_whole_manifests_only(
    catalog: PyIcebergCatalog, warm: LocalRunner, run_dir: Path
) -> None:
    ours = {digest.path: digest for digest in read_here(catalog, "evolved").manifests}
    job = reading(unread(catalog, "evolved"), "cut-short")
    warm.submit(job)
    assert outcome_of(warm, job).kind == "finished"
    path = run_dir / "findings" / "reading-cut-short.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-60])
    left = {digest.path: digest for digest in digests_of(catalog, warm, job)}
    assert 0 < len(left) < len(ours)
    assert left.items() <= ours.items()


def test_another_process_of_this_machine_finds_it_too(
    catalog: PyIcebergCatalog, warm: LocalRunner, lake: Lake, run_dir: Path
) -> None:
    job = reading(unread(catalog, "flat"), "left-behind")
    warm.submit(job)
    assert outcome_of(warm, job).kind == "finished"
    other = runner_on([lake], run_dir, "other-process")
    assert digests_of(catalog, other, job) == digests_of(catalog, warm, job)
    other.close()


def test_a_reading_is_cancelled_in_the_middle_of_its_work(
    catalog: PyIcebergCatalog, warm: LocalRunner
) -> None:
    job = reading(unread(catalog, "flat"), "cancelled")
    with statements_of_job(["select id from range(0, 1000000000000, 1, 4) where id < 0"]):
        warm.submit(job)
    wait_for_start(warm, job)
    warm.cancel(job.job_id)
    assert outcome_of(warm, job).kind == "cancelled"
    assert digests_of(catalog, warm, job) == []
