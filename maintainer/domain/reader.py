"""Whether manifests are read as fast as they can be."""

from __future__ import annotations

from enum import StrEnum


class ReaderFault(StrEnum):
    """Why every manifest is read by the slow reader, as after an upgrade of a library."""

    NO_DECODER = "no_decoder"
    DECODER_FAILS = "decoder_fails"
    DECODER_WRONG = "decoder_wrong"


class SlowRead(StrEnum):
    """Why one manifest or manifest list was read by the slow reader."""

    READER = "reader"  # the fast one does not work here at all, see ReaderFault
    SCHEMA = "schema"  # no fast reader can be made for its writer's schema
    CONTENTS = "contents"  # the fast reader stumbled over it, and the slow one did not
