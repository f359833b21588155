"""Settings of what the daemon says of itself: metrics, log, traces, lineage and webhooks."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.texts import check_template
from maintainer.adapters.policies.validation import SizeBetween, Strict, refuse
from maintainer.adapters.telemetry.webhooks import PLACEHOLDERS
from maintainer.domain.location import is_link_local
from maintainer.domain.units import MIB


def _split(value: object) -> object:
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(str(part).strip() for part in parts) if isinstance(parts, list) else parts


class MetricsSettings(Strict):
    """Which tables and namespaces have gauges of their own, and the bound of an alert.

    In a fleet of more than max_tables tables these are the tables that `tables` names, then the
    degraded and critical ones, the worst first. All others count in the gauges of their namespace,
    their catalog and the fleet.
    """

    max_tables: Annotated[
        int, Field(ge=0, le=10_000, description="The most tables with gauges of their own.")
    ] = 1000
    tables: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...],
        BeforeValidator(_split),
        Field(
            max_length=100,
            description="Tables that always have gauges of their own: names, or globs with * and "
            "?; case does not count. A variable holds them with commas.",
            examples=["lake.sales.*"],
        ),
    ] = ()
    max_namespaces: Annotated[
        int,
        Field(ge=1, le=1000, description="The most namespaces with gauges, the first by name."),
    ] = 500
    average_file_size_bound: Annotated[
        int,
        SizeBetween("1B", "1TiB"),
        Field(description="An alert fires while the fleet's average file size is below this."),
    ] = 32 * MIB


class LogSettings(Strict):
    """The daemon's log on standard error: one line for each event."""

    format: Annotated[
        Literal["text", "json"],
        Field(description="`text` for people, `json` for programs: an object on each line."),
    ] = "text"
    level: Annotated[
        Literal["debug", "info", "warning"],
        Field(description="The least level of the daemon's own events; libraries: warning."),
    ] = "info"


def _check_receiver(value: object) -> object:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None:
        return value
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        refuse("must be an address like https://name.example without a user in it")
    if is_link_local(parts.hostname):
        refuse(f"has the host {parts.hostname}, which is link-local and never asked")
    return value


Receiver = Annotated[str, BeforeValidator(_check_receiver), Field(max_length=1000)]
_Secret = Annotated[str, Field(min_length=1, max_length=10_000)]
_Headers = Annotated[
    dict[str, _Secret],
    Field(
        repr=False,
        max_length=20,
        description="Headers of each request. They hold secrets: take them from the environment.",
    ),
]


class TracingSettings(Strict):
    """Traces of jobs and steps, sent to an OpenTelemetry collector over OTLP/HTTP.

    Needs the extra `opentelemetry`. The library's own variables, `OTEL_...`, hold too.
    """

    endpoint: Annotated[
        Receiver,
        Field(description="The whole address, such as `http://collector:4318/v1/traces`."),
    ]
    headers: _Headers = Field(default_factory=dict)


def _check_body(value: object) -> object:
    return check_template(value, PLACEHOLDERS, "job")


class WebhookSettings(Strict):
    """A request to another service after each job that changed a table."""

    url: Annotated[
        Receiver, Field(repr=False, description="The whole address, which is sent a POST.")
    ]
    headers: _Headers = Field(default_factory=dict)
    tables: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1000)], ...],
        BeforeValidator(_split),
        Field(
            min_length=1,
            max_length=100,
            description="Of which tables: names, or globs as in a policy.",
            examples=["lake.sales.*"],
        ),
    ] = ("*",)
    jobs: Annotated[
        Literal["changed", "all"],
        Field(description="`changed`: jobs that changed their table; `all`: also the others."),
    ] = "changed"
    body: Annotated[
        str,
        BeforeValidator(_check_body),
        Field(
            max_length=10_000,
            description="A body of your own in JSON, with `$job`, `$state`, `$rule`, `$table`, "
            "`$catalog`, `$namespace`, `$name`, `$snapshot`, `$ended_at` and `$sentence`. "
            "Default: a CloudEvent.",
        ),
    ] = ""


class LineageSettings(Strict):
    """OpenLineage events of finished jobs. Needs the extra `openlineage`."""

    url: Annotated[
        Receiver,
        Field(description="The receiver's address; events go to its path `api/v1/lineage`."),
    ]
    api_key: Annotated[
        _Secret | None, Field(repr=False, description="A bearer token. Default: none is sent.")
    ] = None
    namespace: Annotated[
        str,
        Field(min_length=1, max_length=250, description="The namespace of the daemon's jobs."),
    ] = "iceberg-maintainer"
