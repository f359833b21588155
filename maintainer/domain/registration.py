"""One table under several names: the same UUID in two catalogs, or twice in one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.identifier import TableIdentifier


@dataclass(frozen=True, slots=True)
class Registration:
    """Another name of a table, as last seen."""

    table: TableIdentifier
    is_owner: bool  # True if a policy says so
    newest_snapshot_at: datetime | None = (
        None  # commit time of the snapshot under this name; None: no snapshot, or never measured
    )
