"""Names and values as Spark SQL.

They come from strangers, so no character in them may have a meaning in SQL.
"""

from __future__ import annotations

from typing import Final

from maintainer.domain.errors import InvalidValueError

MAX_NAME_CHARACTERS: Final = 1_000  # of one level of a name
_LITERAL_ESCAPES: Final = {
    "\\": "\\\\",
    "'": "\\'",
    "$": "\\u0024",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\0": "\\u0000",
    "\x1a": "\\u001a",
}


def quote_identifier(level: str) -> str:
    """One level of a name in backticks.

    InvalidValueError when it is empty, too long or not valid Unicode.
    """
    if not level or len(level) > MAX_NAME_CHARACTERS:
        raise InvalidValueError(
            f"name {level[:40]!r} has {len(level)} characters; a level has 1 to "
            f"{MAX_NAME_CHARACTERS}"
        )
    _refuse_surrogates(level)
    return "`" + level.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """A SQL string literal for Spark with spark.sql.parser.escapedStringLiterals=false.

    The driver sets this option. A dollar sign is escaped too: Spark would substitute ``${...}``
    anywhere in a statement.
    """
    _refuse_surrogates(text)
    return "'" + "".join(_LITERAL_ESCAPES.get(character, character) for character in text) + "'"


def _refuse_surrogates(text: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidValueError(
            f"text {text[:40]!r} holds half of a surrogate pair, which UTF-8 cannot carry"
        )
