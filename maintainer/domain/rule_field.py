"""The definition of one field of a rule: its default, the values that it accepts, its meaning."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, TypeVar, assert_never

from maintainer.domain.condition import MAX_CONDITION_CHARACTERS, MAX_CONDITION_DEPTH
from maintainer.domain.units import write_duration, write_size

LARGEST_COUNT = 2**31 - 1  # Iceberg reads counts into a Java int
LONGEST = "36500d"

_Value = TypeVar("_Value")
_FIELD = "rule field"  # the key in a dataclass field's metadata


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    type: ClassVar[type] = bool


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration within bounds; a floor is a bound that safety needs, and "off" is zero."""

    least: str
    greatest: str = LONGEST
    is_floor: bool = False
    has_off: bool = False
    type: ClassVar[type] = timedelta


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes within bounds."""

    least: str
    greatest: str
    type: ClassVar[type] = int


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number from a floor that safety needs."""

    floor: int
    type: ClassVar[type] = int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few texts."""

    choices: tuple[str, ...]
    type: ClassVar[type] = str


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration."""

    type: type[StrEnum]


@dataclass(frozen=True, slots=True)
class Text:
    """A printable text."""

    characters: int
    type: ClassVar[type] = str


@dataclass(frozen=True, slots=True)
class Condition:
    """A Spark SQL condition on the table's own columns."""

    type: ClassVar[type] = str


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names, or one of them."""

    most: int
    type: ClassVar[type] = tuple


Kind = Flag | Duration | Size | Count | Choice | Member | Text | Condition | Names


def _write_bounds(kind: Kind) -> str:
    match kind:
        case Duration():
            least = f"floor {kind.least}" if kind.is_floor else f"at least {kind.least}"
            span = least if kind.greatest == LONGEST else f"{kind.least} to {kind.greatest}"
            return f"{span}, or off" if kind.has_off else span
        case Size():
            return f"{kind.least} to {kind.greatest}"
        case Count():
            return f"floor {kind.floor}"
        case Text():
            return f"at most {kind.characters} characters"
        case Condition():
            brackets = f"brackets {MAX_CONDITION_DEPTH} deep"
            return f"at most {MAX_CONDITION_CHARACTERS} characters, {brackets}"
        case Names():
            return f"1 to {kind.most}"
        case Flag() | Choice() | Member():
            return ""
        case _:
            assert_never(kind)


class Direction(StrEnum):
    """The direction in which a table's own property may move the operator's value."""

    EITHER = "either"
    UP = "up"  # a smaller value deletes more
    OFF = "off"


@dataclass(frozen=True, slots=True)
class FilesOnly:
    """A value that a file may set, but no table property: all who write a table can set those."""

    value: object
    reason: str


@dataclass(frozen=True, slots=True)
class RuleField:
    """One field of a rule."""

    default: object
    kind: Kind
    meaning: str
    unset: str = ""  # the meaning of a field without a value
    files_only: FilesOnly | None = None
    direction: Direction = Direction.EITHER
    key: str = ""  # in a policy file
    name: str = ""  # of the attribute

    @property
    def bounds(self) -> str:
        """The bounds of the value as text; empty without any."""
        return _write_bounds(self.kind)

    @property
    def default_text(self) -> str:
        """The default as in a policy file, or what an unset field means."""
        return self.unset or self.write(self.default)

    def accepts(self, value: object) -> bool:
        """True for a value of the field's type; a truth value is no number."""
        is_flag = isinstance(value, bool)
        return isinstance(value, self.kind.type) and (self.kind.type is bool) == is_flag

    # Call this only with a value that the field accepts.
    def write(self, value: Any) -> str:  # noqa: ANN401
        """The value as in a policy file, not rounded, so that equal texts are equal values."""
        match self.kind:
            case Flag():
                return str(value).lower()
            case Duration():
                is_off = self.kind.has_off and not value
                return "off" if is_off else write_duration(value.total_seconds())
            case Size():
                return write_size(value)
            case Names():
                return ", ".join(value)
            case Count() | Choice() | Member() | Text() | Condition():
                return str(value)
            case _:
                assert_never(self.kind)

    def describe(self) -> str:
        """The meaning with its bounds and its default, in sentences."""
        limits = ", ".join(part for part in (self.bounds, f"default {self.default_text}") if part)
        return f"{self.meaning}; {limits}.{self.restriction}"

    @property
    def restriction(self) -> str:
        """What a table property cannot set, as a sentence after the meaning; else empty."""
        if self.files_only is not None:
            return f" A table property cannot set {self.files_only.value}."
        match self.direction:
            case Direction.EITHER:
                return ""
            case Direction.UP:
                return " A table property can only raise it."
            case Direction.OFF:
                return " A table property can only switch it off."
            case _:  # pragma: no cover
                assert_never(self.direction)


# There is an argument for each part of a definition.
def rule_field(  # noqa: PLR0913
    default: _Value,
    kind: Kind,
    meaning: str,
    *,
    unset: str = "",
    files_only: FilesOnly | None = None,
    direction: Direction = Direction.EITHER,
    key: str = "",
) -> _Value:
    """Define a field of a rule, under its attribute's name or another key in a policy file.

    All else about the field is derived from this: reading, merging, writing, schema and reference.
    """
    defined = RuleField(default, kind, meaning, unset, files_only, direction, key)
    value: _Value = field(default=default, metadata={_FIELD: defined})
    return value


def fields_of(rule: type) -> tuple[RuleField, ...]:
    """The fields of a rule's type, the inherited ones first."""
    return _read_fields(rule)


@cache
def _read_fields(rule: type) -> tuple[RuleField, ...]:
    found = [(part.name, part.metadata.get(_FIELD)) for part in fields(rule)]
    return tuple(
        replace(defined, name=name, key=defined.key or name)
        for name, defined in found
        if isinstance(defined, RuleField)
    )


def timeout_field(hours: int) -> timedelta:
    """Define a rule's timeout.

    It is generous: a job that is ended loses all work that is not committed. Procedures that only
    write metadata end soon.
    """
    return rule_field(
        timedelta(hours=hours),
        Duration("1m", "7d"),
        "A job that takes longer is ended and counts as failed; its commits stay",
    )
