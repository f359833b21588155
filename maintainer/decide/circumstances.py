"""The facts that a decision needs besides health and policy, and a hash of a table's state.

The hash changes when others change the table, and not when a job sets its own tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final

from maintainer.domain.action import is_rollback_tag
from maintainer.domain.admission import AdmissionRules, ScopePause
from maintainer.domain.cost import Calibration
from maintainer.domain.driver import SparkFacts
from maintainer.domain.health import Band, TableHealth
from maintainer.domain.identifier import Registration
from maintainer.domain.orphan import Surroundings
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.pool import SizeProfile

_DIGITS: Final = 16
# Nessie writes its commit id into the table's properties, at each commit to any table.
_VOLATILE_PROPERTIES: Final = frozenset({"nessie.commit.id"})


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The facts that a decision needs besides the table and its policy."""

    now: datetime
    history: Mapping[RuleName, RuleHistory] = field(default_factory=dict)
    in_flight: str | None = None  # the id of the table's unfinished job
    paused_by: str | None = None
    pins: tuple[Pin, ...] = ()  # snapshots that readers need
    surroundings: Surroundings | None = None  # only if the policy has orphan scans
    is_requested: bool = False  # by a person, who may have repaired the cause of a failure
    calibration: Calibration = field(default_factory=Calibration)
    memory_gb: float = 1.0  # of one job
    admission: AdmissionRules | None = None  # for daily budgets; None: no budgets
    previous: Plan | None = None  # the table's last plan, with the start of each rule's waiting
    pause: ScopePause | None = None  # the pause or drain that covers the table
    band: Band | None = None
    application: str = ""  # the application name in the snapshots of this program
    tasks_at_once: int = 1  # Spark tasks of one job that run at the same time
    no_runner: str | None = None  # why Spark cannot reach the table's catalog; None: it can
    facts: SparkFacts | None = None  # what the newest Spark driver reported about itself
    registrations: tuple[Registration, ...] = ()  # the table's other names
    profiles: tuple[SizeProfile, ...] = ()  # of jobs; empty: every job is small and takes memory_gb


def digest_state(health: TableHealth) -> str:
    """A hash of the table's state.

    Equal hashes mean: the same snapshots at the heads, the same refs of others, specs, sort order,
    format and properties. The metadata location cannot be used: a job that changes nothing still
    tags a snapshot, which changes the location.
    """
    newest = max(
        health.history, key=lambda stamp: (stamp.committed_at, stamp.snapshot_id), default=None
    )  # for example a staged snapshot
    state = (
        health.table_uuid,
        health.snapshot_id,
        newest.snapshot_id if newest is not None else None,
        sorted(repr(ref) for ref in health.refs if ref.is_branch or not is_rollback_tag(ref.name)),
        health.format_version,
        health.default_spec_id,
        health.sort_order,
        sorted(
            (name, value)
            for name, value in health.properties.items()
            if name not in _VOLATILE_PROPERTIES
        ),
    )
    return sha256(repr(state).encode()).hexdigest()[:_DIGITS]
