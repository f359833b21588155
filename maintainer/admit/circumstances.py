"""The facts that admission needs besides the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from maintainer.domain.admission import (
    AdmissionRules,
    ScopePause,
)
from maintainer.domain.budget import (
    Spending,
)
from maintainer.domain.job import Job, JobRule


@dataclass(frozen=True, slots=True)
class Running:
    """The facts of an unfinished job that admission needs."""

    table_uuid: str
    catalog: str
    rule: JobRule
    policy: str = ""  # the name of the budget of the table's policy
    # False: Spark has finished, and only the proof is missing. The table is busy, but the job uses
    # no slot.
    is_at_work: bool = True


@dataclass(frozen=True, slots=True)
class AdmissionCircumstances:
    """The facts that admission needs besides the candidates."""

    now: datetime  # in UTC
    free_slots: Mapping[str, int]  # of each pool of the runner
    rules: AdmissionRules = field(default_factory=AdmissionRules)
    running: tuple[Running, ...] = ()
    spending: Spending = field(default_factory=lambda: Spending(""))  # of today
    scope_pauses: tuple[ScopePause, ...] = ()


def running_of(job: Job) -> Running:
    """The job as admission counts it."""
    return Running(
        job.table_uuid,
        job.table.catalog,
        job.rule,
        job.charged_to,
        is_at_work=not job.awaits_review,
    )
