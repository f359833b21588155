"""One table under several names: the same UUID in two catalogs, or twice in one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.identifier import TableIdentifier


@dataclass(frozen=True, slots=True)
class Registration:
    """Another name of a table, as it was seen last."""

    table: TableIdentifier
    is_owner: bool  # a policy says so
    newest_snapshot_at: datetime | None = (
        None  # of what the name points to; None: without a snapshot, or never measured
    )
