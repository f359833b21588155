"""What needs a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from maintainer.domain.identifier import TableIdentifier


class InboxKind(StrEnum):
    """Why a person is needed, the most urgent first."""

    PAUSED = "paused"  # the daemon paused the table, because a proof failed
    UNREADABLE = "unreadable"  # the table cannot be measured
    CATALOG = "catalog"  # a catalog cannot be listed completely
    FAILING = "failing"  # jobs of a rule keep failing on the table
    POLICY = "policy"  # a policy file has an error
    APPROVAL = "approval"  # a list of orphan files waits for approval
    SHARED = "shared"  # one table has several names
    OBSERVED = "observed"  # tables would be maintained if their policy had the mode enforce


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """One problem that only a person can resolve."""

    kind: InboxKind
    subject: str  # the name of a table or of a catalog, or the source of a policy
    sentence: str
    since: datetime | None = None  # None: unknown
    table: TableIdentifier | None = None
    reference: str = ""  # the id of an orphan list or of a job
