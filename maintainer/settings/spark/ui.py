"""The setting of Spark's page: the address of a history server or of a driver's own page."""

from __future__ import annotations

from re import compile as compile_regex
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.validation import refuse
from maintainer.domain.job_driver import UI_PLACEHOLDERS
from maintainer.domain.redaction import redact_url

_ADDRESS = compile_regex(r"https?://[^/?#@\s\x00-\x1f\"<>]+(?:[/?#][^\s\x00-\x1f\"<>]*)?")
_PLACEHOLDER = compile_regex(r"\{([^{}]*)\}")
_MAX_CHARACTERS = 1000


def _check_template(value: object) -> object:
    if not isinstance(value, str) or not value:
        return value
    shown = redact_url(value)[:200]
    if len(value) > _MAX_CHARACTERS:
        refuse(f"has {len(value):,} characters, but may have at most {_MAX_CHARACTERS:,}")
    known = ", ".join(f"{{{name}}}" for name in UI_PLACEHOLDERS)
    unknown = [name for name in _PLACEHOLDER.findall(value) if name not in UI_PLACEHOLDERS]
    if unknown:
        refuse(f"has the placeholder {{{unknown[0][:50]}}}, but may have only {known}")
    if any(brace in _PLACEHOLDER.sub("", value) for brace in "{}"):
        refuse(f"is {shown!r}, but braces may only enclose one of {known}")
    if _ADDRESS.fullmatch(value) is None:
        refuse(
            f"is {shown!r}, but must be an address with http:// or https:// and without a user, "
            f"such as https://history.example/history/{{application_id}}"
        )
    return value


UiUrl: TypeAlias = Annotated[
    str,
    BeforeValidator(_check_template),
    Field(
        description="The address of Spark's page for an application, such as that of a history "
        "server, for links on the page of a job. Placeholders: `{application_id}`, `{driver}`, "
        "`{host}` and `{pod}`. Default: no links.",
        examples=["https://history.example/history/{application_id}"],
    ),
]
