"""What the store in memory knows of verdicts and pins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.pin import Pin
from maintainer.domain.plan import (
    PLANNED,
    Plan,
    RuleVerdict,
    SkipCode,
    StandingVerdict,
    Unenforced,
    is_waiting,
    stands_on,
)
from maintainer.domain.policy import RuleName
from maintainer.ports.store.pages import Page
from tests.fakes.adapters.store_reading import check_limit, page_of


@dataclass
class FakeStory:
    """One list a table, oldest first, each entry beside the UUID that it is about."""

    verdicts: dict[TableIdentifier, list[tuple[str, RuleVerdict]]] = field(default_factory=dict)
    pins: dict[str, dict[str, Pin]] = field(default_factory=dict)
    locations: dict[tuple[str, str, str], datetime | None] = field(
        default_factory=dict
    )  # (path, uuid, name) -> when it was seen, of what is none of Iceberg's

    def tell(self, plan: Plan, made: Sequence[RuleVerdict]) -> None:
        if not made:
            return
        known = {
            verdict.rule: _identify(plan.table, uuid, verdict)
            for uuid, verdict in self.verdicts.get(plan.table, [])
            if verdict.until is None
        }
        kept = {
            verdict.rule
            for verdict in made
            if verdict.rule in known and stands_on(known[verdict.rule], plan.table_uuid, verdict)
        }
        self._end(plan.table, known.keys() - kept, plan.made_at)
        self._add(
            plan.table, plan.table_uuid, [verdict for verdict in made if verdict.rule not in kept]
        )

    def _end(self, table: TableIdentifier, rules: Collection[RuleName], at: datetime) -> None:
        reported = self.verdicts.get(table, [])
        self.verdicts[table] = [
            (uuid, replace(one, until=at) if one.rule in rules and one.until is None else one)
            for uuid, one in reported
        ]

    def _add(self, table: TableIdentifier, uuid: str, fresh: Sequence[RuleVerdict]) -> None:
        replaced = {(verdict.at, verdict.rule) for verdict in fresh}
        self.verdicts[table] = [
            reported
            for reported in self.verdicts[table]
            if (reported[1].at, reported[1].rule) not in replaced
        ] + [(uuid, one) for one in fresh]

    def standing(self, tables: Collection[TableIdentifier]) -> Sequence[StandingVerdict]:
        reported = [
            _identify(table, uuid, one)
            for table in tables
            for uuid, one in self.verdicts.get(table, [])
            if one.until is None
        ]
        return tuple(
            sorted(
                (one for one in reported if one.code == PLANNED or is_waiting(one.key)),
                key=lambda one: (str(one.table), one.rule),
            )
        )

    def unenforced(self, known: Mapping[TableIdentifier, str], limit: int) -> Unenforced:
        found = [
            (table, one)
            for table in sorted(known, key=str)
            for uuid, one in sorted(self.verdicts.get(table, []), key=lambda one: one[1].rule)
            if one.until is None and one.code == SkipCode.OBSERVE_ONLY and uuid == known[table]
        ]
        files = RuleName.REWRITE_DATA_FILES
        return Unenforced(
            len({table for table, _ in found}),
            sum(
                one.estimate.items_removed
                for _, one in found[:limit]
                if one.estimate and one.rule is files
            ),
            sum(one.cost.gb_hours for _, one in found[:limit] if one.cost),
            len(found) <= limit,
        )

    def change(self, standing: StandingVerdict, fresh: RuleVerdict) -> bool:
        reported = self.verdicts.get(standing.table, [])
        if not any(
            one.until is None and _identify(standing.table, uuid, one) == standing
            for uuid, one in reported
        ):
            return False
        self._end(standing.table, {standing.rule}, fresh.at)
        self._add(standing.table, standing.table_uuid, [fresh])
        return True

    def page(
        self, table: TableIdentifier, uuid: str | None, limit: int, cursor: str | None
    ) -> Page[RuleVerdict]:
        check_limit(limit)
        found = sorted(
            (one for known, one in self.verdicts.get(table, []) if known == uuid),
            key=lambda one: (one.at, one.rule),
            reverse=True,
        )
        return page_of(
            found, limit, cursor, "verdicts", lambda one: f"{one.at.isoformat()} {one.rule}"
        )

    def prune(
        self,
        uuids: Mapping[TableIdentifier, str],
        verdicts_before: datetime,
    ) -> dict[str, int]:
        gone = {"verdicts": 0}
        for table, story in self.verdicts.items():
            kept = [
                (uuid, one)
                for uuid, one in story
                if not _is_over(one, is_known=uuids.get(table) == uuid, before=verdicts_before)
            ]
            gone["verdicts"] += len(story) - len(kept)
            self.verdicts[table] = kept
        return gone


def _is_over(verdict: RuleVerdict, *, is_known: bool, before: datetime) -> bool:
    if verdict.until is not None:
        return verdict.until < before
    return not is_known and verdict.at < before


def _identify(table: TableIdentifier, uuid: str, verdict: RuleVerdict) -> StandingVerdict:
    return StandingVerdict(table, uuid, verdict.rule, verdict.code, verdict.key)
