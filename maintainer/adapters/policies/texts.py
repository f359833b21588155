"""Checks of texts in policy files and settings.

Each check returns the text, or refuses it with a sentence about the value. Values of other types
are left to the model.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import datetime
from string import Template
from zoneinfo import available_timezones

from croniter import croniter
from pydantic import BeforeValidator

from maintainer.adapters.policies.validation import refuse
from maintainer.domain.condition import MAX_CONDITION_CHARACTERS, check_condition
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.pool import MAX_POOL_NAME, is_pool_name

MAXIMUM_PATTERN_CHARACTERS = 500
MAXIMUM_CRON_CHARACTERS = 500  # a list of all minutes of an hour has 170
_CRON_FIELDS = 5


def check_text(value: object, limit: int) -> object:
    """Accept printable text that is not blank and within the limit in characters."""
    if isinstance(value, str):
        if not value.strip():
            refuse("is blank; write a value or leave it out")
        if len(value) > limit:
            refuse(f"has {len(value)} characters, over the limit of {limit}")
        if (
            any(character < " " and character not in "\t\n\r" for character in value)
            or "\x7f" in value
        ):
            refuse("holds a control character")
    return value


def check_cron(value: object) -> object:
    """Accept five fields of a cron expression that fires on some day."""
    if not isinstance(value, str):
        return value
    if len(value) > MAXIMUM_CRON_CHARACTERS:
        refuse(f"has {len(value)} characters, over the limit of {MAXIMUM_CRON_CHARACTERS}")
    # croniter also accepts seconds, names such as @daily, and Jenkins' hashed and random fields. A
    # window must be the same in every run.
    if (
        len(value.split()) != _CRON_FIELDS
        or any(letter in value.upper() for letter in ("R(", "H("))
        or {"R", "H"} & set(value.upper().replace("/", " ").split())
    ):
        refuse(
            f"is {value!r}, but must be a cron expression of {_CRON_FIELDS} fields: minute hour "
            f"day month weekday"
        )
    try:
        # This raises an error if the expression never fires.
        croniter(value, datetime(2024, 1, 1)).get_next()  # noqa: DTZ001
    except (ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
        refuse(f"is {value!r}, which is not a cron expression that ever fires ({error})")
    return value


def check_timezone(value: object) -> object:
    """Accept a name of the time-zone database."""
    if isinstance(value, str) and value not in available_timezones():
        refuse(f"is {value!r}, which is not a time zone; write one like Europe/Berlin or UTC")
    return value


def check_pattern(value: object) -> object:
    """Accept a table's full name, returned in its normal form, or a glob over full names."""
    if not isinstance(value, str):
        return value
    if not value.strip() or len(value) > MAXIMUM_PATTERN_CHARACTERS:
        refuse(f"has {len(value)} characters, but must have 1 to {MAXIMUM_PATTERN_CHARACTERS}")
    if not any(character in value for character in "*?["):
        try:
            return str(TableIdentifier.parse(value))
        except InvalidValueError as error:
            refuse(f"is not a table: {error}")
    if not value.isprintable() or " " in value:
        refuse(f"is {value!r}, but a glob must not hold blanks or control characters")
    if _has_open_bracket(value):
        refuse(f"is {value!r}, a glob with a [ that is never closed")
    return value


def _has_open_bracket(glob: str) -> bool:
    """Find an unclosed bracket as fnmatch does.

    A ] right after [ or [! belongs to the set; an unclosed [ would silently be a literal.
    """
    position = 0
    while (start := glob.find("[", position)) >= 0:
        first = start + 2 if glob.startswith("!", start + 1) else start + 1
        end = glob.find("]", first + 1)
        if end < 0:
            return True
        position = end + 1
    return False


def check_pool(value: object) -> object:
    """Accept the name of a pool, whether it is configured or not."""
    if isinstance(value, str) and not is_pool_name(value):
        refuse(
            f"is {value[:100]!r}, but a pool's name has at most {MAX_POOL_NAME} lower-case "
            f"letters, digits and inner dashes"
        )
    return value


def check_filter(value: object) -> object:
    """Accept a condition on the table's own columns with balanced brackets."""
    text = check_text(value, MAX_CONDITION_CHARACTERS)
    reason = check_condition(text) if isinstance(text, str) else None
    if reason is not None:
        refuse(reason)
    return text


def template_of(subject: str, known: AbstractSet[str]) -> BeforeValidator:
    """Refuse a text with a name that the ``subject`` does not fill in."""

    def check(value: object) -> object:
        unknown = find_unknown_names(value, known) if isinstance(value, str) else ()
        if unknown:
            names = ", ".join(f"${name}" for name in sorted(known))
            refuse(
                f"has ${unknown[0].lstrip('$')}, but a {subject} has only {names} (and $$ for a "
                f"dollar)"
            )
        return value

    return BeforeValidator(check)


def find_unknown_names(template: str, known: AbstractSet[str]) -> tuple[str, ...]:
    """List the names after a $ that are not known; ("$",) for a $ without a name."""
    text = Template(template)
    return tuple(sorted(set(text.get_identifiers()) - known)) if text.is_valid() else ("$",)
