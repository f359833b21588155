"""The possible results of preparing a job and of proving it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from maintainer.compare.conclusion import Conclusion
from maintainer.domain.effect import Effect
from maintainer.domain.job import FailureReason, Job


@dataclass(frozen=True, slots=True)
class Ready:
    """The job is ready for Spark; pauses set before `ignores_pauses_until` do not stop it."""

    job: Job
    ignores_pauses_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The job must not start, and fails."""

    reason: FailureReason
    message: str


@dataclass(frozen=True, slots=True)
class NotNeeded:
    """The job is no longer needed, and is cancelled."""

    message: str


@dataclass(frozen=True, slots=True)
class Proved:
    """The effect of the job, and its final state."""

    effect: Effect
    conclusion: Conclusion


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The effect of the job cannot be read yet, for this reason."""

    reason: str


Preparation = Ready | Refused | NotNeeded
Proof = Proved | Unreadable
