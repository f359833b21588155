"""Whom to tell what, and how often at most."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.notifier import PLACEHOLDERS, find_unknown_placeholders
from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.domain.notice import NoticeKind


def _check_template(value: object) -> object:
    unknown = find_unknown_placeholders(value) if isinstance(value, str) else ()
    if unknown:
        known = ", ".join(f"${name}" for name in sorted(PLACEHOLDERS))
        refuse(f"has ${unknown[0].lstrip('$')}, but a notice has only {known} (and $$ for a dollar)")
    return value


def _read_kind(value: object) -> NoticeKind:
    if not isinstance(value, str) or value not in set(NoticeKind):
        refuse(f"has {value!r}, but the kinds are {', '.join(NoticeKind)}")
    return NoticeKind(value)


def _read_kinds(value: object) -> object:
    return tuple(_read_kind(kind) for kind in value) if isinstance(value, list) else value


def _read_templates(value: object) -> object:
    return {_read_kind(kind): words for kind, words in value.items()} if isinstance(value, dict) else value


_Template = Annotated[str, BeforeValidator(_check_template), Field(min_length=1, max_length=2000)]


class NoticeTemplate(Strict):
    """The words of one kind of notice; what is left out is said in ours."""

    title: _Template | None = None
    body: _Template | None = None


class NotificationSettings(Strict):
    """Targets are Apprise URLs by name; each hides its secrets. The same is told once in repeat_after, and max_per_hour notices in all."""

    targets: Annotated[dict[str, str], Field(repr=False, max_length=20)] = Field(default_factory=dict)
    kinds: Annotated[tuple[NoticeKind, ...], BeforeValidator(_read_kinds)] = tuple(NoticeKind)
    templates: Annotated[dict[NoticeKind, NoticeTemplate], BeforeValidator(_read_templates)] = Field(default_factory=dict)
    repeat_after: Annotated[timedelta, DurationBetween("1s")] = timedelta(hours=6)
    max_per_hour: Annotated[int, Field(ge=1, le=10_000)] = 60
