"""The audit log of the store in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC

from maintainer.domain.access import is_within
from maintainer.domain.audit import AuditEntry, AuditQuery
from maintainer.ports.store.pages import Page
from tests.fakes.adapters.store_reading import check_limit, page_of


@dataclass
class FakeAudit:
    """Oldest first."""

    entries: list[AuditEntry] = field(default_factory=list)

    def note(self, entries: Iterable[AuditEntry]) -> None:
        for entry in entries:
            fields = json.loads(json.dumps(dict(entry.fields), default=str))
            self.entries.append(
                replace(
                    entry,
                    sequence=len(self.entries) + 1,
                    at=entry.at.astimezone(UTC),
                    fields=fields,
                )
            )

    def page(self, query: AuditQuery) -> Page[AuditEntry]:
        check_limit(query.limit)
        found = [entry for entry in reversed(self.entries) if _answers(entry, query)]
        return page_of(
            found, query.limit, query.cursor, "audit", lambda entry: f"{entry.sequence:020}"
        )


def _answers(entry: AuditEntry, query: AuditQuery) -> bool:
    return (
        (query.table is None or entry.table == query.table)
        and (not query.job_id or entry.job_id == query.job_id)
        and (not query.actor or entry.actor == query.actor)
        and (query.since is None or entry.at >= query.since)
        and (query.until is None or entry.at < query.until)
        and (
            query.within is None
            or (entry.table is not None and is_within(entry.table, query.within))
        )
    )
