"""The safeguards of one job, from its policy, and the state that its effect is compared with."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from maintainer.decide.table_state import digest_state
from maintainer.domain.action import RewriteDataFiles, RewritePositionDeleteFiles
from maintainer.domain.condition import join_conditions
from maintainer.domain.health import PartitionHealth, TableHealth
from maintainer.domain.inventory import TableInventory
from maintainer.domain.job import Baseline, Job
from maintainer.domain.rollback import RollBack
from maintainer.domain.safeguards import Checksum, Safeguards, is_rollback_tag
from maintainer.domain.units import GIB
from maintainer.estimate.expire_snapshots import find_expired_refs
from maintainer.estimate.filters.filter_writer import write_where
from maintainer.measure.health import summarise

SAMPLE_BYTES: Final = GIB  # bytes that a sample's checksums may read in each of two snapshots
MAX_SAMPLE_PARTITIONS: Final = 8
MAX_DROPPED_TAGS: Final = 20  # before one job; each drop is a commit of metadata


def choose_safeguards(job: Job, wanted: Safeguards, health: TableHealth) -> Safeguards:
    """The safeguards of this job.

    Only rewrites have any. A sample of checksums is used only if one fits the limit.
    """
    if isinstance(job.action, RollBack) or not job.action.procedure.rewrites_content:
        return Safeguards()
    if wanted.checksum is not Checksum.SAMPLE:
        return wanted
    where = (
        job.action.where
        if isinstance(job.action, RewriteDataFiles | RewritePositionDeleteFiles)
        else None
    )
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
    """Keep what the proof needs of the inventory and its health."""
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
