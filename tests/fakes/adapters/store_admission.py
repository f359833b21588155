"""What the store in memory knows for admission: seen anew from its plans and jobs at each look,
unlike the real store, which keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from maintainer.domain.admission import Candidate, ScopePause, find_candidates
from maintainer.domain.cost import NOTHING_LEARNT, SHARED_ALPHA, TABLE_ALPHA, Calibration, CostFit
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan, RuleVerdict, StandingVerdict
from maintainer.domain.policy import Charge, DailyWork, RuleName, Spending, day_of
from maintainer.ports.store.tables import Pause, TableRecord
from tests.fakes.adapters.store_story import FakeStory


@dataclass
class FakeAdmission:
    """The part of the store that admission reads."""

    _tables: dict[TableIdentifier, TableRecord] = field(default_factory=dict, kw_only=True)
    _uuids: dict[TableIdentifier, str] = field(default_factory=dict, kw_only=True)
    _pauses: dict[TableIdentifier, tuple[str | None, Pause]] = field(
        default_factory=dict, kw_only=True
    )  # with the table's UUID, if it was known
    _scope_pauses: dict[str, ScopePause] = field(default_factory=dict, kw_only=True)
    _jobs: dict[str, Job] = field(default_factory=dict, kw_only=True)
    _finished: list[Job] = field(
        default_factory=list, kw_only=True
    )  # in the order of finishing; pruned jobs stay, as the memory of rules and savings

    _story: FakeStory = field(default_factory=FakeStory, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def plans(self) -> Sequence[Plan]:
        raise NotImplementedError

    def candidates(self) -> Sequence[Candidate]:
        with self._open():
            return tuple(candidate for plan in self.plans() for candidate in find_candidates(plan))

    def standing_verdicts(self) -> Sequence[StandingVerdict]:
        with self._open():
            return self._story.standing({candidate.table for candidate in self.candidates()})

    def replace_verdicts(
        self, changes: Sequence[tuple[StandingVerdict, RuleVerdict]]
    ) -> Sequence[RuleVerdict]:
        with self._open():
            ordered = sorted(changes, key=lambda change: (change[0].table, change[0].rule))
            return tuple(
                fresh for standing, fresh in ordered if self._story.change(standing, fresh)
            )

    def spending(self, day: str) -> Spending:
        with self._open():
            by_owner: dict[tuple[str, str], Charge] = {}
            for job in self._jobs.values():
                if day_of(job.created_at) == day:
                    owner = job.table.catalog, job.charged_to
                    by_owner[owner] = by_owner.get(owner, Charge()) + job.charge
            return Spending(day, dict(sorted(by_owner.items())))

    def daily_work(
        self, catalog: str | None, namespace: str | None, first_day: str, last_day: str
    ) -> Sequence[DailyWork]:
        with self._open():
            days: dict[str, DailyWork] = {}
            for job in self._jobs.values():
                day = day_of(job.created_at)
                places = ((catalog, job.table.catalog), (namespace, job.table.namespace_text))
                if not first_day <= day <= last_day or any(
                    wanted not in {None, found} for wanted, found in places
                ):
                    continue
                files, requests = (
                    (job.effect.files_removed, job.effect.requests_saved) if job.effect else (0, 0)
                )
                known = days.get(day, DailyWork(day, Charge(), 0, 0))
                days[day] = DailyWork(
                    day,
                    known.cost + job.charge,
                    known.files_removed + files,
                    known.requests_saved + requests,
                )
            return tuple(days[day] for day in sorted(days))

    def calibration(self, table_uuid: str, catalog: str) -> Calibration:
        with self._open():
            return Calibration(
                _learn(
                    (job for job in self._finished if job.table_uuid == table_uuid), TABLE_ALPHA
                ),
                _learn(
                    (job for job in self._finished if job.table.catalog == catalog), SHARED_ALPHA
                ),
                _learn(self._finished, SHARED_ALPHA),
            )

    def paused_tables(self) -> Mapping[TableIdentifier, Pause]:
        with self._open():
            found = {
                table: record.pause
                for table, record in self._tables.items()
                if record.pause is not None
            }
            found |= {table: pause for table, (_, pause) in self._pauses.items()}
            return dict(sorted(found.items(), key=lambda item: str(item[0])))

    def _find_pause(self, table: TableIdentifier) -> Pause | None:
        uuid = self._uuids.get(table)
        by_uuid = (
            pause
            for _, (of, pause) in sorted(self._pauses.items(), key=lambda item: str(item[0]))
            if uuid is not None and of == uuid
        )
        return self._pauses[table][1] if table in self._pauses else next(by_uuid, None)

    def set_scope_pause(self, pause: ScopePause) -> None:
        with self._open():
            self._scope_pauses[pause.scope] = pause

    def remove_scope_pause(self, scope: str) -> bool:
        with self._open():
            return self._scope_pauses.pop(scope, None) is not None

    def scope_pauses(self) -> Sequence[ScopePause]:
        with self._open():
            return tuple(self._scope_pauses[scope] for scope in sorted(self._scope_pauses))


def _learn(jobs: Iterable[Job], alpha: float) -> dict[RuleName, CostFit]:
    fits: dict[RuleName, CostFit] = {}
    for job in jobs:
        sample = job.cost_sample
        if sample is not None:
            fits[job.policy_rule] = fits.get(job.policy_rule, NOTHING_LEARNT).learn(sample, alpha)
    return fits
