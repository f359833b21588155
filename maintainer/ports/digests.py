"""What the store remembers of manifests, so that each is read once in its life."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from maintainer.domain.inventory import ManifestDigest


class DigestStore(Protocol):
    """The part of the store that keeps digests, by table UUID. Nothing that is shown rests on them
    before the table is measured.
    """

    def digests(
        self, table_uuid: str, paths: Iterable[str], target_bytes: int
    ) -> Mapping[str, ManifestDigest]:
        """Known digests by manifest path, of those made under this target file size."""
        ...

    def record_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]
    ) -> None:
        """Keep exactly these for the table: new ones are added, those not named (or of another
        target) are dropped. With no entries read it is a known one.
        """
        ...

    def add_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest], at: datetime
    ) -> None:
        """Keep these beside what is known of the table, in the place of older ones of the same
        manifests: a portion of a table, which need not be known yet.
        """
        ...

    def prune_digests(self, before: datetime) -> int:
        """Drop what was added for tables that were never measured, and to which nothing was added
        since; how many digests went.
        """
        ...
