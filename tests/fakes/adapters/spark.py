"""A runner whose jobs wait for the test's word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from maintainer.adapters.spark.statements.safeguards import retained_minutes
from maintainer.domain.action import RemoveOrphanFiles, RollBack, rollback_tag
from maintainer.domain.driver import JobLog, Progress, SparkFacts, Stage
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Ref, TableInventory
from maintainer.domain.job import FailureReason, Job, JobEvent, Outcome
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.ports.clock import Clock
from maintainer.ports.runner import RunnerReport

UNSEEN_GRACE = timedelta(seconds=30)
_MILLISECONDS_PER_MINUTE = 60_000


class Tables(Protocol):
    """The tables that jobs work on."""

    def look(self, table: TableIdentifier) -> TableInventory:
        """The table as it is."""

    def replace(self, entry: TableInventory) -> None:
        """The table as it is from now on."""


class FakeRunner:
    """With tables, each rewrite tags the snapshot before it, as the real runner does; without them,
    jobs change nothing by themselves.
    """

    def __init__(
        self,
        clock: Clock,
        capacity: int = 2,
        owner: str = "process-1",
        application: str = "maintainer-test",
        tables: Tables | None = None,
    ) -> None:
        self._clock = clock
        self._tables = tables
        self._prepared: set[str] = set()
        self._capacity = capacity
        self._owner = owner
        self._application = application
        self._events: dict[str, list[JobEvent]] = {}
        self._progress: dict[str, Progress] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._unavailable: str | None = None
        self.is_lasting = False  # whether its jobs go on without the daemon
        self.others: dict[str, int] = {}  # the room of the pools besides the default one
        self.broken: dict[str, str] = {}
        self.submitted: dict[str, Job] = {}
        self.adopted: dict[str, Job] = {}
        self.cancelled: list[str] = []
        # what a job commits before its cancellation reaches Spark
        self.late_effects: dict[str, Callable[[Job], object]] = {}
        self.living_owners: set[str] = {owner}
        self.distant_owners: set[str] = set()  # on other machines, of which this one knows nothing
        self.closed = False
        self.valid_until: dict[str, datetime] = {}
        self.orphans: dict[str, FoundOrphans] = {}
        self.brought: dict[str, tuple[FoundFile, ...]] = {}
        self.removed: dict[str, RemovedOrphans] = {}
        self.settings = "settings-1"
        self.logs: dict[str, JobLog] = {}
        self._facts: dict[str, SparkFacts] = {}

    @property
    def owner(self) -> str:
        return self._owner

    def lives(self, owner: str, _pool: str = DEFAULT_POOL, /) -> bool | None:
        return None if owner in self.distant_owners else owner in self.living_owners

    @property
    def application(self) -> str:
        return self._application

    @property
    def facts(self) -> Mapping[str, SparkFacts]:
        return self._facts

    @property
    def obstacles(self) -> Mapping[str, str]:
        return self.broken

    def recall(self, facts: SparkFacts) -> None:
        known = self._facts.get(facts.pool)
        if facts.settings == self.settings and (known is None or facts.at > known.at):
            self._facts[facts.pool] = facts

    def report_facts(self, facts: SparkFacts) -> None:
        """Let a driver report this about itself."""
        self._facts[facts.pool] = facts

    @property
    def capacity(self) -> int:
        """How many jobs run at once in the default pool."""
        return self._capacity

    @property
    def capacities(self) -> Mapping[str, int]:
        return {DEFAULT_POOL: self._capacity} | self.others

    def statements(self, job: Job) -> Sequence[str]:
        return (f"CALL {job.action.procedure} of {job.job_id}",)

    def submit(self, job: Job) -> None:
        if self._unavailable is not None or self.closed:
            raise RunnerUnavailableError(self._unavailable or "the runner is closed")
        if job.job_id in self.submitted:
            return
        self.submitted[job.job_id] = job
        self._progress[job.job_id] = Progress(phase="waiting for Spark")
        self._tell(job.job_id, "spark.submitted")

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """The job ends as lost when a report finds that no renewal came in time; a late one does
        not bring it back.
        """
        self.end_overdue()
        self.valid_until[job_id] = self._clock.now() + valid_for

    def end_overdue(self) -> None:
        """End what no renewal came for in time; every report does, and a test for a process that
        nobody asks.
        """
        for job_id in (*self.submitted, *self.adopted):
            if self.valid_until.get(job_id, self._clock.now()) < self._clock.now():
                self.lose(job_id, message="its fence was not renewed in time")

    def report(self, job: Job) -> RunnerReport | None:
        self.end_overdue()
        if job.job_id not in self._progress:
            is_new = (
                job.submitted_at is not None and self._clock.now() - job.submitted_at < UNSEEN_GRACE
            )
            if (job.owner != self._owner and job.owner in self.living_owners) or (
                job.owner == self._owner and is_new
            ):
                return None
            self._progress[job.job_id] = job.progress
            self.lose(job.job_id)
        events, self._events[job.job_id] = tuple(self._events.get(job.job_id, ())), []
        progress = self._progress[job.job_id]
        adopted = job.job_id in self.adopted and job.owner not in {"", self._owner}
        return RunnerReport(
            job.job_id,
            progress.tasks_total is not None,
            progress,
            events,
            self._outcomes.get(job.job_id),
            adopted,
        )

    def log(self, job: Job, since: int) -> JobLog | None:
        """What the test has put into logs."""
        known = self.logs.get(job.job_id)
        if known is None:
            return None
        start = min(known.next, max(since, known.start))
        return replace(known, text=known.text[start - known.start :], start=start)

    def cancel(self, job_id: str) -> None:
        """The job ends cancelled at once; what it had committed by then stays."""
        if job_id in self._progress and job_id not in self._outcomes:
            self.cancelled.append(job_id)
            late_effect = self.late_effects.pop(job_id, None)
            if late_effect is not None:
                self._prepare(job_id)
                late_effect(self.submitted.get(job_id) or self.adopted[job_id])
            self._end(job_id, Outcome("cancelled", self._clock.now()))

    def find_orphans(self, job: Job) -> FoundOrphans | None:
        """What the test has put into orphans."""
        return self.orphans.get(job.job_id)

    def write_list(
        self, job_id: str, action: RemoveOrphanFiles, files: Sequence[FoundFile]
    ) -> None:
        """See brought."""
        del action
        self.brought[job_id] = tuple(files)

    def write_listing(
        self, job_id: str, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]]
    ) -> int:
        """See brought."""
        self.brought[job_id] = tuple(
            file
            for page in pages
            for file in page
            if file.modified_at is None or file.modified_at < action.older_than
        )
        return len(self.brought[job_id])

    def find_removed(self, job: Job) -> RemovedOrphans | None:
        """What the test has put into removed."""
        return self.removed.get(job.job_id)

    @property
    def orphan_files(self) -> FakeRunner:
        return self

    def remove(self, job: Job) -> None:
        self.brought.pop(job.job_id, None)
        self.orphans.pop(job.job_id, None)

    def outlives_daemon(self, _pool: str = DEFAULT_POOL, /) -> bool:
        return self.is_lasting

    def leave(self) -> None:
        if self.is_lasting:
            self.closed = True
        else:
            self.close()

    def close(self) -> None:
        self.closed = True
        for job_id in [job_id for job_id in self._progress if job_id not in self._outcomes]:
            self._end(job_id, Outcome("cancelled", self._clock.now()))

    def describe(self, _pool: str = "", /) -> Sequence[tuple[str, bool, str]]:
        return [("Spark", self._unavailable is None, self._unavailable or "a fake")]

    def adopt(self, gone: FakeRunner) -> None:
        """Another process's Spark works on and answers to this one from now on."""
        self.adopted.update(gone.submitted | gone.adopted)
        self.late_effects.update(gone.late_effects)
        self.valid_until.update(gone.valid_until)
        self._progress.update(gone._progress)
        self._outcomes.update(gone._outcomes)
        self._events.update(gone._events)
        self.brought.update(gone.brought)
        self.orphans.update(gone.orphans)
        self.removed.update(gone.removed)

    def become_unavailable(self, reason: str) -> None:
        """submit raises from now on."""
        self._unavailable = reason

    def start(self, job_id: str, tasks_done: int = 0, tasks_total: int = 1) -> None:
        """Spark works on the job."""
        self._prepare(job_id)
        self._progress[job_id] = Progress(
            tasks_done, tasks_total, "running on Spark", stage=Stage.WORKING
        )
        self._tell(job_id, "statement.started")

    def finish(
        self,
        job_id: str,
        result: Mapping[str, int | str | None] | None = None,
        effect: Callable[[Job], object] | None = None,
        checks: Mapping[str, int | str | None] | None = None,
    ) -> None:
        """Spark says that it is done, after the effect has changed the world (a FakeCatalog,
        say).
        """
        self._prepare(job_id)
        if effect is not None:
            effect(self.submitted[job_id])
        self._end(job_id, Outcome("finished", self._clock.now(), result or {}, checks=checks or {}))

    def fail_check(
        self, job_id: str, message: str, reason: FailureReason = FailureReason.MISSING_FILE
    ) -> None:
        """Spark has done the work, and could not read what it wrote."""
        self._end(
            job_id,
            Outcome(
                "finished", self._clock.now(), check_failure=message, check_failure_reason=reason
            ),
        )

    def fail(
        self, job_id: str, reason: FailureReason = FailureReason.OTHER, message: str = "it failed"
    ) -> None:
        self._prepare(job_id)
        self._end(job_id, Outcome("failed", self._clock.now(), reason=reason, message=message))

    def lose(
        self,
        job_id: str,
        reason: FailureReason = FailureReason.LOST_RUNNER,
        message: str = "its process is gone",
    ) -> None:
        """Nobody runs the job any more; what it did is unknown."""
        self._end(job_id, Outcome("lost", self._clock.now(), reason=reason, message=message))

    def _prepare(self, job_id: str) -> None:
        """Do once to the table what the real runner's first statements do: drop the lapsed tags,
        tag the snapshot to roll back to.
        """
        job = self.submitted.get(job_id) or self.adopted.get(job_id)
        if (
            self._tables is None
            or job is None
            or job.baseline is None
            or job.baseline.snapshot_id is None
            or job_id in self._prepared
        ):
            return
        self._prepared.add(job_id)
        if isinstance(job.action, RollBack) or not job.action.procedure.rewrites_content:
            return
        entry, lapsed = self._tables.look(job.table), set(job.baseline.lapsed_tags)
        refs = tuple(ref for ref in entry.refs if ref.name not in lapsed)
        if job.safeguards.rollback_for and any(
            snapshot.snapshot_id == job.baseline.snapshot_id for snapshot in entry.snapshots
        ):
            age = retained_minutes(job) * _MILLISECONDS_PER_MINUTE
            refs = (
                *refs,
                Ref(
                    rollback_tag(job_id),
                    job.baseline.snapshot_id,
                    is_branch=False,
                    max_ref_age_ms=age,
                ),
            )
        if refs != entry.refs:
            self._tables.replace(
                replace(
                    entry, refs=refs, metadata_location=f"{entry.metadata_location}-tagged-{job_id}"
                )
            )

    def _end(self, job_id: str, outcome: Outcome) -> None:
        if job_id in self._outcomes:
            return
        self._outcomes[job_id] = outcome
        if outcome.kind == "finished":
            self._progress[job_id] = Progress(1, 1, "running on Spark", stage=Stage.WORKING)
        self._tell(job_id, f"spark.{outcome.kind}")

    def _tell(self, job_id: str, name: str) -> None:
        self._events.setdefault(job_id, []).append(JobEvent(job_id, self._clock.now(), name))
