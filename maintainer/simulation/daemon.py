"""The contender that is this daemon: the decision, the costs, the scores and the admission are the very functions of production.

Policies are taken in enforce mode, whatever they say: in observe mode there would be nothing to see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.admission import AdmissionRules, Candidate, Scorer, find_candidates
from maintainer.domain.calibration import NOTHING_LEARNT, SHARED_ALPHA, TABLE_ALPHA, Calibration, CostFit, CostSample
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Plan, PlannedAction, RuleHistory
from maintainer.domain.policy import Mode, Policy, PolicyLayer, RuleName
from maintainer.policy.admit import AdmissionCircumstances, admit
from maintainer.policy.brevity import MOST_FILES
from maintainer.policy.decide import decide
from maintainer.policy.effective import effective
from maintainer.policy.hold import Circumstances
from maintainer.policy.shrink import PARTIAL_PROGRESS
from maintainer.policy.where import write_where
from maintainer.simulation.table import SimulatedTable
from maintainer.simulation.trial import Conditions, Outcome, Work

RULE = RuleName.REWRITE_DATA_FILES  # what is simulated
# A verdict is looked at again when the table changes or after this time, as in production.
LONGEST_TRUST = timedelta(hours=6)


@dataclass(slots=True)
class _Memory:
    """What the store would keep of one table."""

    policy: Policy
    history: RuleHistory = field(default_factory=lambda: RuleHistory(RULE))
    fit: CostFit = NOTHING_LEARNT
    good_for: int | None = None  # the table's version that the last verdict was for
    next_look: datetime | None = None
    plan: Plan | None = None
    candidate: Candidate | None = None
    work: Work | None = None


class Daemon:
    """Decides for the tables that have changed, admits in the order of a scorer, and learns from what came of it."""

    def __init__(self, layers: tuple[PolicyLayer, ...], conditions: Conditions, scorer: Scorer = Scorer.MAINTAINER, name: str = "") -> None:
        self.name = name or f"daemon ({scorer})"
        self._layers = layers
        self._rules = AdmissionRules(scorer=scorer, sla=conditions.sla, memory_gb=conditions.memory_gb)
        self._memory: dict[int, _Memory] = {}
        self._fleet = NOTHING_LEARNT

    def choose(self, now: datetime, tables: Sequence[SimulatedTable], left_gb_hours: float | None) -> Iterator[Work]:
        """The admitted, best first; the budget's last GB-hours are the trial's to end."""
        del left_gb_hours
        for number, table in enumerate(tables):
            self._look(number, table, now)
        waiting = {str(memory.candidate.table_uuid): number for number, memory in self._memory.items() if memory.candidate is not None}
        candidates = [memory.candidate for memory in self._memory.values() if memory.candidate is not None]
        for verdict in admit(candidates, AdmissionCircumstances(now, len(candidates), self._rules)):
            memory = self._memory[waiting[verdict.candidate.table_uuid]]
            if memory.work is not None:
                yield memory.work

    def _look(self, number: int, table: SimulatedTable, now: datetime) -> None:
        memory = self._memory.get(number)
        if memory is None:
            memory = self._memory[number] = _Memory(replace(effective(self._layers, table.traits.table, {}), mode=Mode.ENFORCE))
        if memory.good_for == table.version and memory.next_look is not None and now < memory.next_look:
            return
        health = table.measure(now)
        circumstances = Circumstances(now, {RULE: memory.history}, calibration=self._calibration(memory), memory_gb=self._rules.memory_gb, previous=memory.plan)
        memory.plan = plan = decide(health, memory.policy, circumstances)
        planned = next((planned for planned in plan.planned if planned.rule is RULE), None)
        looks = [skipped.next_at for skipped in plan.skipped if skipped.rule is RULE and skipped.next_at is not None]
        memory.good_for, memory.next_look = table.version, min([*looks, now + LONGEST_TRUST])
        if planned is None:
            memory.candidate = memory.work = None
            return
        memory.candidate = next(candidate for candidate in find_candidates(plan) if candidate.rule is RULE)
        memory.work = _write_work(number, planned, memory.candidate, health)

    def _calibration(self, memory: _Memory) -> Calibration:
        return Calibration(_known(memory.fit), {}, _known(self._fleet))

    def learn(self, work: Work, table: SimulatedTable, outcome: Outcome) -> None:
        """Keep what the store would keep of the finished job."""
        memory = self._memory[work.table]
        predicted = memory.candidate.cost.duration_seconds if memory.candidate is not None else None
        if not outcome.is_conflict:
            sample = CostSample(outcome.bytes, outcome.seconds, predicted)
            memory.fit, self._fleet = memory.fit.learn(sample, TABLE_ALPHA), self._fleet.learn(sample, SHARED_ALPHA)
        memory.history = _remember(memory.history, table, outcome)
        memory.candidate = memory.work = memory.next_look = None


def _known(fit: CostFit) -> Mapping[RuleName, CostFit]:
    return {RULE: fit} if fit.samples else {}


def _write_work(number: int, planned: PlannedAction, candidate: Candidate, health: TableHealth) -> Work | None:
    """The action as the trial carries it out."""
    if not isinstance(planned.action, RewriteDataFiles):
        return None
    options = dict(planned.action.options)
    most_files = options.get(MOST_FILES)
    return Work(
        number,
        _find_partitions(planned.action.where or "", health),
        options.get(PARTIAL_PROGRESS) == "true",
        None if most_files is None else int(most_files),
        planned.estimate.items_removed,
        candidate.cost.gb_hours,
    )


def _find_partitions(where: str, health: TableHealth) -> frozenset[str] | None:
    """The partitions that the action's filter names; None: all, whatever else a policy's own filter says."""
    if not where:
        return None
    filters = {p.partition: write_where(health.table.catalog, [(p.spec_id, p.partition)], health.specs) for p in health.partitions}
    return frozenset(name for name, text in filters.items() if text is not None and text in where) or None


def _remember(history: RuleHistory, table: SimulatedTable, outcome: Outcome) -> RuleHistory:
    ended_at = outcome.started_at + timedelta(seconds=outcome.seconds)
    if outcome.is_conflict:
        return replace(
            history,
            last_finished_at=ended_at,
            last_failure_at=ended_at,
            last_failure_reason="conflict",
            consecutive_failures=history.consecutive_failures + 1,
            recent_conflicts=history.recent_conflicts + 1,
        )
    idle_at = f"{table.traits.table.name}/{table.version}" if not outcome.files_removed else None
    return replace(
        history,
        last_finished_at=ended_at,
        last_success_at=ended_at,
        consecutive_failures=0,
        recent_conflicts=max(0, history.recent_conflicts - 1),
        idle_at_metadata_location=idle_at,
    )
