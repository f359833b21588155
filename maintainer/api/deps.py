"""The endpoints' dependencies: the process, and the table that a path names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path, Request

from maintainer.api.hosts import AllowedHosts
from maintainer.api.queue_cache import Queue
from maintainer.api.readiness import Check
from maintainer.domain.errors import InvalidValueError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.domain.policy import Policy
from maintainer.measure.impact import ImpactModel
from maintainer.policy.effective import effective
from maintainer.ports import Ports
from maintainer.ports.store.tables import TableRecord

MAX_NAMES_COMPARED = 2000  # when suggesting names similar to an unknown one
MAX_NEAR_NAMES = 3
REQUESTED_BY = "person"  # any person through the API; "policy" is the daemon itself


@dataclass(frozen=True, slots=True)
class ApiContext:
    """What the endpoints use of their process, given by the composition root."""

    ports: Ports
    catalogs: Mapping[str, str]  # name -> type, as configured
    readiness: Callable[[], Sequence[Check]]
    metrics: Callable[[], tuple[bytes, str]]  # the exposition and its content type
    queue: Callable[[], Queue]
    impact: ImpactModel = field(default_factory=ImpactModel)
    # Set when the daemon stops: open event streams end at once.
    stopping: Event = field(default_factory=Event)
    # name -> token; empty: no token is needed
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    # By pool: the template of an address of Spark's page; empty: there is none.
    spark_ui: Mapping[str, str] = field(default_factory=dict)
    # Accepted names in a Host header, in addition to those of the loopback.
    hosts: AllowedHosts = field(default=AllowedHosts())
    prefix: str = ""  # of every path, where a proxy leaves it in


async def context_of(request: Request) -> ApiContext:
    """The context that build_api got."""
    context: ApiContext = request.app.state.context
    return context


ContextIn = Annotated[ApiContext, Depends(context_of)]


async def ports_of(context: ContextIn) -> Ports:
    """The ports of the process."""
    return context.ports


PortsIn = Annotated[Ports, Depends(ports_of)]


def table_in_path(
    catalog: Annotated[str, Path(description="Catalog.", examples=["lake"])],
    namespace: Annotated[
        str,
        Path(
            description='Namespace levels joined by "."; a level that holds a dot in backticks.',
            examples=["sales.daily"],
        ),
    ],
    table: Annotated[
        str, Path(description="Table name; a slash is written %2F.", examples=["orders"])
    ],
) -> TableIdentifier:
    """The table that the path names; UnknownTableError when the namespace is invalid."""
    try:
        levels = split_levels(unquote(namespace))
    except InvalidValueError as error:
        message = f"no table {unquote(catalog)}.{unquote(namespace)}.{unquote(table)}: {error}"
        raise UnknownTableError(message) from error
    return TableIdentifier(unquote(catalog), levels, unquote(table))


TableIn = Annotated[TableIdentifier, Depends(table_in_path)]


def record_in_path(table: TableIn, context: ContextIn) -> TableRecord:
    """The record of the table in the path; UnknownTableError suggests similar names."""
    record = context.ports.store.table(table)
    if record is None:
        raise UnknownTableError(_describe_unknown(table, context))
    return record


RecordIn = Annotated[TableRecord, Depends(record_in_path)]


def _describe_unknown(table: TableIdentifier, context: ApiContext) -> str:
    if table.catalog not in context.catalogs:
        known = ", ".join(sorted(context.catalogs)) or "none"
        return f"no catalog {table.catalog!r} is configured; there are: {known}"
    names = (
        str(known) for known in context.ports.store.table_names() if known.catalog == table.catalog
    )
    near = difflib.get_close_matches(
        str(table), list(islice(names, MAX_NAMES_COMPARED)), n=MAX_NEAR_NAMES
    )
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"no table {table} is known in catalog {table.catalog!r}{hint}"


def policy_of_record(ports: Ports, record: TableRecord) -> Policy:
    """The policy in force for a table, measured or not."""
    properties = record.health.properties if record.health else {}
    return effective(ports.policies.current(), record.table, properties)
