"""Every procedure is met in the middle of its work and ended: Spark works for it no more, the table
is as it was or says what is gone, and Spark goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from maintainer.domain.action import (
    Action,
    ApprovedList,
    ComputePartitionStats,
    ComputeTableStats,
    Disposal,
    ExpireSnapshots,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.orphan import FoundFile, OrphanList, OrphanListState, hash_files
from maintainer.requests.run import request_cancel
from tests.adapters.spark.behaviour.sites import Site
from tests.adapters.spark.gates import await_gate, gate_at
from tests.adapters.spark.lakes import WallClock, wait_until
from tests.adapters.spark.workshop import Workshop

AT_ONCE = (("min-input-files", "2"), ("partial-progress.enabled", "false"))
IN_PARTS = (
    ("max-concurrent-file-group-rewrites", "1"),
    ("min-input-files", "2"),
    ("partial-progress.enabled", "true"),
    ("partial-progress.max-commits", "4"),
)
STRAYS = 3_000  # more than go in the half second until a driver polls


@dataclass
class Scene:
    """One table with everything that procedures work on: small files, deletes, manifests and
    snapshots.
    """

    site: Site
    table: TableIdentifier

    @property
    def workshop(self) -> Workshop:
        return self.site.workshop

    def data_file(self) -> Path:
        return self._path(
            min(
                task.file.file_path
                for task in self.workshop.lake.load(self.table).scan().plan_files()
            )
        )

    def delete_file(self) -> Path:
        files = self.workshop.lake.load(self.table).inspect.delete_files().to_pylist()
        return self._path(min(file["file_path"] for file in files))

    def manifest(self) -> Path:
        loaded = self.workshop.lake.load(self.table)
        snapshot = loaded.current_snapshot()
        assert snapshot is not None
        return self._path(min(manifest.manifest_path for manifest in snapshot.manifests(loaded.io)))

    @property
    def location(self) -> str:
        return self.workshop.lake.load(self.table).location()

    @property
    def snapshot_ids(self) -> list[int]:
        return [
            snapshot.snapshot_id for snapshot in self.workshop.lake.load(self.table).snapshots()
        ]

    def _path(self, location: str) -> Path:
        return Path(location.removeprefix("file:"))


def make_scene(site: Site) -> Scene:
    table = site.lake.create("pause", files=6, partitions=2)
    site.lake.append(table)
    site.lake.append(table)
    name = f"lake.db.{table.name}"
    properties = (
        "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', "
        "'write.delete.granularity' = 'partition'"
    )
    site.workshop.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ({properties})",
        *(f"DELETE FROM {name} WHERE id = {number}" for number in (7, 8)),
    )
    return Scene(site, table)


Gated = Callable[[Scene], Path]
CASES: dict[str, tuple[Callable[[Scene], Action], Gated]] = {
    "bin-packing": (lambda _: RewriteDataFiles(options=AT_ONCE), Scene.data_file),
    "sorting": (
        lambda _: RewriteDataFiles("sort", "id ASC NULLS LAST", None, AT_ONCE),
        Scene.data_file,
    ),
    "z-ordering": (
        lambda _: RewriteDataFiles("sort", "zorder(id, part)", None, AT_ONCE),
        Scene.data_file,
    ),
    "position deletes": (
        lambda _: RewritePositionDeleteFiles(options=(("rewrite-all", "true"),)),
        Scene.delete_file,
    ),
    "manifests": (lambda _: RewriteManifests(0), Scene.manifest),
    "orphans": (
        lambda scene: RemoveOrphanFiles(WallClock().now() - timedelta(days=3), scene.location),
        Scene.manifest,
    ),
    "statistics of columns": (
        lambda scene: ComputeTableStats(scene.snapshot_ids[-1]),
        Scene.data_file,
    ),
}


def cancel_at_gate(scene: Scene, action: Action, gated: Path) -> tuple[str, int]:
    """How the job has ended while the gate was shut, in state and words; and how many Spark jobs it
    had begun.
    """
    workshop, site, events = scene.workshop, scene.site, scene.site.place.events
    tree = site.tree()
    hand_over = workshop.prepare(
        scene.table, action
    )  # measured before the gate is shut, for a measurement would wait there too
    with gate_at(gated):
        job = hand_over()
        await_gate(site.dump_threads, site.read_logs)
        begun, active = events.jobs_of(job.job_id)
        assert bool(active) == bool(begun), "Spark works on it, and no further than to the gate"
        request_cancel(workshop.ports, workshop.job(job), "ada")
        assert workshop.await_end_of_work(job).kind == "cancelled"
        assert events.jobs_of(job.job_id)[1] == 0, "Spark works for it no more"
    ended = workshop.settle(job)
    assert ended.state is JobState.CANCELLED, ended
    assert site.tree() == tree, "Spark itself goes on"
    return ended.failure_message, begun


class CancellingSuite:
    """Run with a fixture `scene`."""

    @pytest.mark.parametrize("case", CASES)
    def test_what_is_cancelled_in_the_middle_leaves_the_table_as_it_was(
        self, scene: Scene, case: str
    ) -> None:
        make, choose = CASES[case]
        before = scene.snapshot_ids
        message, begun = cancel_at_gate(scene, make(scene), choose(scene))
        assert message == ""
        assert begun > 0
        assert scene.snapshot_ids == before

    def test_statistics_of_partitions_that_are_read_by_threads_that_all_jobs_share_are_cancelled_too(
        self, scene: Scene
    ) -> None:
        before = scene.snapshot_ids
        action = ComputePartitionStats(before[-1])
        message, begun = cancel_at_gate(scene, action, scene.manifest())
        assert (message, begun) == ("", 0), "no Spark job: the driver reads the manifests itself"
        assert (
            scene.snapshot_ids,
            list(scene.workshop.look(scene.table).partition_statistics),
        ) == (
            before,
            [],
        )

    def test_an_expiry_that_is_cancelled_after_its_commit_says_what_is_gone_and_what_may_be_left(
        self, scene: Scene
    ) -> None:
        before = scene.snapshot_ids
        lists = list((Path(scene.location.removeprefix("file:")) / "metadata").glob("snap-*.avro"))
        message, _ = cancel_at_gate(scene, ExpireSnapshots(WallClock().now(), 2), scene.manifest())
        assert scene.snapshot_ids == before[-2:]
        assert message == (
            f"Its earlier commits stay: {len(before)} snapshots became 2. "
            "But files of the expired snapshots may remain; an orphan scan finds them."
        )
        assert all(path.exists() for path in lists), "none of their files was deleted yet"

    def test_a_removal_of_orphans_that_is_cancelled_says_how_many_are_gone(
        self, scene: Scene
    ) -> None:
        workshop = scene.workshop
        scene = Scene(
            scene.site,
            workshop.create("littered_on", "id bigint", rows=("SELECT id FROM range(9)",)),
        )
        place = Path(scene.location.removeprefix("file:"))
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        strays = [place / "data" / f"stray-{number:03}.parquet" for number in range(STRAYS)]
        for path in strays:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"lost")
            os.utime(path, (long_ago.timestamp(), long_ago.timestamp()))
        files = [FoundFile(f"{scene.location}/data/{path.name}", 4, long_ago) for path in strays]
        approved = ApprovedList("look-1", hash_files(files), Disposal.QUARANTINE)
        action = RemoveOrphanFiles(
            WallClock().now() - timedelta(days=3), scene.location, approved=approved
        )
        uuid, now = workshop.look(scene.table).table_uuid, WallClock().now()
        kept = OrphanList(
            "look-1",
            scene.table,
            uuid,
            scene.location,
            action.older_than,
            now,
            STRAYS,
            4 * STRAYS,
            approved.sha256,
            OrphanListState.APPROVED,
            now,
        )
        workshop.store.add_orphan_list(kept, files)
        job_id = f"work-{os.getpid()}"
        workshop.runner.orphan_files.write_list(job_id, action, files)
        job = workshop.begin(scene.table, action, job_id=job_id)
        wait_until(lambda: not strays[0].exists())
        request_cancel(workshop.ports, workshop.job(job), "ada")
        assert workshop.await_end_of_work(job).kind == "cancelled"
        left = sum(path.exists() for path in strays)
        ended = workshop.settle(job)
        assert ended.state is JobState.CANCELLED
        assert 0 < left < STRAYS
        assert ended.effect is not None
        assert ended.effect.orphans_removed == STRAYS - left
        assert f"{STRAYS - left} orphan files of" in ended.failure_message
        assert sum(path.exists() for path in strays) == left, "nor is any moved later"

    def test_what_a_cancelled_rewrite_in_parts_has_committed_stays(self, scene: Scene) -> None:
        """In parts, commits are made by a thread of Iceberg's own: after the end of the job it makes
        none.
        """
        workshop = scene.workshop
        table = workshop.lake.create("in_parts", files=60, partitions=30)
        job = workshop.begin(table, RewriteDataFiles(options=IN_PARTS))
        wait_until(lambda: len(workshop.lake.load(table).snapshots()) > 1)
        request_cancel(workshop.ports, workshop.job(job), "ada")
        assert workshop.await_end_of_work(job).kind == "cancelled"
        commits = len(workshop.lake.load(table).snapshots()) - 1
        ended = workshop.settle(job)
        assert (ended.state, ended.effect is not None) == (JobState.CANCELLED, True)
        assert ended.effect is not None
        assert ended.effect.own_commits == commits
        assert ended.failure_message.startswith("Its earlier commits stay: ")
        assert len(workshop.lake.load(table).snapshots()) - 1 == commits, (
            "nor is anything committed later"
        )
        assert workshop.lake.rows(table) == 60_000
