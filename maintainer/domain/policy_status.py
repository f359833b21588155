"""The state of the tables that one policy names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.health import Band
from maintainer.domain.job import Job


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """The sums over all known tables that a policy names; None is not measured."""

    tables: int = 0
    band: Band | None = None  # the worst grade
    average_file_size_bytes: float | None = None
    last_job: Job | None = None  # None: not among the newest jobs of all tables
    next_check_at: datetime | None = None  # the earliest next check
    problems: tuple[str, ...] = ()  # problems with other policies, such as ambiguities
