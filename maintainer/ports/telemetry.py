"""Metrics and traces of the daemon's work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from maintainer.domain.effect import Effect
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan, RuleVerdict
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from maintainer.domain.status import TableState


class Telemetry(Protocol):
    """Receives events of the daemon; it never fails and never decides.

    Present states are read from the store instead.
    """

    def table_measured(self, health: TableHealth, grade: Grade) -> None:
        """A table was measured."""

    def table_gone(self, table: TableIdentifier) -> None:
        """A table no longer exists."""

    def scan_finished(self, seconds: float, entries: int, tables: int, faults: int) -> None:
        """A scan of the fleet has ended: entries read, tables measured, names with faults."""

    def catalog_polled(self, catalog: str, seconds: float, errors: int) -> None:
        """A scan has asked a catalog for its tables: the time it waited, names without answer."""
        ...

    def reader_checked(self, fault: ReaderFault | None) -> None:
        """The fast reader works, or `fault` says why the slow reader reads every manifest."""

    def manifests_read_slowly(self, reason: SlowRead, manifests: int) -> None:
        """The slow reader has read so many manifests and manifest lists."""

    def plan_made(self, plan: Plan) -> None:
        """A plan was made, with one verdict for each rule."""

    def verdicts_changed(self, verdicts: Sequence[RuleVerdict]) -> None:
        """Admission now delays planned actions, or no longer does."""

    def queue_counted(self, actions: Mapping[str, int]) -> None:
        """So many planned actions are in the queue, by the code of their verdict."""
        ...

    def states_counted(self, tables: Mapping[TableState, int]) -> None:
        """So many tables are in each state."""
        ...

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """A job has reached a final state."""

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """One run of a step of the loop has ended."""


class Exporter(Protocol):
    """Sends finished work to another service; it never fails and never waits for the service."""

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """A step of the loop has run once."""

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """A job has reached a final state; `effect` is its proof, if there is one."""

    def close(self) -> None:
        """Send what is left, for a few seconds at most."""
