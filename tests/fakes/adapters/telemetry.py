"""A telemetry that remembers what it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from maintainer.domain.effect import Effect
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan, RuleVerdict
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from maintainer.domain.status import TableState


@dataclass
class FakeTelemetry:
    """Each list holds what its method was given, in order."""

    measured: list[tuple[TableHealth, Grade]] = field(default_factory=list)
    gone: list[TableIdentifier] = field(default_factory=list)
    scans: list[tuple[float, int, int, int]] = field(default_factory=list)
    polls: list[tuple[str, int]] = field(default_factory=list)
    queues: list[dict[str, int]] = field(default_factory=list)
    states: list[dict[TableState, int]] = field(default_factory=list)
    readers: list[ReaderFault | None] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    jobs: list[tuple[Job, Effect | None]] = field(default_factory=list)
    verdicts: list[RuleVerdict] = field(default_factory=list)
    steps: list[tuple[str, bool]] = field(default_factory=list)
    slow: list[tuple[SlowRead, int]] = field(default_factory=list)

    def table_measured(self, health: TableHealth, grade: Grade) -> None:
        self.measured.append((health, grade))

    def table_gone(self, table: TableIdentifier) -> None:
        self.gone.append(table)

    def scan_finished(self, seconds: float, entries: int, tables: int, faults: int) -> None:
        self.scans.append((seconds, entries, tables, faults))

    def catalog_polled(self, catalog: str, seconds: float, errors: int) -> None:
        _ = seconds  # differs from run to run
        self.polls.append((catalog, errors))

    def reader_checked(self, fault: ReaderFault | None) -> None:
        self.readers.append(fault)

    def manifests_read_slowly(self, reason: SlowRead, manifests: int) -> None:
        self.slow.append((reason, manifests))

    def plan_made(self, plan: Plan) -> None:
        self.plans.append(plan)

    def verdicts_changed(self, verdicts: Sequence[RuleVerdict]) -> None:
        self.verdicts.extend(verdicts)

    def queue_counted(self, actions: Mapping[str, int]) -> None:
        self.queues.append(dict(actions))

    def states_counted(self, tables: Mapping[TableState, int]) -> None:
        self.states.append(dict(tables))

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        self.jobs.append((job, effect))

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        _ = seconds  # differs from run to run
        self.steps.append((step, is_ok))
