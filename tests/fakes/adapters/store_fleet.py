"""The history of the fleet's sums in the store in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store.figures import (
    SLOT,
    SLOT_OF_NAMESPACES,
    Counters,
    FleetSample,
    floor_to,
)
from maintainer.ports.store.tables import TableRecord

Scope = tuple[str | None, str | None]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass
class FakeFleet:
    """Implements the history of FiguresStore."""

    _tables: dict[TableIdentifier, TableRecord] = field(default_factory=dict, kw_only=True)
    _fleet: dict[Scope, dict[datetime, Counters]] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        raise NotImplementedError

    def record_fleet(self, at: datetime) -> None:
        with self._open():
            scopes: set[Scope] = {(None, None), *self._fleet}
            for table in self._tables:
                scopes |= {(table.catalog, None), (table.catalog, table.namespace_text)}
            for scope in scopes:
                samples = self._fleet.setdefault(scope, {})
                sums = self.counters(*scope)
                last = samples[max(samples)] if samples else self.counters("", "")
                if sums != last:
                    slot = SLOT if scope[1] is None else SLOT_OF_NAMESPACES
                    samples[floor_to(slot, at)] = sums

    def fleet_history(
        self, catalog: str | None, namespace: str | None, since: datetime, until: datetime
    ) -> Sequence[FleetSample]:
        with self._open():
            samples = self._fleet.get((catalog, namespace), {})
            valid = max((at for at in samples if at <= since), default=since)
            return tuple(
                FleetSample(max(at, since), samples[at])
                for at in sorted(samples)
                if valid <= at <= until
            )

    def _prune_fleet(
        self, before: datetime, hourly_before: datetime | None, daily_before: datetime | None
    ) -> int:
        deleted = 0
        for (_, namespace), samples in self._fleet.items():
            for at in sorted(samples):
                buckets = [DAY] if daily_before and at < floor_to(DAY, daily_before) else []
                least = HOUR if namespace is None else DAY
                if hourly_before and at < floor_to(least, hourly_before):
                    buckets.append(least)
                later: Mapping[datetime, Counters] = {
                    other: sums for other, sums in samples.items() if other > at
                }
                is_replaced = any(
                    floor_to(bucket, other) == floor_to(bucket, at)
                    for bucket in buckets
                    for other in later
                )
                if is_replaced or (at < before and later):
                    del samples[at]
                    deleted += 1
        return deleted
