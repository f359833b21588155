"""Table names, globs that select tables, and tables with several names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fnmatch import translate
from functools import lru_cache
from re import Pattern, sub
from re import compile as compile_regex
from re import split as split_text

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.units import format_count

_CHARACTERS = r"\[!?\]?[^\]]*\]"  # one of several characters, in a glob


def _write_level(level: str) -> str:
    """One level as text, in backticks if it contains a dot, a backtick or a blank."""
    plain = (
        level and not any(character in level for character in ".`/ \t\n\r") and level.isprintable()
    )
    return level if plain else "`" + level.replace("`", "``") + "`"


def split_levels(text: str) -> tuple[str, ...]:
    """Split ``a.`b.c`.d`` into levels; InvalidValueError for an empty level or an open backtick."""
    levels: list[str] = []
    position = 0
    while True:
        level, position = _read_level(text, position)
        levels.append(level)
        if position == len(text):
            return tuple(levels)
        position += 1


def _read_level(text: str, start: int) -> tuple[str, int]:
    if not text.startswith("`", start):
        end = text.find(".", start)
        end = len(text) if end < 0 else end
        if end == start:
            raise InvalidValueError(
                f"name {text!r} has an empty level at position {start}; write it as "
                f"catalog.namespace.table"
            )
        return text[start:end], end
    level: list[str] = []
    position = start + 1
    while position < len(text):
        if text[position] != "`":
            level.append(text[position])
            position += 1
        elif text.startswith("``", position):
            level.append("`")
            position += 2
        else:
            break
    else:
        raise InvalidValueError(
            f"name {text!r} has a backtick at position {start} that is never closed"
        )
    position += 1
    if not level or (position < len(text) and text[position] != "."):
        raise InvalidValueError(f"name {text!r} has a malformed quoted level at position {start}")
    return "".join(level), position


@dataclass(frozen=True, slots=True, order=True)
class TableIdentifier:
    """A table's full name. It is never called a ref: in Iceberg a ref is a branch or a tag."""

    catalog: str
    namespace: tuple[str, ...]
    name: str

    def __str__(self) -> str:
        """Return ``catalog.namespace.table``, the inverse of parse().

        Levels that contain a dot are in backticks.
        """
        return ".".join(_write_level(level) for level in (self.catalog, *self.namespace, self.name))

    @property
    def namespace_text(self) -> str:
        """The namespace's levels joined by dots, quoted like the whole name: ``a.b``."""
        return ".".join(_write_level(level) for level in self.namespace)

    @classmethod
    def parse(cls, text: str) -> TableIdentifier:
        """Read ``catalog.namespace.table``; InvalidValueError for fewer than three levels."""
        levels = split_levels(text)
        if len(levels) < 3:  # noqa: PLR2004 - catalog, at least one namespace level, table
            raise InvalidValueError(
                f"table {text!r} has {format_count(len(levels), 'level')}; write it as "
                f"catalog.namespace.table"
            )
        return cls(levels[0], levels[1:-1], levels[-1])


@lru_cache(maxsize=4096)
def _compile_glob(pattern: str) -> Pattern[str]:
    return compile_regex(translate(pattern))


@dataclass(frozen=True, slots=True, order=True)
class TablePattern:
    """A table name, or a glob over full names: ``*`` also crosses levels, case counts."""

    text: str

    @property
    def is_exact(self) -> bool:
        """True when the pattern has no wildcard."""
        return not any(character in self.text for character in "*?[")

    @property
    def prefix(self) -> str:
        """What each name that the pattern selects begins with: all before the first wildcard."""
        return split_text(r"[*?[]", self.text, maxsplit=1)[0]

    @property
    def specificity(self) -> tuple[int, int, int]:
        """Sort key from general to specific: literal levels, then characters; exact is last."""
        literal_levels = sum(not any(c in level for c in "*?[") for level in self.text.split("."))
        literal_characters = sum(character not in "*?[]" for character in self.text)
        return (int(self.is_exact), literal_levels, literal_characters)

    def matches(self, table: TableIdentifier) -> bool:
        """True when the pattern selects this table."""
        return self.matches_name(str(table))

    def matches_name(self, name: str) -> bool:
        """True when the pattern selects the table with this full name."""
        return (
            self.text == name if self.is_exact else _compile_glob(self.text).match(name) is not None
        )

    def contains(self, other: TablePattern) -> bool:
        """True when every name that the other selects is selected by this one.

        The only wildcard of this one may be ``*``: what it spans in the other's text, it also
        spans in each name that the text stands for.
        """
        return self.matches_name(sub(_CHARACTERS, "?", other.text))


@dataclass(frozen=True, slots=True)
class Registration:
    """Another name of a table, as last seen."""

    table: TableIdentifier
    is_owner: bool  # True if a policy says so
    # commit time of the snapshot under this name; None: no snapshot, or never measured
    newest_snapshot_at: datetime | None = None
