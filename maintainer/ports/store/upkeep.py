"""The upkeep of the store itself, and which replica has which duty."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from maintainer.domain.replica import Duty, HeldDuty


@dataclass(frozen=True, slots=True)
class StoreSize:
    """The size of the store on disk, and the free space there."""

    used_bytes: int
    free_bytes: int | None  # None if the disk of the database is unknown


class UpkeepStore(Protocol):
    """The part of the store that concerns the store itself."""

    def prune(
        self,
        samples_before: datetime,
        jobs_before: datetime,
        hourly_before: datetime | None = None,
        daily_before: datetime | None = None,
    ) -> Mapping[str, int]:
        """Delete older samples, and older finished jobs with their events; return counts by kind.

        The latest sample and finished job of each table stay. Verdicts are deleted with
        the jobs' age, except standing ones. Of the samples before
        hourly_before, the last of each hour is kept, of those before daily_before, the last of
        each day (UTC). A call does bounded work in several transactions; the next call
        continues.
        """

    def instance_id(self) -> str:
        """A short random id, made once, the same for every process on this store."""

    def describe(self) -> str:
        """Describe the database and its schema version in one sentence.

        StoreUnavailableError when it cannot be used.
        """

    def size(self) -> StoreSize:
        """The size of the store; StoreUnavailableError if it cannot be used."""
        ...

    def ensure_writable(self) -> None:
        """Test a write; StoreUnavailableError if the store cannot be written now."""

    def close(self) -> None:
        """Close the connections."""


class DutyStore(Protocol):
    """The part of the store that keeps the holder of each duty, by the store's own clock."""

    def duties(self) -> Sequence[HeldDuty]:
        """The duties that have not expired, in order."""

    def hold_duties(
        self, holder: str, duties: Collection[Duty], span: timedelta, gone: Collection[str] = ()
    ) -> frozenset[Duty]:
        """Hold these duties for the span from now on; return the duties that the holder has now.

        A duty of another holder is not taken before it expires, unless that holder is `gone`.
        """

    def give_back_duties(self, holder: str, duties: Collection[Duty]) -> None:
        """Give these duties back at once; duties of other holders are ignored."""


class SessionStore(Protocol):
    """The part of the store that keeps which sessions of the page were ended before their time."""

    def end_session(self, name: str, until: datetime, now: datetime) -> None:
        """Remember an ended session until it would have ended; those that are over are dropped."""

    def ended_sessions(self, now: datetime) -> Sequence[str]:
        """The names of the ended sessions that would not be over yet."""
