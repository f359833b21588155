"""The definition of one field of a rule: its default, the values that it accepts, its meaning."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, TypeVar

from maintainer.domain.condition import MAX_CONDITION_CHARACTERS, MAX_CONDITION_DEPTH
from maintainer.domain.units import write_duration, write_size

LARGEST_COUNT = 2**31 - 1  # Iceberg counts in a Java int
LONGEST = "36500d"

_Value = TypeVar("_Value")
_FIELD = "rule field"  # the key in a dataclass field's metadata


class Kind:
    """The values that a field accepts: their type, the bounds, and how a policy writes one."""

    type: ClassVar[type] = str

    def accepts(self, value: object) -> bool:
        """True for a value of the type; a truth value is no number."""
        return isinstance(value, self.type) and (self.type is bool) == isinstance(value, bool)

    def bounds(self) -> str:
        """The bounds as text; empty without any."""
        return ""

    def choices_text(self) -> str:
        """The few values that are accepted, as text; empty where they are not a few."""
        return ""

    # The value has the kind's own type.
    def write(self, value: Any) -> str:  # noqa: ANN401
        """The value as in a policy file, not rounded, so that equal texts are equal values."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """True or false."""

    type = bool

    def choices_text(self) -> str:
        """``true or false``."""
        return "true or false"

    def write(self, value: Any) -> str:  # noqa: ANN401
        """``true`` or ``false``."""
        return str(value).lower()


@dataclass(frozen=True, slots=True)
class Duration(Kind):
    """A duration within bounds; a floor is a bound that safety needs, and "off" is zero."""

    least: str
    greatest: str = LONGEST
    is_floor: bool = False
    has_off: bool = False

    type = timedelta

    def bounds(self) -> str:
        """``floor 24h``, ``at least 1m``, ``1m to 7d``, or ``1h to 365d, or off``."""
        least = f"floor {self.least}" if self.is_floor else f"at least {self.least}"
        span = least if self.greatest == LONGEST else f"{self.least} to {self.greatest}"
        return f"{span}, or off" if self.has_off else span

    def write(self, value: Any) -> str:  # noqa: ANN401
        """``1d12h``, or ``off``."""
        return "off" if self.has_off and not value else write_duration(value.total_seconds())


@dataclass(frozen=True, slots=True)
class Size(Kind):
    """A number of bytes within bounds."""

    least: str
    greatest: str

    type = int

    def bounds(self) -> str:
        """``1MiB to 10GiB``."""
        return f"{self.least} to {self.greatest}"

    def write(self, value: Any) -> str:  # noqa: ANN401
        """``32MiB``."""
        return write_size(value)


@dataclass(frozen=True, slots=True)
class Count(Kind):
    """A whole number from a floor that safety needs."""

    floor: int

    type = int

    def bounds(self) -> str:
        """``floor 2``."""
        return f"floor {self.floor}"


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    """One of a few texts."""

    choices: tuple[str, ...]

    def choices_text(self) -> str:
        """``binpack or sort``."""
        return " or ".join(self.choices)


@dataclass(frozen=True, slots=True)
class Member(Kind):
    """A member of an enumeration."""

    enumeration: type[StrEnum]

    def choices_text(self) -> str:
        """``keep or delete``."""
        return " or ".join(self.enumeration)

    def accepts(self, value: object) -> bool:
        """True for a member."""
        return isinstance(value, self.enumeration)


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """A printable text."""

    characters: int

    def bounds(self) -> str:
        """``at most 500 characters``."""
        return f"at most {self.characters} characters"


@dataclass(frozen=True, slots=True)
class Condition(Kind):
    """A Spark SQL condition on the table's own columns."""

    def bounds(self) -> str:
        """``at most 10000 characters, brackets 50 deep``."""
        return f"at most {MAX_CONDITION_CHARACTERS} characters, brackets {MAX_CONDITION_DEPTH} deep"


@dataclass(frozen=True, slots=True)
class Names(Kind):
    """A list of names, or one of them."""

    most: int

    type = tuple

    def bounds(self) -> str:
        """``1 to 1000``."""
        return f"1 to {self.most}"

    def write(self, value: Any) -> str:  # noqa: ANN401
        """``id, name``."""
        return ", ".join(value)


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
    unset: str = ""  # what a field without a value means
    files_only: FilesOnly | None = None
    key: str = ""  # in a policy file
    name: str = ""  # of the attribute

    @property
    def default_text(self) -> str:
        """The default as in a policy file, or what an unset field means; empty without either."""
        return self.unset or ("" if self.default is None else self.kind.write(self.default))

    def describe(self, limits: str | None = None) -> str:
        """The meaning in sentences, with these limits; None: the bounds and the default."""
        default = f"default {self.default_text}" if self.default_text else ""
        if limits is None:
            limits = ", ".join(part for part in (self.kind.bounds(), default) if part)
        sentence = f"{self.meaning}; {limits}." if limits else f"{self.meaning}."
        if self.files_only is not None:
            sentence += f" A table property cannot say {self.files_only.value}."
        return sentence


# One argument for each part of a definition.
def rule_field(  # noqa: PLR0913
    default: _Value,
    kind: Kind,
    meaning: str,
    *,
    unset: str = "",
    files_only: FilesOnly | None = None,
    key: str = "",
) -> _Value:
    """Define a field of a rule, under its attribute's name or another key in a policy file.

    All else about the field is derived from this: reading, merging, writing, schema and reference.
    """
    defined = RuleField(default, kind, meaning, unset, files_only, key)
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
        "A job that takes longer is ended and counts as failed; what it has committed stays",
    )
