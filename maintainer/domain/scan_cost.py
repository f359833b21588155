"""The work and the cost of one scan of a catalog, and why manifests are read slowly."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

MAX_SCAN_COSTS: Final = 10  # for each catalog; the newest costs are kept


@dataclass(frozen=True, slots=True)
class ScanCost:
    """The cost of one scan of one catalog."""

    catalog: str
    started_at: datetime
    seconds: float
    measured: int  # tables that were read
    unchanged: int  # tables that were polled and not read
    faults: int  # tables and namespaces that could not be read
    manifests_read: int
    manifests_reused: int  # known from earlier scans
    bytes_read: int  # of manifests
    is_complete: bool  # False: the scan was stopped, or left changed tables for the next scan


class ReaderFault(StrEnum):
    """Why all manifests are read by the slow reader, for example after an upgrade of a library."""

    NO_DECODER = "no_decoder"
    DECODER_FAILS = "decoder_fails"
    DECODER_WRONG = "decoder_wrong"


class SlowRead(StrEnum):
    """Why one manifest or manifest list was read by the slow reader."""

    READER = "reader"  # the fast reader does not work at all, see ReaderFault
    SCHEMA = "schema"  # the fast reader does not support the writer's schema
    CONTENTS = "contents"  # the fast reader failed, and the slow reader did not
