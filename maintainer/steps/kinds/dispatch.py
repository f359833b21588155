"""Prepare and prove a job as its kind requires."""

from __future__ import annotations

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.job import Baseline, Job
from maintainer.domain.rollback import RollBack
from maintainer.ports import Ports
from maintainer.steps.kinds.maintenance import prepare_maintenance, prove_maintenance
from maintainer.steps.kinds.orphans import prepare_orphans, prove_orphans
from maintainer.steps.kinds.results import Preparation, Proof
from maintainer.steps.kinds.rollback import prepare_rollback, prove_rollback
from maintainer.steps.table import Measured


def prepare(ports: Ports, job: Job, scanned: Measured) -> Preparation:
    """Check the job against the table just measured, and bring it up to date."""
    match job.action:
        case RollBack() as action:
            return prepare_rollback(job, action, scanned)
        case RemoveOrphanFiles() as action:
            return prepare_orphans(ports, job, action, scanned.health)
        case action:
            return prepare_maintenance(ports, job, action, scanned.health)


def prove(ports: Ports, job: Job, baseline: Baseline, scanned: Measured) -> Proof:
    """Compare the table just measured with its state before the job."""
    match job.action:
        case RollBack() as action:
            return prove_rollback(ports, job, action, scanned)
        case RemoveOrphanFiles() as action:
            return prove_orphans(ports, job, action, baseline, scanned)
        case _:
            return prove_maintenance(ports, job, baseline, scanned)
