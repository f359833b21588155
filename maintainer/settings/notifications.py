"""Settings of notices: kinds, targets and limits."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.notifier import PLACEHOLDERS
from maintainer.adapters.policies.texts import template_of
from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.domain.notice import NoticeKind


def _read_kind(value: object) -> NoticeKind:
    if not isinstance(value, str) or value not in set(NoticeKind):
        refuse(f"has {value!r}, but the kinds are {', '.join(NoticeKind)}")
    return NoticeKind(value)


def _read_kinds(value: object) -> object:
    return tuple(_read_kind(kind) for kind in value) if isinstance(value, list) else value


def _read_templates(value: object) -> object:
    return (
        {_read_kind(kind): words for kind, words in value.items()}
        if isinstance(value, dict)
        else value
    )


_Template = Annotated[
    str, template_of("notice", PLACEHOLDERS), Field(min_length=1, max_length=2000)
]


class NoticeTemplate(Strict):
    """Your text for one kind of notice; the built-in text replaces a missing part."""

    title: _Template | None = Field(default=None, description="The first line of the notice.")
    body: _Template | None = Field(default=None, description="The text of the notice.")


class NotificationSettings(Strict):
    """Which notices are sent to which targets, and how many."""

    targets: Annotated[
        dict[str, str],
        Field(
            repr=False,
            max_length=20,
            description="Apprise URLs by name. They contain secrets: take them from the "
            "environment.",
        ),
    ] = Field(default_factory=dict)
    schemes: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,31}$")], ...] = Field(
        default=(),
        strict=False,
        max_length=100,
        description="The only schemes that targets may have, such as `slack` and `jsons`. "
        "Default: all but those that act on the daemon's own machine.",
    )
    hosts: tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] = Field(
        default=(),
        strict=False,
        max_length=100,
        description="The only hosts that targets may name, also as globs like `*.example`. "
        "Default: all. Link-local addresses are always refused.",
    )
    kinds: Annotated[tuple[NoticeKind, ...], BeforeValidator(_read_kinds)] = Field(
        default=tuple(NoticeKind), description="The kinds of notices that are sent."
    )
    templates: Annotated[
        dict[NoticeKind, NoticeTemplate],
        BeforeValidator(_read_templates),
        Field(
            description="Your own text for a kind of notice, with `$kind`, `$subject`, "
            "`$sentence`, `$at`, `$job`, `$held_back`."
        ),
    ] = Field(default_factory=dict)
    repeat_after: Annotated[timedelta, DurationBetween("1s")] = Field(
        default=timedelta(hours=6),
        description="A notice of one kind about one table is sent once in this time.",
    )
    max_per_hour: int = Field(
        default=60,
        ge=1,
        le=10_000,
        description="The most notices in an hour; the next one says how many were held back.",
    )
