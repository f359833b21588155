"""Settings of what the daemon reports: metrics, log, traces, lineage, webhooks and notices."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from maintainer.adapters.notifier import PLACEHOLDERS as PLACEHOLDERS_OF_NOTICES
from maintainer.adapters.policies.texts import template_of
from maintainer.adapters.policies.validation import DurationBetween, SizeBetween, Strict, refuse
from maintainer.adapters.telemetry.webhooks import PLACEHOLDERS
from maintainer.domain.location import is_link_local
from maintainer.domain.notice import NoticeKind
from maintainer.domain.units import MIB

_Secret = Annotated[str, Field(min_length=1, max_length=10_000)]
_Headers = Annotated[
    dict[str, _Secret],
    Field(
        repr=False,
        max_length=20,
        description="Headers of each request. They contain secrets: take them from the "
        "environment.",
    ),
]
_Template = Annotated[
    str, template_of("notice", PLACEHOLDERS_OF_NOTICES), Field(min_length=1, max_length=2000)
]


def _split(value: object) -> object:
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(str(part).strip() for part in parts) if isinstance(parts, list) else parts


class MetricsSettings(Strict):
    """Which tables and namespaces have their own gauges, and the bound of an alert.

    In a fleet of more than max_tables tables these are the tables that `tables` names, then the
    degraded and critical ones, the worst first. All others count in the gauges of their namespace,
    their catalog and the fleet.
    """

    max_tables: int = Field(
        default=1000, ge=0, le=10_000, description="The most tables with their own gauges."
    )
    tables: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...], BeforeValidator(_split)
    ] = Field(
        default=(),
        max_length=100,
        description="Tables that always have their own gauges: names, or globs with * and "
        "?; case does not count. In a variable they are separated by commas.",
        examples=["lake.sales.*"],
    )
    max_namespaces: int = Field(
        default=500,
        ge=1,
        le=1000,
        description="The most namespaces with gauges, the first by name.",
    )
    average_file_size_bound: Annotated[int, SizeBetween("1B", "1TiB")] = Field(
        default=32 * MIB,
        description="An alert fires while the fleet's average file size is below this.",
    )


class LogSettings(Strict):
    """The daemon's log on standard error: one line for each event."""

    format: Literal["text", "json"] = Field(
        default="text",
        description="`text` for people, `json` for programs: an object on each line.",
    )
    level: Literal["debug", "info", "warning"] = Field(
        default="info",
        description="The lowest level of the daemon's own events that is logged. Libraries log "
        "warnings and errors.",
    )


def _check_receiver(value: object) -> object:
    if not isinstance(value, str):
        return value
    # urlsplit takes line breaks out, and the client would send what is left of the address.
    if any(letter.isspace() or not letter.isprintable() for letter in value):
        refuse("contains a blank, a line break or another control character")
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        refuse("must be an address like https://name.example without a user in it")
    if is_link_local(parts.hostname):
        refuse(f"has the host {parts.hostname}, a link-local address, which is never used")
    return value


Receiver = Annotated[str, BeforeValidator(_check_receiver), Field(max_length=1000)]


class TracingSettings(Strict):
    """Traces of jobs and steps, sent to an OpenTelemetry collector over OTLP/HTTP.

    Needs the extra `opentelemetry`. The library's own environment variables, `OTEL_...`, apply too.
    """

    endpoint: Receiver = Field(
        description="The full address, such as `http://collector:4318/v1/traces`."
    )
    headers: _Headers = Field(default_factory=dict)


class WebhookSettings(Strict):
    """A request to another service after each job that changed a table."""

    url: Receiver = Field(repr=False, description="The full address, to which a POST is sent.")
    headers: _Headers = Field(default_factory=dict)
    tables: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...], BeforeValidator(_split)
    ] = Field(
        default=("*",),
        min_length=1,
        max_length=100,
        description="The tables: names, or globs as in a policy.",
        examples=["lake.sales.*"],
    )
    jobs: Literal["changed", "all"] = Field(
        default="changed",
        description="`changed`: jobs that changed their table; `all`: also the others.",
    )
    body: Annotated[str, template_of("job", PLACEHOLDERS)] = Field(
        default="",
        max_length=10_000,
        description="Your own body in JSON, with `$job`, `$state`, `$rule`, `$table`, "
        "`$catalog`, `$namespace`, `$name`, `$snapshot`, `$ended_at` and `$sentence`. "
        "Default: a CloudEvent.",
    )


class LineageSettings(Strict):
    """OpenLineage events of finished jobs. Needs the extra `openlineage`."""

    url: Receiver = Field(
        description="The receiver's address; events go to its path `api/v1/lineage`."
    )
    api_key: _Secret | None = Field(
        default=None, repr=False, description="A bearer token. Default: none is sent."
    )
    namespace: str = Field(
        default="iceberg-maintainer",
        min_length=1,
        max_length=250,
        description="The namespace of the daemon's jobs.",
    )


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
