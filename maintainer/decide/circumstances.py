"""The facts that a decision needs besides the table's health and its policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from maintainer.decide.orphans.scan import Surroundings
from maintainer.domain.admission import AdmissionRules, ScopePause
from maintainer.domain.calibration import Calibration
from maintainer.domain.health import Band
from maintainer.domain.job_size import SizeProfile
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.registration import Registration
from maintainer.domain.spark_facts import SparkFacts


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
