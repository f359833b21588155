"""The daemon's log: one line for each event, `noun.verb` with fields."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from maintainer.domain.effect import Effect
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import Plan, RuleVerdict
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from maintainer.domain.status import TableState
from maintainer.domain.units import format_size
from maintainer.ports.telemetry import Exporter, Telemetry

log = logging.getLogger("maintainer")


class Journal:
    """Telemetry that logs important events and passes all events on.

    Exporters get finished steps and jobs.
    """

    def __init__(self, inner: Telemetry, exporters: Sequence[Exporter] = ()) -> None:
        self._inner = inner
        self._exporters = exporters
        self._slow: set[SlowRead] = set()

    def table_measured(self, health: TableHealth, grade: Grade) -> None:
        """Log a measured table, at debug level."""
        average = (
            format_size(health.average_file_size_bytes)
            if health.average_file_size_bytes is not None
            else "none"
        )
        log.debug(
            "table.measured table=%s band=%s data_files=%s average_file_size=%r",
            health.table,
            grade.band,
            health.data_files,
            average,
        )
        self._inner.table_measured(health, grade)

    def table_gone(self, table: TableIdentifier) -> None:
        """Log a table that no longer exists."""
        log.info("table.gone table=%s", table)
        self._inner.table_gone(table)

    def scan_finished(self, seconds: float, entries: int, tables: int, faults: int) -> None:
        """Log the end of a scan with its cost."""
        log.info(
            "scan.finished tables=%d faults=%d manifest_entries_read=%d duration_seconds=%.2f",
            tables,
            faults,
            entries,
            seconds,
        )
        self._inner.scan_finished(seconds, entries, tables, faults)

    def catalog_polled(self, catalog: str, seconds: float, errors: int) -> None:
        """Pass on a poll; the store has its errors."""
        self._inner.catalog_polled(catalog, seconds, errors)

    def reader_checked(self, fault: ReaderFault | None) -> None:
        """Pass on whether the fast reader works; the reader itself logs the reason."""
        self._inner.reader_checked(fault)

    def manifests_read_slowly(self, reason: SlowRead, manifests: int) -> None:
        """Log manifests that the slow reader read.

        The first manifest for each reason is a warning, because all manifests of a writer may be
        affected.
        """
        level = logging.DEBUG if reason in self._slow else logging.WARNING
        self._slow.add(reason)
        log.log(level, "manifests.read_slowly reason=%s manifests=%d", reason, manifests)
        self._inner.manifests_read_slowly(reason, manifests)

    def plan_made(self, plan: Plan) -> None:
        """Log a plan that differs from the previous plan: its actions, and why other rules wait."""
        for planned in plan.planned:
            log.info(
                "action.planned table=%s rule=%s reason=%r",
                plan.table,
                planned.rule,
                planned.reason,
            )
        for skipped in plan.skipped:
            log.debug(
                "action.skipped table=%s rule=%s code=%s reason=%r",
                plan.table,
                skipped.rule,
                skipped.code,
                skipped.reason,
            )
        self._inner.plan_made(plan)

    def verdicts_changed(self, verdicts: Sequence[RuleVerdict]) -> None:
        """Log how many planned actions wait for admission, by kind."""
        for code, number in sorted(Counter(verdict.code for verdict in verdicts).items()):
            log.info("verdicts.changed code=%s actions=%d", code, number)
        self._inner.verdicts_changed(verdicts)

    def queue_counted(self, actions: Mapping[str, int]) -> None:
        """Pass on the length of the queue."""
        self._inner.queue_counted(actions)

    def states_counted(self, tables: Mapping[TableState, int]) -> None:
        """Pass on the number of tables in each state."""
        self._inner.states_counted(tables)

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """Log a job that has reached a final state."""
        said = job.failure_message or (effect.sentence if effect is not None else "")
        level = logging.WARNING if job.state is JobState.FAILED else logging.INFO
        log.log(
            level,
            "job.%s job=%s table=%s rule=%s reason=%s duration_seconds=%s message=%r",
            job.state,
            job.job_id,
            job.table,
            job.rule,
            job.failure_reason or "none",
            job.duration.total_seconds() if job.duration is not None else None,
            said,
        )
        self._inner.job_finished(job, effect)
        for exporter in self._exporters:
            exporter.job_finished(job, effect)

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """Log one run of a step of the loop."""
        self._inner.step_finished(step, seconds, is_ok)
        for exporter in self._exporters:
            exporter.step_finished(step, seconds, is_ok)
