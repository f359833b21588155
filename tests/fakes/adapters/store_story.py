"""What the store in memory knows of verdicts and of users' own measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan
from maintainer.domain.timing import QueryTiming
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.store import Page
from tests.fakes.adapters.store_reading import check_limit, page_of


@dataclass
class FakeStory:
    """One list a table, oldest first, each entry beside the UUID that it is about."""

    verdicts: dict[TableIdentifier, list[tuple[str, RuleVerdict]]] = field(default_factory=dict)
    pins: dict[str, dict[str, Pin]] = field(default_factory=dict)
    places: set[tuple[str, str, str]] = field(default_factory=set)
    timings: dict[str, dict[tuple[datetime, str], QueryTiming]] = field(default_factory=dict)

    def tell(self, plan: Plan, made: Sequence[RuleVerdict]) -> None:
        if not made:
            return
        story = self.verdicts.get(plan.table, [])
        standing = {verdict.rule: (uuid, verdict.code, verdict.key) for uuid, verdict in story if verdict.until is None}
        wanted = {verdict.rule: (plan.table_uuid, verdict.code, verdict.key) for verdict in made}
        ending = {rule for rule in standing if standing[rule] != wanted.get(rule)}
        told = [(uuid, replace(one, until=plan.made_at) if one.rule in ending and one.until is None else one) for uuid, one in story]
        fresh = [verdict for verdict in made if standing.get(verdict.rule) != wanted[verdict.rule]]
        replaced = {(verdict.at, verdict.rule) for verdict in fresh}
        self.verdicts[plan.table] = [(uuid, one) for uuid, one in told if (one.at, one.rule) not in replaced] + [(plan.table_uuid, one) for one in fresh]

    def page(self, table: TableIdentifier, uuid: str | None, limit: int, cursor: str | None) -> Page[RuleVerdict]:
        check_limit(limit)
        found = sorted((one for known, one in self.verdicts.get(table, []) if known == uuid), key=lambda one: (one.at, one.rule), reverse=True)
        return page_of(found, limit, cursor, "verdicts", lambda one: f"{one.at.isoformat()} {one.rule}")

    def time(self, table: TableIdentifier, uuid: str | None, timing: QueryTiming) -> None:
        if uuid is None:
            message = f"table {table} was never measured here"
            raise UnknownTableError(message)
        self.timings.setdefault(uuid, {})[timing.at, timing.name] = timing

    def times(self, uuid: str | None, limit: int, cursor: str | None) -> Page[QueryTiming]:
        check_limit(limit)
        found = [timing for _, timing in sorted(self.timings.get(uuid or "", {}).items(), reverse=True)]
        return page_of(found, limit, cursor, "timings", lambda one: f"{one.at.isoformat()} {one.name}")

    def prune(self, uuids: Mapping[TableIdentifier, str], timings_before: datetime, verdicts_before: datetime) -> dict[str, int]:
        gone = {"verdicts": 0, "timings": 0}
        for table, story in self.verdicts.items():
            kept = [(uuid, one) for uuid, one in story if not _is_over(one, is_known=uuids.get(table) == uuid, before=verdicts_before)]
            gone["verdicts"] += len(story) - len(kept)
            self.verdicts[table] = kept
        for times in self.timings.values():
            for key in [key for key in times if key[0] < timings_before]:
                del times[key]
                gone["timings"] += 1
        return gone


def _is_over(verdict: RuleVerdict, *, is_known: bool, before: datetime) -> bool:
    if verdict.until is not None:
        return verdict.until < before
    return not is_known and verdict.at < before
