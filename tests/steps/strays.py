"""Files that no metadata knows, beside those that a table needs, and a Spark that finds and deletes
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans
from tests.fakes.adapters.spark import FakeRunner
from tests.steps.world import World

_BYTES = 70
_AGE = timedelta(days=30)


@dataclass(slots=True)
class Strays:
    """A model of the files, of those that were deleted, and by which job."""

    world: World
    left: dict[TableIdentifier, dict[str, datetime]] = field(
        default_factory=dict
    )  # path -> last written
    deleted: dict[str, list[str]] = field(default_factory=dict)  # job -> paths
    made: int = 0

    def leave(self, table: TableIdentifier) -> None:
        """A writer failed a month ago."""
        self.made += 1
        self._write(
            table,
            f"{self._place(table)}/data/stray-{self.made}.parquet",
            self.world.clock.now() - _AGE,
        )

    def touch(self, table: TableIdentifier, path: str) -> None:
        """Its writer lives after all, and writes to it."""
        self._write(table, path, self.world.clock.now())

    def keep(self, table: TableIdentifier) -> None:
        """A file that the table needs, as old as a stray."""
        self.world.catalog.put_file(self._live(table), _BYTES, self.world.clock.now() - _AGE)

    def work(
        self, runner: FakeRunner, job: Job, action: RemoveOrphanFiles
    ) -> dict[str, int | str | None]:
        """What Spark does: list what is old enough, or delete exactly what it was given."""
        left = self.left.setdefault(job.table, {})
        if action.approved is None:
            found = tuple(
                path for path, written in sorted(left.items()) if written < action.older_than
            )
            runner.orphans[job.job_id] = FoundOrphans(found, len(found), 0)
            return {"rows": len(found)}
        brought = tuple(file.path for file in runner.brought.get(job.job_id, ()))
        for path in brought:
            self.world.catalog.delete_file(path)
            left.pop(path, None)
        self.deleted[job.job_id] = list(brought)
        runner.removed[job.job_id] = RemovedOrphans(brought, (self._live(job.table),))
        return {"rows": len(brought)}

    def find_wrong(self, job: Job, brought: tuple[FoundFile, ...]) -> list[str]:
        """What a job that is to delete was given, and must not have been: what is in use, or was
        written lately.
        """
        assert isinstance(job.action, RemoveOrphanFiles)
        left = self.left.get(job.table, {})
        return [
            file.path
            for file in brought
            if file.path not in left or left[file.path] >= job.action.older_than
        ]

    def _write(self, table: TableIdentifier, path: str, at: datetime) -> None:
        self.left.setdefault(table, {})[path] = at
        self.world.catalog.put_file(path, _BYTES, at)

    def _place(self, table: TableIdentifier) -> str:
        return self.world.look(table).location

    def _live(self, table: TableIdentifier) -> str:
        return f"{self._place(table)}/data/live.parquet"
