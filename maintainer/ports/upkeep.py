"""The store itself: whether it can be used, and what keeps it small."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol


class UpkeepStore(Protocol):
    """The part of the store that is about the store."""

    def prune(
        self,
        samples_before: datetime,
        jobs_before: datetime,
        hourly_before: datetime | None = None,
        daily_before: datetime | None = None,
    ) -> Mapping[str, int]:
        """Delete older samples, and older finished jobs with their events; returns counts by kind.
        The latest of each table stays.

        Timings go with the samples' age; verdicts with the jobs', but for those that stand. Of the
        samples before hourly_before the last of each hour is kept, of those before daily_before the
        last of each day (UTC). The work of one call is bounded, and several transactions; the next
        call goes on. Counters that are not what they count, and names that no search would find,
        are mended: `mended` says how many.
        """
        ...

    def instance_id(self) -> str:
        """A short random id, made once, the same for everyone who uses this store."""
        ...

    def describe(self) -> str:
        """One sentence on what database this is and its schema's version; StoreUnavailableError
        when it cannot be used.
        """
        ...

    def ensure_writable(self) -> None:
        """Write something; StoreUnavailableError when nothing can be kept now."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
