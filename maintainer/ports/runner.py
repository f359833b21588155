"""Running jobs on Spark, wherever it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.job import Job, JobEvent, Outcome
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans
from maintainer.domain.progress import Progress


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """What a runner knows of one job now. With an outcome the Spark work is over, and nothing of it
    can commit any more.
    """

    job_id: str
    is_started: bool
    progress: Progress
    events: tuple[JobEvent, ...] = ()  # those since the last report
    outcome: Outcome | None = None
    # another process took the job; it is gone, and this one goes on with what that one began
    adopted: bool = False


class Runner(Protocol):
    """Runs what jobs do on tables. What it says of success is a claim; the table's metadata proves
    it.
    """

    @property
    def owner(self) -> str:
        """The name of this process among all that use the same store; stored with each job it
        submits.
        """
        ...

    def lives(self, owner: str) -> bool | None:
        """Whether the process of that name lives, or another looks after what it has left; None
        when it is not of this machine.

        Where nobody does, this process has begun to: of two that ask, one is told that it may go on
        with all of it.
        """
        ...

    @property
    def application(self) -> str:
        """The Spark application name: Iceberg writes it as `app-name` into the summary of every
        snapshot that our jobs commit.
        """
        ...

    @property
    def capacity(self) -> int:
        """How many jobs it runs side by side."""
        ...

    def statements(self, job: Job) -> Sequence[str]:
        """What Spark will be given for the job when it is submitted, in that order; empty where it
        cannot be written: submit then says why.
        """
        ...

    def submit(self, job: Job) -> None:
        """Take the job; returns at once. The same id twice is one job. RunnerUnavailableError when
        Spark can never start here.
        """
        ...

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Let the job work for so long from now. May come before submit; a job that is not renewed
        in time is ended by the runner itself, whoever else is dead.

        So that two processes never work on a table: whoever takes a job over waits until this time
        is up. Unknown and ended ids are ignored.
        """
        ...

    def report(self, job: Job) -> RunnerReport | None:
        """What is known of the job: None while another live process owns it; an outcome of kind
        "lost" when nobody runs it any more.
        """
        ...

    def cancel(self, job_id: str) -> None:
        """Ask for the job's end; the report's outcome tells when it is over. Unknown ids are
        ignored.
        """
        ...

    def found_orphans(self, job: Job) -> FoundOrphans | None:
        """What a look for orphans has found; None when it is not here, or not whole."""
        ...

    def bring_orphans(
        self, job_id: str, action: RemoveOrphanFiles, files: Sequence[FoundFile]
    ) -> None:
        """Have the files ready that the job may delete, before it is submitted.
        RunnerUnavailableError when they cannot be kept.
        """
        ...

    def bring_listing(
        self, job_id: str, action: RemoveOrphanFiles, pages: Iterable[Sequence[FoundFile]]
    ) -> int:
        """Have ready what lies in the table's place, before its look is submitted; how many files
        are old enough.

        RunnerUnavailableError when they cannot be kept; what `pages` raises passes.
        """
        ...

    def removed_orphans(self, job: Job) -> RemovedOrphans | None:
        """What a removal of orphans was given, and what it has told; None when not even the list is
        here.
        """
        ...

    def forget(self, job_id: str) -> None:
        """Drop what a look for orphans has found and what was brought. Unknown ids are ignored."""
        ...

    def close(self) -> None:
        """End Spark and everything it runs; returns when its processes are gone."""
        ...

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """(what, is it fine, sentence) for each thing the runner needs: Java, Spark, its jars."""
        ...
