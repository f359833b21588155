"""A job at its start: its safeguards, its baseline, its action by a new plan, and its deadline."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from maintainer.decide.circumstances import digest_state
from maintainer.domain.action import (
    Checksum,
    Safeguards,
    is_rollback_tag,
    where_of,
)
from maintainer.domain.condition import join_conditions
from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import TableInventory
from maintainer.domain.job import Baseline, Job
from maintainer.domain.plan import Plan, PlannedAction, SkipCode
from maintainer.domain.policy import RuleName
from maintainer.domain.rules import OTHER_TIMEOUT, RULES
from maintainer.domain.units import GIB
from maintainer.estimate.expire_snapshots import find_expired_refs
from maintainer.estimate.filters.filter_writer import write_where
from maintainer.measure.health import summarise

# At the deadline Spark is asked to stop. After this grace the runner ends what still runs.
OVERDUE_GRACE = timedelta(minutes=5)
SAMPLE_BYTES: Final = GIB  # bytes that a sample's checksums may read in each of two snapshots
MAX_SAMPLE_PARTITIONS: Final = 8
MAX_DROPPED_TAGS: Final = 20  # before one job; each drop is a commit of metadata


def bring_up_to_date(job: Job, fresh: Plan, planned: PlannedAction) -> Job:
    """Replace the job's action and its reasons with those of the new plan.

    The policy may keep more now, and the table may need another option.
    """
    return replace(
        job,
        action=planned.action,
        findings=planned.findings,
        estimate=planned.estimate,
        reason=planned.reason,
        policy_version=fresh.policy_version,
        cost=planned.cost,
        timeout=planned.timeout,
        memory_gb=planned.memory_gb,
        executors_gb=planned.executors_gb,
        size=planned.size,
        size_reason=planned.size_reason,
        pool=fresh.pool,
    )


def explain_needlessness(fresh: Plan, rule: RuleName) -> str:
    """Say why the fresh plan does not contain the job's rule."""
    skipped = next((skip for skip in fresh.skipped if skip.rule is rule), None)
    if skipped is not None and skipped.code is SkipCode.PAUSED:
        return f"not started: {skipped.reason}"
    return (
        f"no longer needed: {skipped.reason}"
        if skipped is not None
        else "no longer needed: the policy has no such rule now"
    )


def find_deadline(job: Job, now: datetime) -> datetime:
    """The deadline of a job that is handed over now."""
    default = RULES[job.rule]().timeout if isinstance(job.rule, RuleName) else OTHER_TIMEOUT
    return now + (job.timeout if job.timeout is not None else default)


def is_over_time(job: Job, now: datetime) -> bool:
    """True when the job's deadline has passed."""
    return job.deadline is not None and now >= job.deadline


def may_go_on(job: Job, now: datetime) -> bool:
    """True until the grace period after the deadline is over."""
    return job.deadline is None or now < job.deadline + OVERDUE_GRACE


def choose_safeguards(job: Job, wanted: Safeguards, health: TableHealth) -> Safeguards:
    """The safeguards of this job.

    Only rewrites have safeguards. Checksums of a sample are used only if a sample fits the limit.
    """
    if not job.is_rewrite:
        return Safeguards()
    if wanted.checksum is not Checksum.SAMPLE:
        return wanted
    where = where_of(job.action)
    if (
        job.estimate.bytes_rewritten if where is not None else health.data_bytes or 0
    ) <= SAMPLE_BYTES:
        return wanted
    sample = write_where(
        health.table.catalog, [(p.spec_id, p.partition) for p in _choose(health)], health.specs
    )
    if sample is None:
        return replace(wanted, checksum=Checksum.OFF)
    return replace(
        wanted, checksum_where=join_conditions(where, sample) if where is not None else sample
    )


def _choose(health: TableHealth) -> list[PartitionHealth]:
    """Partitions that a rewrite is likely to take, up to the limit."""
    chosen: list[PartitionHealth] = []
    for partition in health.partitions:  # most small files first
        if (
            len(chosen) < MAX_SAMPLE_PARTITIONS
            and sum(one.data_bytes for one in (*chosen, partition)) <= SAMPLE_BYTES
        ):
            chosen.append(partition)
    return chosen


def find_lapsed_tags(health: TableHealth, now: datetime) -> tuple[str, ...]:
    """Tags of earlier jobs whose age is over.

    Expiry would drop them, but does not run on every table.
    """
    lapsed = sorted(
        ref.name
        for ref in find_expired_refs(health, now)
        if not ref.is_branch and is_rollback_tag(ref.name)
    )
    return tuple(lapsed[:MAX_DROPPED_TAGS])


def take_baseline(inventory: TableInventory, health: TableHealth) -> Baseline:
    """Take the parts of the inventory and its health that the proof needs."""
    return Baseline(
        snapshot_id=inventory.current_snapshot_id,
        sequence_number=max(
            (snapshot.sequence_number for snapshot in inventory.snapshots), default=0
        ),
        newest_snapshot_at=health.newest_snapshot_at,
        metadata_location=inventory.metadata_location,
        measurement=summarise(health),
        snapshot_at=next(
            (
                snapshot.committed_at
                for snapshot in inventory.snapshots
                if snapshot.snapshot_id == inventory.current_snapshot_id
            ),
            None,
        ),
        lapsed_tags=find_lapsed_tags(health, health.measured_at),
        state=digest_state(health),
        next_row_id=inventory.next_row_id,
    )
