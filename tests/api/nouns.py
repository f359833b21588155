"""Tables, plans and jobs to speak about in tests of what leaves the process."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles
from maintainer.domain.driver import Progress
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.health import (
    Band,
    Compaction,
    Finding,
    Grade,
    ManifestGroup,
    PartitionHealth,
    TableHealth,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, ManifestContent, Ref
from maintainer.domain.job import Job, JobState, Outcome
from maintainer.domain.plan import Estimate, Plan, PlannedAction, SkipCode, SkippedRule
from maintainer.domain.policy import Mode, RuleName
from maintainer.domain.units import MIB

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ORDERS = TableIdentifier("lake", ("sales",), "orders")
BIG_ID = 2**63 - 2  # a snapshot id that JavaScript's numbers cannot hold

FINDING = Finding(
    "average_file_size_bytes",
    1.5 * MIB,
    32.0 * MIB,
    Band.DEGRADED,
    sentence="files are 1.5 MiB on average, under 32 MiB",
)
GRADE = Grade(
    Band.DEGRADED,
    (FINDING,),
    "files are small",
    compaction=Compaction(90, applies_deletes=False),
)
ESTIMATE = Estimate(
    items_before=100, items_after=2, items_removed=98, bytes_rewritten=150 * MIB, partitions=2
)

PARTITIONS = (
    PartitionHealth(0, "day=1", 40, 40 * MIB, 40, 40 * MIB, 0, 0, 3),
    PartitionHealth(0, "day=2", 60, 110 * MIB, 50, 60 * MIB, 0, 0, 0),
    PartitionHealth(0, "day=3", 0, 0, 0, 0, 0, 0, 7),
)

HEALTH = TableHealth(
    table=ORDERS, table_uuid="3f0c", format_version=2, location="file:/lake/sales/orders",
    metadata_location="file:/lake/sales/orders/metadata/9.json",
    snapshot_id=BIG_ID, measured_at=NOW - timedelta(minutes=3), target_file_size_bytes=512 * MIB,
    target_manifest_size_bytes=8 * MIB, data_files=100,
    data_bytes=150 * MIB, average_file_size_bytes=1.5 * MIB, small_files=90, small_file_ratio=0.9,
    small_file_bytes=100 * MIB, records=1_000_000,
    position_delete_files=10, equality_delete_files=0, deletion_vectors=0, delete_bytes=4096,
    delete_records=12, manifests=7, manifest_bytes=70_000,
    data_manifests=6, delete_manifests=1, snapshots=42, oldest_snapshot_at=NOW - timedelta(days=9),
    newest_snapshot_at=NOW - timedelta(hours=1), branches=1,
    tags=1, metadata_bytes=55_000, histogram=(0, 0, 0, 10, 90) + (0,
    ) * (len(HISTOGRAM_BOUNDS_BYTES) - 4),
    histogram_bytes=(0, 0, 0, 5 * MIB, 145 * MIB) + (0,) * (len(HISTOGRAM_BOUNDS_BYTES) - 4),
    formats={"parquet": 100}, partitions=PARTITIONS,
    manifest_groups=(ManifestGroup(0, ManifestContent.DATA, 6, 60_000), ManifestGroup(0,
    ManifestContent.DELETES, 1, 10_000)),
    refs=(Ref("main", BIG_ID, is_branch=True), Ref("v1", 17, is_branch=False)),
    properties={"owner": "sales"},
)  # fmt: skip


def measure(table: TableIdentifier, **figures: object) -> TableHealth:
    return replace(HEALTH, table=table, table_uuid=f"uuid of {table}", **figures)  # type: ignore[arg-type]


REWRITE = RewriteDataFiles(where="day > 1")
PLAN = Plan(
    table=ORDERS, table_uuid="3f0c", snapshot_id=BIG_ID, metadata_location=HEALTH.metadata_location,
    policy_version="abc123", mode=Mode.ENFORCE, priority=50,
    made_at=NOW - timedelta(minutes=2), planned=(PlannedAction(RuleName.REWRITE_DATA_FILES, REWRITE,
    (FINDING,), ESTIMATE, "100 files become 2"),),
    skipped=(
        SkippedRule(RuleName.EXPIRE_SNAPSHOTS, SkipCode.COOLING_DOWN, (
            "ran "
            "1 h ago"
        ), NOW + timedelta(hours=5), would_do=ExpireSnapshots(NOW, 10)),
        SkippedRule(RuleName.REWRITE_MANIFESTS, SkipCode.BELOW_THRESHOLD, (
            "7 manifests, "
            "at most 100"
        )),
    ),
)  # fmt: skip

BEFORE = Measurement(
    17, NOW - timedelta(minutes=9), 100, 150 * MIB, 1.5 * MIB, 10, 1_000_000, 7, 70_000, 42
)
AFTER = Measurement(BIG_ID, NOW, 2, 150 * MIB, 75.0 * MIB, 0, 1_000_000, 1, 10_000, 43)
EFFECT = Effect(
    BEFORE,
    AFTER,
    1,
    0,
    98,
    10,
    6,
    0,
    150 * MIB,
    60.0,
    RowProof.EQUAL,
    1_000_000,
    1_000_000,
    "98 files fewer",
)


def make_job(
    job_id: str = "job-1",
    table: TableIdentifier = ORDERS,
    created_at: datetime = NOW - timedelta(minutes=10),
) -> Job:
    return Job(
        job_id=job_id, table=table, table_uuid=HEALTH.table_uuid if table == ORDERS else (
            f"uuid of "
            f"{table}"
        ),
        rule=RuleName.REWRITE_DATA_FILES, action=REWRITE, findings=(FINDING,), estimate=ESTIMATE,
        reason="100 files "
            "become 2", policy_version="abc123", priority=50, requested_by="policy",
            created_at=created_at,
    )  # fmt: skip


def run_job(job: Job) -> Job:
    submitted = job.advance(JobState.SUBMITTED, submitted_at=job.created_at)
    return submitted.advance(
        JobState.RUNNING,
        started_at=job.created_at + timedelta(seconds=5),
        progress=Progress(3, 10, "rewriting files"),
    )


def finish_job(job: Job, state: JobState = JobState.SUCCEEDED, **changes: object) -> Job:
    ended_at = job.created_at + timedelta(seconds=65)
    finished = job.advance(state, ended_at=ended_at, finished_at=ended_at, effect=EFFECT, **changes)
    return replace(
        finished, outcome=Outcome("finished", ended_at, {"rewritten_data_files_count": 100})
    )
