"""One simulated world for the loop: fakes on every port, and tables that rot and are mended as
Iceberg would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count

from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import ManifestDigest, Ref, Snapshot, TableInventory
from maintainer.domain.job import JOBS_MARK, Job
from maintainer.domain.policy import PolicyLayer
from maintainer.ports import Ports
from maintainer.steps.plan import plan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.catalog import FakeCatalog
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.notifier import FakeNotifier
from tests.fakes.adapters.policies import FakePolicies
from tests.fakes.adapters.spark import FakeRunner
from tests.fakes.adapters.store import FakeStore
from tests.fakes.adapters.telemetry import FakeTelemetry
from tests.samples import NOW, inventory, manifest, share

ENFORCE = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {average_file_size_below: 32MiB}}
  rewrite_manifests: {when: {manifest_count_above: 100}}
  expire_snapshots: {when: {snapshot_count_above: 100}, max_age: 5d, keep: 10}
"""


def layer(text: str, name: str = "all.yaml") -> PolicyLayer:
    parsed = parse_policy(text, name)
    assert isinstance(parsed, PolicyLayer), parsed
    return parsed


@dataclass
class World:
    """Ports that are all fakes, and what happens to the tables behind them."""

    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    store: FakeStore = field(default_factory=FakeStore)
    policies: FakePolicies = field(default_factory=lambda: FakePolicies(layer(ENFORCE)))
    telemetry: FakeTelemetry = field(default_factory=FakeTelemetry)
    notifier: FakeNotifier = field(default_factory=FakeNotifier)

    def __post_init__(self) -> None:
        self.catalog = FakeCatalog("lake", self.clock)
        self.runner = FakeRunner(self.clock, capacity=2, tables=self)
        self._ids = count(1)
        self._tables: dict[TableIdentifier, TableInventory] = {}
        self.first_manifests: dict[
            TableIdentifier, tuple[ManifestDigest, ...]
        ] = {}  # those that it was put with
        self.ports = self.restarted()

    def restarted(self) -> Ports:
        """The ports of a process that has just started: the store and the tables are what they
        were.
        """
        return Ports(
            {"lake": self.catalog},
            self.store,
            self.policies,
            self.runner,
            self.telemetry,
            self.clock,
            lambda: f"m-{next(self._ids)}",
            self.notifier,
        )

    def stored(self, job: Job) -> Job:
        """The job as the store has it now."""
        found = self.store.job(job.job_id)
        assert found is not None
        return found

    def begin(self) -> Job:
        """Plan and submit; the one job of that, with Spark at work on it."""
        plan(self.ports)
        assert submit(self.ports) == 1
        (job,) = self.store.unfinished_jobs()
        self.runner.start(job.job_id)
        watch(self.ports)
        return self.stored(job)

    def put(
        self, name: str, small_files: int = 60, manifests: int = 1, rows: int = 1000
    ) -> TableIdentifier:
        """A table of tiny files in one partition."""
        table = TableIdentifier("lake", ("sales",), name)
        per_manifest = max(1, small_files // manifests)
        digests = tuple(
            manifest(
                f"{name}-{small_files}-m{i}",
                [share([1000] * per_manifest, "day=1")],
                sizes=[1000] * per_manifest,
            )
            for i in range(manifests)
        )
        first = Snapshot(1, None, 1, self.clock.now() - timedelta(hours=1), "append", _totals(rows))
        made = inventory(digests, snapshots=(first,))
        self.first_manifests[table] = digests
        self.replace(
            replace(
                made, table=table, table_uuid=f"uuid-{name}", metadata_location=f"{name}/1.json"
            )
        )
        return table

    def look(self, table: TableIdentifier) -> TableInventory:
        return self._tables[table]

    def replace(self, entry: TableInventory) -> None:
        """The table as it is from now on."""
        self._tables[entry.table] = entry
        self.catalog.put(entry)

    def commit(
        self,
        table: TableIdentifier,
        operation: str = "append",
        application: str = "a writer",
        summary: dict[str, str] | None = None,
        manifests: Sequence[ManifestDigest] | None = None,
    ) -> None:
        """One more snapshot."""
        entry = self._tables[table]
        last = entry.snapshots[-1]
        number = last.sequence_number + 1
        totals = {key: text for key, text in last.summary.items() if key.startswith("total-")}
        reported = {"app-name": application} | totals | (summary or {})
        snapshot = Snapshot(number, last.snapshot_id, number, self.clock.now(), operation, reported)
        self.replace(
            replace(
                entry,
                snapshots=(*entry.snapshots, snapshot),
                current_snapshot_id=number,
                refs=(
                    Ref("main", number, is_branch=True),
                    *(ref for ref in entry.refs if not ref.is_branch),
                ),
                metadata_location=f"{table.name}/{number}.json",
                manifests=entry.manifests if manifests is None else manifests,
            )
        )

    def mend(self, job: Job, lost_rows: int = 0) -> dict[str, int | str | None]:
        """Do to the table what the job's procedure would do; returns the procedure's result row."""
        entry = self._tables[job.table]
        rows = int(entry.snapshots[-1].summary["total-records"]) - lost_rows
        files = sum(part.file_count for digest in entry.manifests for part in digest.partitions)
        reported = {JOBS_MARK: job.job_id}
        match job.action:
            case RewriteDataFiles():
                size = 1000 * files
                reported |= {
                    "deleted-data-files": str(files),
                    "added-data-files": "1",
                    "removed-files-size": str(size),
                    "total-records": str(rows),
                }
                self.commit(
                    job.table,
                    "replace",
                    job.application,
                    reported,
                    (manifest(f"{job.job_id}-m", [share([size], "day=1")], sizes=[size]),),
                )
                return {"rewritten_data_files_count": files, "added_data_files_count": 1}
            case RewriteManifests():
                reported |= {
                    "manifests-replaced": str(len(entry.manifests)),
                    "manifests-created": "1",
                    "total-records": str(rows),
                }
                merged = manifest(
                    f"{job.job_id}-m",
                    [part for digest in entry.manifests for part in digest.partitions],
                )
                self.commit(job.table, "replace", job.application, reported, (merged,))
                return {
                    "rewritten_manifests_count": len(entry.manifests),
                    "added_manifests_count": 1,
                }
            case ExpireSnapshots(older_than, retain_last):
                newest, named = (
                    entry.snapshots[-retain_last:],
                    {ref.snapshot_id for ref in entry.refs},
                )
                kept = tuple(
                    s
                    for s in entry.snapshots
                    if s in newest or s.committed_at >= older_than or s.snapshot_id in named
                )
                self.replace(
                    replace(entry, snapshots=kept, metadata_location=f"{entry.metadata_location}x")
                )
                return {"deleted_data_files_count": 0}
            case action:
                message = f"this world does not know {action.procedure}"
                raise AssertionError(message)


def _totals(rows: int) -> dict[str, str]:
    return {"total-records": str(rows), "total-delete-files": "0", "app-name": "a writer"}
