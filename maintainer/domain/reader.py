"""Whether manifests are read as fast as they can be."""

from __future__ import annotations

from enum import StrEnum


class ReaderFault(StrEnum):
    """Why every manifest is read by the slow reader, as after an upgrade of a library."""

    NO_DECODER = "no_decoder"
    DECODER_FAILS = "decoder_fails"
    DECODER_WRONG = "decoder_wrong"
