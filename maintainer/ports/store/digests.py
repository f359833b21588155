"""The store's digests of manifests, so that each manifest is read once only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from maintainer.domain.inventory import ManifestDigest


class DigestStore(Protocol):
    """The part of the store that keeps digests, by table UUID.

    No health rests on a digest before the table is measured.
    """

    def digests(
        self, table_uuid: str, paths: Iterable[str], target_bytes: int
    ) -> Mapping[str, ManifestDigest]:
        """The known digests made under this target file size, by manifest path."""

    def record_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]
    ) -> None:
        """Keep exactly these digests for the table.

        New ones are added; others, also those of another target, are deleted. A digest
        without entries read is one that is known already.
        """

    def add_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest], at: datetime
    ) -> None:
        """Add digests for one portion of a table; they replace older ones of the same manifests.

        The table need not be known yet.
        """

    def prune_digests(self, before: datetime) -> int:
        """Delete digests of tables that were never measured, if none was added since.

        Returns how many digests were deleted.
        """
