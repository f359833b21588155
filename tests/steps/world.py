"""One simulated world for the loop: fakes on every port, and tables of several partitions that rot
and are mended as Iceberg would.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count

from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    ManifestDigest,
    PartitionDigest,
    PartitionField,
    PartitionSpec,
    Ref,
    Snapshot,
    TableInventory,
)
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

SMALL_FILE = 1000  # bytes
SPEC = PartitionSpec(0, (PartitionField("day", "identity", ("day",), "int"),))
MIN_INPUT_FILES = 5  # Iceberg: min-input-files
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
        per_manifest = max(1, small_files // manifests)
        digests = tuple(
            self.list_files(f"{name}-{small_files}-m{i}", {1: [SMALL_FILE] * per_manifest}, 1)
            for i in range(manifests)
        )
        return self.put_files(name, digests, rows)

    def put_files(
        self, name: str, digests: tuple[ManifestDigest, ...], rows: int = 1000
    ) -> TableIdentifier:
        """A table with these manifests, committed an hour ago."""
        table = TableIdentifier("lake", ("sales",), name)
        first = Snapshot(1, None, 1, self.clock.now() - timedelta(hours=1), "append", _totals(rows))
        made = inventory(digests, snapshots=(first,))
        self.first_manifests[table] = digests
        self.replace(
            replace(
                made,
                table=table,
                table_uuid=f"uuid-{name}",
                metadata_location=f"{name}/1.json",
                specs=(SPEC,),
            )
        )
        return table

    @staticmethod
    def list_files(
        path: str, days: Mapping[int, Sequence[int]], sequence_number: int | None = None
    ) -> ManifestDigest:
        """A manifest with data files of these sizes, in bytes, in the partitions of these days."""
        return manifest(
            path,
            [
                replace(share([*sizes], f"day={day}"), newest_sequence_number=sequence_number)
                for day, sizes in days.items()
                if sizes
            ],
            sizes=[size for sizes in days.values() for size in sizes],
        )

    def write(
        self, table: TableIdentifier, days: Mapping[int, Sequence[int]], rows: int | None = None
    ) -> None:
        """A writer appends files of these sizes, in bytes, to the partitions of these days."""
        entry = self._tables[table]
        number = entry.snapshots[-1].sequence_number + 1
        added = self.list_files(f"{table.name}-w{number}", days, number)
        summary = {} if rows is None else {"total-records": str(rows)}
        self.commit(table, summary=summary, manifests=(*entry.manifests, added))

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
        if entry.next_row_id is not None:  # nothing here has new rows
            snapshot = replace(snapshot, first_row_id=entry.next_row_id, added_rows=0)
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
        reported = {JOBS_MARK: job.job_id}
        match job.action:
            case RewriteDataFiles() as action:
                kept, taken = select_files(entry, action)
                written = {day: _merge(sizes, entry) for day, sizes in taken.items()}
                files = sum(len(sizes) for sizes in taken.values())
                added = sum(len(sizes) for sizes in written.values())
                number = entry.snapshots[-1].sequence_number
                reported |= {
                    "deleted-data-files": str(files),
                    "added-data-files": str(added),
                    "removed-files-size": str(sum(map(sum, taken.values()))),
                    "total-records": str(rows),
                }
                if files:
                    # They keep the sequence number of the snapshot that the rewrite read.
                    merged = self.list_files(f"{job.job_id}-m", written, number)
                    self.commit(job.table, "replace", job.application, reported, (*kept, merged))
                return {"rewritten_data_files_count": files, "added_data_files_count": added}
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
                remaining = tuple(
                    s
                    for s in entry.snapshots
                    if s in newest or s.committed_at >= older_than or s.snapshot_id in named
                )
                self.replace(
                    replace(
                        entry, snapshots=remaining, metadata_location=f"{entry.metadata_location}x"
                    )
                )
                return {"deleted_data_files_count": 0}
            case action:
                message = f"this world does not know {action.procedure}"
                raise AssertionError(message)


def _totals(rows: int) -> dict[str, str]:
    return {"total-records": str(rows), "total-delete-files": "0", "app-name": "a writer"}


def select_files(
    entry: TableInventory, action: RewriteDataFiles
) -> tuple[list[ManifestDigest], dict[int, list[int]]]:
    """The manifests that a rewrite leaves, and the sizes, in bytes, of the files that it takes.

    As Iceberg does, it takes the files of the wrong size, in partitions where there are enough of
    them or more than one file's worth; all of them are one group.
    """
    classes = entry.size_classes
    wrong: dict[int, list[int]] = defaultdict(list)
    for digest in entry.manifests:
        for part in digest.partitions:
            if _is_selected(_read_day(part), action.where):
                wrong[_read_day(part)] += [
                    size for size in part.sizes.listed if _is_wrong(size, entry)
                ]
    least = int(dict(action.options).get("min-input-files", MIN_INPUT_FILES))
    taken = {
        day: sizes
        for day, sizes in wrong.items()
        if len(sizes) > 1 and (len(sizes) >= least or sum(sizes) > classes.target_bytes)
    }
    kept = [
        World.list_files(
            digest.path,
            {
                _read_day(part): [
                    size
                    for size in part.sizes.listed
                    if _read_day(part) not in taken or not _is_wrong(size, entry)
                ]
                for part in digest.partitions
            },
            max((part.newest_sequence_number or 0 for part in digest.partitions), default=0),
        )
        for digest in entry.manifests
    ]
    return [digest for digest in kept if digest.partitions], taken


def _merge(sizes: Sequence[int], entry: TableInventory) -> list[int]:
    number = max(1, round(sum(sizes) / entry.size_classes.target_bytes))
    each, rest = divmod(sum(sizes), number)
    return [each + (position < rest) for position in range(number)]


def _read_day(part: PartitionDigest) -> int:
    return int(part.partition.removeprefix("day="))


def _is_selected(day: int, where: str | None) -> bool:
    """Of the conditions on days, World knows the ones that a plan writes."""
    return where is None or str(day) in re.findall(r"`day` = (-?\d+)", where)


def _is_wrong(size: int, entry: TableInventory) -> bool:
    classes = entry.size_classes
    return size < classes.small_below_bytes or size > classes.large_above_bytes
