"""The state of a table and of the fleet: is all well, what is being done, what needs a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.notice import InboxEntry
from maintainer.domain.plan import Unenforced


class TableState(StrEnum):
    """The state of a table, the most urgent first. Each table is in exactly one."""

    UNREADABLE = "unreadable"  # it cannot be measured
    DAMAGED = "damaged"  # metadata is missing or wrong, or deletes have no effect
    PAUSED = "paused"
    NOT_COVERED = "not_covered"  # no policy selects it
    OBSERVED = "observed"  # it would be maintained if its policy were in mode enforce
    WAITING = "waiting"  # maintenance would help, and does not start yet
    DUE = "due"  # maintenance starts next
    BEING_MAINTAINED = "being_maintained"  # it has an unfinished job
    SMALL_BY_NATURE = "small_by_nature"  # its files are small, and maintenance cannot help
    HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class TableStatus:
    """The state of one table as a sentence, since when, and the next action."""

    table: TableIdentifier
    state: TableState
    sentence: str
    since: datetime | None = None  # None: unknown
    # the earliest start of what waits, or the estimated end of the job; None: unknown
    until: datetime | None = None
    command: str = ""  # the next action on the command line; empty: there is nothing to do
    band: Band | None = None  # None: not measured
    needs_person: bool = False  # nothing improves before a person acts
    unenforced: Unenforced | None = None  # what would run if its policy were in mode enforce


@dataclass(frozen=True, slots=True)
class Need:
    """One problem that only a person can resolve, and the command that helps with it."""

    entry: InboxEntry
    command: str


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """The state of the fleet, or of a part of it."""

    sentence: str
    tables: int
    states: Mapping[TableState, int]  # each state has a number, which may be 0
    last_scan_at: datetime | None  # None: never
    needs: tuple[Need, ...]  # the most urgent first

    @property
    def is_well(self) -> bool:
        """True when a scan has finished and nothing needs a person."""
        return self.last_scan_at is not None and not self.needs
