"""Reading catalogs: what tables there are and what their metadata says. Observing only: nothing
here changes a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.domain.canary import CanaryReading
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    ManifestDigest,
    Snapshot,
    TableFault,
    TableInventory,
)
from maintainer.domain.location import Place
from maintainer.domain.orphan import FoundFile, StoredFile

# (table, its properties) -> the target file size in bytes that "small" and "large" are measured
# against
TargetOf = Callable[[TableIdentifier, Mapping[str, str]], int]
# (table uuid, manifest paths, target in bytes) -> the digests that are already known under that
# target
KnownDigests = Callable[[str, Iterable[str], int], Mapping[str, ManifestDigest]]
# (table uuid, target in bytes, digests that were read now): a portion of a table that takes
# several, so that a reading that ends early was not in vain
KeepDigests = Callable[[str, int, Sequence[ManifestDigest]], None]


@dataclass(frozen=True, slots=True)
class Polled:
    """One table that the catalog has; the token is opaque and stands for the table's state, "" when
    it stands for none.
    """

    table: TableIdentifier
    token: str
    is_changed: bool
    metadata_location: str = (
        ""  # of a table that was asked about; "" where the answer does not have it
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one table's inventory, and how long the catalog took for it; an exception is a
    mistake of ours that this table brought out.
    """

    table: TableIdentifier
    outcome: TableInventory | TableFault | Exception
    seconds: float = 0.0


class Catalog(Protocol):
    """One configured catalog."""

    @property
    def name(self) -> str:
        """The name under which it stands in the configuration, and in every table's identifier."""
        ...

    def tables(self) -> Iterator[TableIdentifier | CatalogFault]:
        """Every table of every namespace, nested ones too; a namespace that cannot be listed yields
        its fault.
        """
        ...

    def poll(
        self,
        known: Mapping[TableIdentifier, str],
        should_stop: Callable[[], bool] = ...,
        within: timedelta | None = None,
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        """Every table as tables() has them, and whether it changed since its known token; a table
        that is not in `known` counts as changed.

        A token is never younger than what an inventory taken afterwards reads. A table that would
        not answer yields its fault. What is told of a table is no older than `within`; without it,
        a table that has long been idle may not be asked. It ends early, whatever it is waiting for,
        as soon as should_stop says so.
        """
        ...

    def foreign_places(
        self, paths: Sequence[str], within: timedelta
    ) -> Iterator[Place | CatalogFault]:
        """Places of the catalog's tables that are none of Iceberg's, as far as they are the same
        as, in or around one of these (as normalise_path writes them).

        None of a catalog that knows Iceberg's tables alone. What is told is no older than `within`;
        a namespace that cannot be listed yields its fault.
        """
        ...

    def inventory(
        self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        """The table's metadata now. Never raises for what is wrong with a table: that is a
        TableFault, or an `unreadable`.
        """
        ...

    def inventories(
        self,
        tables: Iterable[TableIdentifier],
        target_of: TargetOf,
        known: KnownDigests,
        should_stop: Callable[[], bool] = ...,
        keep: KeepDigests | None = None,
    ) -> Iterator[Taken]:
        """An inventory of each table, several taken side by side, the first to be ready first; the
        tables are asked for one by one, as there is room.

        What is read of a table goes to `keep` portion by portion; a table that is read at one go
        has none. `target_of`, `known` and `keep` are called by other threads. It ends early,
        whatever it is waiting for, as soon as should_stop says so.
        """
        ...

    def snapshots(self, table: TableIdentifier) -> tuple[Snapshot, ...] | TableFault:
        """The table's snapshots now, oldest first, without reading any manifest."""
        ...

    def count_rows(self, table: TableIdentifier, snapshot_id: int, limit_bytes: int) -> int | None:
        """Live rows at a snapshot, deletes applied; None when that needs reading more than
        limit_bytes, or cannot be done.
        """
        ...

    def file_bytes(self, table: TableIdentifier, path: str) -> int | None:
        """How long a file of the table is, bytes; None when it is not there or cannot be looked
        at.
        """
        ...

    def look_at_files(
        self, table: TableIdentifier, paths: Sequence[str]
    ) -> Sequence[StoredFile | None]:
        """What the storage says of each file, several asked for at once; None for what is not there
        or cannot be looked at.
        """
        ...

    def list_files(
        self, table: TableIdentifier, location: str
    ) -> Iterator[Sequence[FoundFile]] | None:
        """Every file under a location of the table's that is not empty, in portions, written as the
        location is; the storage's own exceptions on the way.

        None when only Spark can list there.
        """
        ...

    def read_canary(
        self, table: TableIdentifier, snapshot_ids: Sequence[int]
    ) -> CanaryReading | None:
        """A bounded look at files that these snapshots added, each held against its manifest; None
        when the table cannot be looked at.
        """
        ...

    def ping(self) -> str:
        """One sentence on what answers there; CatalogUnavailableError when nothing does."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
