"""Versions of the policies as people write them, and the state of the tables of one policy."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.health import Band
from maintainer.domain.job import Job
from maintainer.domain.policy import PolicyProblem


@dataclass(frozen=True, slots=True)
class WrittenLayer:
    """One layer as text: its tables, and (path, value as written, source) of every field."""

    name: str
    tables: tuple[str, ...]
    values: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """All layers with one content hash.

    In a list the layers are left out, and layer_count is their number.
    """

    version: str
    first_seen_at: datetime
    last_seen_at: datetime  # the last time when it came into force
    layer_count: int
    problems: tuple[PolicyProblem, ...] = ()
    layers: tuple[WrittenLayer, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One field that differs between two versions. None: the version does not have the field."""

    layer: str
    path: str
    before: str | None
    after: str | None
    source_before: str | None = None
    source_after: str | None = None


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """The sums over all known tables that a policy names; None is not measured."""

    tables: int = 0
    band: Band | None = None  # the worst grade
    average_file_size_bytes: float | None = None
    last_job: Job | None = None  # None: not among the newest jobs of all tables
    next_check_at: datetime | None = None  # the earliest next check
    problems: tuple[str, ...] = ()  # problems with other policies, such as ambiguities
