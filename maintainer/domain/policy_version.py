"""Versions of the policies, in the form in which people write them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

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
