"""The policies as they were at some time, written as people write them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.policy import PolicyProblem


@dataclass(frozen=True, slots=True)
class WrittenLayer:
    """One layer as text: the tables that it speaks for, and (path, value as people write it,
    source) of every field.
    """

    name: str
    tables: tuple[str, ...]
    values: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """All layers of one content hash; in a list they are left out, and layer_count says how many
    there are.
    """

    version: str
    first_seen_at: datetime
    last_seen_at: datetime  # when it came into force last
    layer_count: int
    problems: tuple[PolicyProblem, ...] = ()
    layers: tuple[WrittenLayer, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One field that two versions have differently, or that only one of them has (None in the
    other).
    """

    layer: str
    path: str
    before: str | None
    after: str | None
    source_before: str | None = None
    source_after: str | None = None
