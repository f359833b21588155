"""Checks the operator's templates: each name after a $ must be one that is filled in."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from string import Template

from maintainer.adapters.policies.validation import refuse


def check_template(value: object, known: AbstractSet[str], subject: str) -> object:
    """Return the value; refuse a text with a name that the ``subject`` does not fill in."""
    unknown = find_unknown_names(value, known) if isinstance(value, str) else ()
    if unknown:
        names = ", ".join(f"${name}" for name in sorted(known))
        refuse(
            f"has ${unknown[0].lstrip('$')}, but a {subject} has only {names} (and $$ for a dollar)"
        )
    return value


def find_unknown_names(template: str, known: AbstractSet[str]) -> tuple[str, ...]:
    """List the names after a $ that are not known; ("$",) for a $ without a name."""
    text = Template(template)
    return tuple(sorted(set(text.get_identifiers()) - known)) if text.is_valid() else ("$",)
