"""What people hold: tags and pins, and the snapshots that must be there as long as they do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Ref, Snapshot
from maintainer.domain.pin import Pin
from maintainer.estimate.retained_snapshots import PIN_TAG
from tests.steps.world import World


@dataclass(frozen=True, slots=True)
class Hold:
    """The snapshots of a table that somebody needs."""

    table: TableIdentifier
    snapshot_ids: frozenset[int]
    until: datetime | None = None  # None: until it is let go


@dataclass(slots=True)
class Holds:
    """A model of what is held; a hold that comes when expiry is at work on the table is no promise,
    and not kept here.
    """

    world: World
    held: dict[str, Hold] = field(default_factory=dict)  # by the name of the tag or pin
    made: int = 0

    def tag(
        self, table: TableIdentifier, snapshot: Snapshot, *, is_pin: bool, is_late: bool
    ) -> None:
        """A tag keeps its snapshot at all times; one that is a pin by its name keeps what
        is newer too, unless it comes too late for that.
        """
        self.made += 1
        name = f"{PIN_TAG if is_pin else 'tag-'}{self.made}"
        entry = self.world.look(table)
        refs = (*entry.refs, Ref(name, snapshot.snapshot_id, is_branch=False))
        self.world.replace(
            replace(entry, refs=refs, metadata_location=f"{entry.metadata_location}t")
        )
        newer = (
            self._from(table, snapshot)
            if is_pin and not is_late
            else frozenset({snapshot.snapshot_id})
        )
        self.held[name] = Hold(table, newer)

    def pin(
        self,
        table: TableIdentifier,
        snapshot: Snapshot,
        valid_for: timedelta | None,
        *,
        is_late: bool,
    ) -> None:
        """A pin in the store keeps its snapshot and what is newer."""
        self.made += 1
        name, now = f"pin-{self.made}", self.world.clock.now()
        until = now + valid_for if valid_for is not None else None
        self.world.store.set_pin(
            self.world.look(table).table_uuid, Pin(name, snapshot.snapshot_id, "ada", now, until)
        )
        if not is_late:
            self.held[name] = Hold(table, self._from(table, snapshot), until)

    def release(self, name: str) -> None:
        """The tag is dropped, or the pin taken away."""
        table = self.held.pop(name).table
        entry = self.world.look(table)
        if not self.world.store.remove_pin(entry.table_uuid, name):
            refs = tuple(ref for ref in entry.refs if ref.name != name)
            self.world.replace(
                replace(entry, refs=refs, metadata_location=f"{entry.metadata_location}r")
            )

    def end_overdue(self, now: datetime) -> None:
        """Forget what is held no more; a hold that is over does not come back when a clock
        goes back.
        """
        self.held = {
            name: hold for name, hold in self.held.items() if hold.until is None or now < hold.until
        }

    def find_missing(self) -> dict[str, frozenset[int]]:
        """Snapshots that are held and not there, by what holds them."""
        there = {
            hold.table: {snapshot.snapshot_id for snapshot in self.world.look(hold.table).snapshots}
            for hold in self.held.values()
        }
        return {
            name: hold.snapshot_ids - there[hold.table]
            for name, hold in self.held.items()
            if hold.snapshot_ids - there[hold.table]
        }

    def _from(self, table: TableIdentifier, snapshot: Snapshot) -> frozenset[int]:
        return frozenset(
            one.snapshot_id
            for one in self.world.look(table).snapshots
            if one.committed_at >= snapshot.committed_at
        )
