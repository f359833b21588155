"""Every procedure on every format version and on every file format, by the very statements that jobs
run; a branch beside main stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count

import pytest

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.spark.local import LocalRunner
from maintainer.compare.effect import split_commits
from maintainer.compare.proof import compare_contents
from maintainer.domain.action import (
    Action,
    Canary,
    Checksum,
    ComputePartitionStats,
    ComputeTableStats,
    ExpireSnapshots,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    Safeguards,
    rollback_tag,
)
from maintainer.domain.effect import ContentProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content, Snapshot, TableInventory
from maintainer.domain.job import Baseline, Job, Outcome
from maintainer.measure.health import measure, summarise
from tests.adapters.spark.lakes import APPLICATION, Lake, WallClock, job_on, outcome_of
from tests.adapters.spark.workshop import run_sql

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_numbers = count(1)
MARKED = Safeguards(timedelta(hours=1), Canary.SAMPLE)
COMPARED = replace(MARKED, checksum=Checksum.FULL)
IN_PARTS = (
    ("min-input-files", "2"),
    ("partial-progress.enabled", "true"),
    ("partial-progress.max-commits", "2"),
)
AT_ONCE = (("min-input-files", "2"), ("partial-progress.enabled", "false"))
# How each file format's data files are rewritten: along a curve, in an order, in parts of one
# partition alone.
REWRITES: dict[str, RewriteDataFiles] = {
    "parquet": RewriteDataFiles("sort", "zorder(id, part)", None, AT_ONCE),
    "orc": RewriteDataFiles("sort", "id DESC NULLS LAST", None, IN_PARTS),
    "avro": RewriteDataFiles(where="part = 0", options=IN_PARTS),
}
FILES_AFTER = {"parquet": 2, "orc": 2, "avro": 4}


@dataclass
class Bench:
    """One table, and the runner that works on it."""

    runner: LocalRunner
    catalog: PyIcebergCatalog
    table: TableIdentifier
    own: list[Snapshot] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"lake.formats.{self.table.name}"

    def look(self) -> TableInventory:
        inventory = self.catalog.inventory(self.table, lambda *_: 512 * 1024**2, lambda *_: {})
        assert isinstance(inventory, TableInventory), inventory
        return inventory

    def files(self, content: Content) -> int:
        return sum(
            share.file_count
            for digest in self.look().manifests
            for share in digest.partitions
            if share.content is content
        )

    def do(self, action: Action, guards: Safeguards = MARKED) -> Outcome:
        """A job's statements, and the proof of what they did."""
        before = self.look()
        job = replace(
            job_on(self.table, f"format-{next(_numbers)}", action),
            safeguards=guards,
            baseline=baseline_of(before),
            application=APPLICATION,
        )
        job = replace(job, submitted_at=WallClock().now())
        self.runner.submit(job)
        outcome = outcome_of(self.runner, job)
        assert (outcome.kind, outcome.check_failure) == ("finished", ""), outcome
        self.prove(replace(job, outcome=outcome), before, self.look())
        return outcome

    def prove(self, job: Job, before: TableInventory, after: TableInventory) -> None:
        assert job.baseline is not None
        assert {ref.name: ref.snapshot_id for ref in after.refs}["audit"] == {
            ref.name: ref.snapshot_id for ref in before.refs
        }["audit"]
        assert settings_of(after) == settings_of(before)
        if not job.procedure.rewrites_content:
            return
        own = split_commits(job.baseline, APPLICATION, job.job_id, after.snapshots).own
        assert own, "it has committed"
        self.own += own
        assert compare_contents(job, own) is (
            ContentProof.EQUAL
            if job.safeguards.checksum is Checksum.FULL
            else ContentProof.NOT_TAKEN
        )
        assert job.outcome is not None
        assert job.outcome.checks["canary_characters"], "Spark has read a row"
        canary = self.catalog.read_canary(self.table, [snapshot.snapshot_id for snapshot in own])
        assert canary is not None
        assert (canary.problems, canary.unread) == ((), ())
        tags = {ref.name: ref for ref in after.refs if not ref.is_branch}
        assert tags[rollback_tag(job.job_id)].snapshot_id == before.current_snapshot_id
        assert tags[rollback_tag(job.job_id)].max_ref_age_ms, "it ends by its own age"


def settings_of(found: TableInventory) -> tuple[object, ...]:
    return (
        found.properties,
        found.format_version,
        found.specs,
        found.default_spec_id,
        found.sort_order,
        found.location,
    )


def baseline_of(found: TableInventory) -> Baseline:
    newest = found.snapshots[-1]
    number = max(snapshot.sequence_number for snapshot in found.snapshots)
    current = next(
        snapshot
        for snapshot in found.snapshots
        if snapshot.snapshot_id == found.current_snapshot_id
    )
    measured = summarise(measure(found))
    return Baseline(
        found.current_snapshot_id,
        number,
        newest.committed_at,
        found.metadata_location,
        measured,
        snapshot_at=current.committed_at,
    )


@pytest.fixture(scope="module")
def catalog(lake: Lake) -> Iterator[PyIcebergCatalog]:
    lake.catalog.create_namespace_if_not_exists(("formats",))
    opened = PyIcebergCatalog("lake", lake.properties, WallClock())
    yield opened
    opened.close()


# Each format with each kind of rewrite, and each version; deletion vectors with two formats. Spark
# reads and writes the data files of all versions alike.
PAIRS = [(1, "parquet"), (2, "parquet"), (2, "orc"), (2, "avro"), (3, "parquet"), (3, "orc")]


@pytest.mark.parametrize(("version", "file_format"), PAIRS)
def test_guard_20_every_procedure_leaves_rows_branches_and_settings_as_they_are(
    catalog: PyIcebergCatalog, warm: LocalRunner, version: int, file_format: str
) -> None:
    bench = Bench(warm, catalog, TableIdentifier("lake", ("formats",), f"v{version}_{file_format}"))
    make(bench, version, file_format)
    if version > 1:
        deletes = Content.DELETION_VECTORS if version > 2 else Content.POSITION_DELETES
        assert bench.files(deletes) > 0
        # Those of one partition are more than one file, which version 2 merges; deletion vectors
        # are as few as they can be.
        if version == 2:
            bench.do(RewritePositionDeleteFiles(options=(("rewrite-all", "true"),)), COMPARED)
            assert bench.files(deletes) == 1
    bench.do(REWRITES[file_format], COMPARED)
    assert bench.files(Content.DATA) == FILES_AFTER[file_format]
    bench.do(RewriteManifests(0))
    current = bench.look().current_snapshot_id
    assert current is not None
    assert bench.do(ComputeTableStats(current, ("id",))).result["statistics_file"]
    if file_format != "orc":  # which guard.refuse knows
        assert bench.do(ComputePartitionStats(current)).result["partition_statistics_file"]
    if (
        file_format == "parquet"
    ):  # which files there are beside the table's own has nothing to do with their format
        bench.do(RemoveOrphanFiles(WallClock().now() - timedelta(days=3), bench.look().location))
    bench.do(ExpireSnapshots(WallClock().now(), 2))
    expected = 60 if version == 1 else 58
    counted = f"count(*) = {expected} AND count(DISTINCT id, part) = {expected}"
    on_branch = f"(SELECT count(*) FROM {bench.name} VERSION AS OF 'audit')"
    run_sql(
        warm,
        f"SELECT assert_true({counted} AND {on_branch} = 60, 'rows differ') FROM {bench.name}",
    )
    assert {snapshot.operation for snapshot in bench.own} == {"replace"}


def make(bench: Bench, version: int, file_format: str) -> None:
    """Six small files in two partitions, a branch beside main, and from version 2 on two rows that
    are deleted by position.
    """
    properties = (
        f"'format-version' = '{version}', 'write.format.default' = '{file_format}', "
        f"'write.distribution-mode' = 'none'"
    )
    deleting = (
        ", 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition'"
        if version > 1
        else ""
    )
    filling = [
        f"INSERT INTO {bench.name} SELECT /*+ REPARTITION(3) */ id, {part} FROM range(30)"
        for part in (0, 1)
    ]
    run_sql(
        bench.runner,
        f"CREATE TABLE {bench.name} (id bigint, part int) USING iceberg PARTITIONED BY (part) "
        f"TBLPROPERTIES ({properties}{deleting})",
        *filling,
        f"ALTER TABLE {bench.name} CREATE BRANCH audit",
    )
    if version > 1:
        run_sql(
            bench.runner,
            *(f"DELETE FROM {bench.name} WHERE part = 1 AND id = {number}" for number in (1, 2)),
        )
