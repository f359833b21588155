"""The state of a table right before a job, which its effect is compared with."""

from __future__ import annotations

from maintainer.decide.jobs.safeguards import find_lapsed_tags
from maintainer.decide.table_state import digest_state
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import TableInventory
from maintainer.domain.job import Baseline
from maintainer.measure.health import summarise


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
    )
