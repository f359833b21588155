"""Names and values as Spark SQL, and the tokens of Spark's lexer in a condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from re import DOTALL, VERBOSE
from re import compile as compile_regex
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

# Outside quotes only ASCII is allowed, and no number directly before a letter: Spark's lexer would
# split such tokens differently.
_TOKEN: Final = compile_regex(
    r"""
      (?P<blank>[ \t\r\n]+)
    | (?P<comment>--|/\*|\*/)
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<name>`(?:[^`]|``)+`)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
        (?:[lLsSyYfFdD]|[bB][dD])?(?![A-Za-z0-9_]))
    | (?P<raw>[rR]['"])
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<sign>::|[.,=<>!+\-*/%~&|^])
    """,
    VERBOSE | DOTALL,
)


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


@dataclass(frozen=True, slots=True)
class Token:
    """A token of Spark's lexer."""

    kind: str
    text: str
    at: int  # position in characters, from 0

    @property
    def name(self) -> str:
        """The name that this token is, without backticks."""
        return self.text[1:-1].replace("``", "`") if self.kind == "name" else self.text


def read_tokens(text: str) -> Iterator[Token]:
    """All tokens except blanks."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        token = (
            Token(str(match.lastgroup), match[0], at)
            if match is not None
            else Token("unknown", text[at], at)
        )
        if token.kind != "blank":
            yield token
        at += len(token.text)
