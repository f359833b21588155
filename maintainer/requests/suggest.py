"""Suggest a policy for a table from its history in the store."""

from __future__ import annotations

from maintainer.decide.suggestion import LOOKS_BACK, METRICS, SuggestedPolicy, suggest_policy
from maintainer.domain.health import TableHealth
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery

MOST_JOBS = 200  # the newest jobs of a table


def suggest(ports: Ports, health: TableHealth) -> SuggestedPolicy:
    """Suggest a policy for a measured table; nothing is stored, and no catalog is asked."""
    now, store = ports.clock.now(), ports.store
    samples = {
        metric: store.history(health.table, metric, now - LOOKS_BACK, now) for metric in METRICS
    }
    jobs = store.jobs(JobQuery(table=health.table, limit=MOST_JOBS)).items
    own = [job for job in jobs if job.table_uuid == health.table_uuid]
    return suggest_policy(health, samples, own, now)
