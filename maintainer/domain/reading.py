"""Manifests that another engine reads: what there is to read, the job that reads it, what it
found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from maintainer.domain.action import Action
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content
from maintainer.domain.rollback import RollBack

# A date in days, a timestamp in microseconds since 1970, as manifests store them.
PartitionValue = bool | int | float | str | bytes | Decimal | None


@dataclass(frozen=True, slots=True)
class UnreadManifests:
    """What measuring a table would have to read now."""

    table: TableIdentifier
    table_uuid: str
    snapshot_id: int
    target_bytes: int  # the target file size that small and large are measured against
    manifests: int
    # live entries that the manifest list claims; a manifest of which it claims nothing counts as
    # one
    files: int
    is_partitioned: bool  # some spec of the table has a field
    has_deletes: bool  # so that data files are kept one by one


class Reading(StrEnum):
    """What a job may do for a measurement: no rule of a policy asks for it, and it leaves the table
    as it is.
    """

    DIGEST_MANIFESTS = "digest_manifests"


@dataclass(frozen=True, slots=True)
class DigestManifests:
    """Read all manifests of one snapshot; commits nothing."""

    snapshot_id: int
    target_bytes: int  # the target file size that small and large are judged by
    is_partitioned: bool  # some spec of the table has a field
    lists_files: bool  # files one by one, because deletes apply to some
    procedure: Literal[Reading.DIGEST_MANIFESTS] = Reading.DIGEST_MANIFESTS


JobAction = Action | DigestManifests | RollBack


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """One manifest's live files that agree in partition, content and format, in its order; deletion
    vectors by content size.
    """

    partition: Mapping[str, PartitionValue]  # by the names of the union of all the table's specs
    content: Content
    file_format: str
    first: int  # smaller than that of a group whose first file stands further back in the manifest
    sizes: tuple[int, ...]  # bytes
    record_count: int
    newest_sequence_number: int | None
    # One by one where the files are listed, else empty. The key is a CRC-32 of the file's path, or
    # of that of the one data file that a delete applies to.
    records: tuple[int, ...] = ()
    sequence_numbers: tuple[int | None, ...] = ()
    keys: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundManifest:
    """All that one manifest holds."""

    path: str
    spec_id: int
    entry_count: int  # deleted ones too
    types: Mapping[str, str]  # Iceberg's types of the partition's values: "date", "decimal(9,2)"
    files: tuple[FoundFiles, ...]
