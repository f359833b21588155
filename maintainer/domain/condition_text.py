"""What a text literal means for Spark with spark.sql.parser.escapedStringLiterals=false."""

from __future__ import annotations

from re import DOTALL, Match
from re import compile as compile_regex
from typing import Final

_ESCAPE: Final = compile_regex(
    r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))", DOTALL
)
_LETTERS: Final = {
    "0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_",
}  # fmt: skip
_LAST_CODE_POINT: Final = 0x10FFFF


def read_text(literal: str) -> str:
    """The text of a literal with its quotes; it may hold surrogates."""
    return _ESCAPE.sub(_unescape, literal[1:-1])


def _unescape(found: Match[str]) -> str:
    short, long, octal, letter = found.groups()
    if short is not None or long is not None:
        code = int(short or long, 16)
        return chr(code) if code <= _LAST_CODE_POINT else "\ud800"
    return chr(int(octal, 8)) if octal is not None else _LETTERS.get(letter, letter)
