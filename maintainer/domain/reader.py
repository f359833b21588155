"""Why manifests are not read by the fast reader."""

from __future__ import annotations

from enum import StrEnum


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
