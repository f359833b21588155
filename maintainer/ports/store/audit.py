"""The store's audit log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from maintainer.domain.audit import AuditEntry, AuditQuery
from maintainer.ports.store.pages import Page


class AuditStore(Protocol):
    """The part of the store that concerns the audit log."""

    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        """Add entries to the audit log.

        Entries about jobs are not passed here: the store writes them with each change of a
        job (domain.audit).
        """

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """A page of the audit log, newest first; entries are never deleted."""
