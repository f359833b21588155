"""The parts of the process that the endpoints use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event
from typing import Annotated

from fastapi import Depends, Request

from maintainer.api.hosts import AllowedHosts
from maintainer.api.limits import Limits, Streams
from maintainer.api.readiness import Check
from maintainer.domain.access import ApiToken, ClaimRule
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Policy
from maintainer.measure.catalog_storage import CatalogStorage
from maintainer.measure.impact import ImpactModels
from maintainer.measure.report import Report
from maintainer.policy.effective import effective
from maintainer.ports import Ports
from maintainer.ports.identity import Identities, Sealer
from maintainer.ports.store.tables import TableRecord
from maintainer.requests.report import ReportQuestion

REQUESTED_BY = "person"  # any person through the API; "policy" is the daemon itself


@dataclass(frozen=True, slots=True)
class People:
    """How people sign in, and who has which role."""

    identities: Identities
    rules: tuple[ClaimRule, ...]
    name_claim: str = "preferred_username"
    page: str = ""  # the origin at which people open the page; empty: only bearer tokens
    session_seconds: int = 8 * 3600


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue at one moment, best first."""

    at: datetime
    decisions: Sequence[AdmissionDecision] = ()

    def of(self, table: TableIdentifier) -> tuple[AdmissionDecision, ...]:
        """The part of the queue that concerns one table."""
        return tuple(decision for decision in self.decisions if decision.candidate.table == table)


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A setting as it works, with its secrets hidden."""

    name: str  # with dots, for the levels of the configuration file
    value: str | None  # None: there is no value
    is_default: bool  # neither the file nor the environment sets the value


@dataclass(frozen=True, slots=True)
class ApiContext:
    """The parts of the process that the endpoints use, given by the composition root."""

    ports: Ports
    catalogs: Mapping[str, str]  # name -> type, as configured
    readiness: Callable[[], Sequence[Check]]
    metrics: Callable[[], tuple[bytes, str]]  # the exposition and its content type
    queue: Callable[[], Queue]
    report: Callable[[ReportQuestion], Report]  # on small files
    # Sends a test message to each notification target; returns by name whether it was received.
    try_targets: Callable[[], Mapping[str, bool]] = dict
    # Requests that a table is measured soon; False if too many tables wait.
    measure_soon: Callable[[TableIdentifier], bool] = lambda _table: False
    impact: ImpactModels = field(default_factory=ImpactModels)
    # The storage of each catalog, by the tables with these prefixes; None: all tables.
    storage: Callable[[tuple[str, ...] | None], Sequence[CatalogStorage]] = lambda _within: ()
    scan_interval: timedelta = timedelta(minutes=5)
    # Set when the daemon stops: open event streams end at once.
    stopping: Event = field(default_factory=Event)
    # by name
    tokens: Mapping[str, ApiToken] = field(default_factory=dict)
    people: People | None = None
    sealer: Sealer | None = None  # of the page's sessions
    limits: Limits = field(default_factory=lambda: Limits(1200))  # of each person and token
    failures: Limits = field(default_factory=lambda: Limits(20))  # to sign in, of each address
    streams: Streams = field(default_factory=lambda: Streams(8))  # of each person and token
    answers_seconds: float = 0.0  # the time for which the answer to a list is sent again
    open_metrics: bool = False  # everybody may read the metrics
    # The template of the address of Spark's page, by pool; empty: there is no page.
    spark_ui: Mapping[str, str] = field(default_factory=dict)
    # Accepted names in a Host header, in addition to the names of the loopback.
    hosts: AllowedHosts = field(default=AllowedHosts())
    settings: tuple[EffectiveSetting, ...] = ()  # in the order of the reference
    prefix: str = ""  # of every path, if a proxy does not remove it

    @property
    def asks_who(self) -> bool:
        """True when every request needs a name that is verified."""
        return bool(self.tokens) or self.people is not None


async def context_of(request: Request) -> ApiContext:
    context: ApiContext = request.app.state.context
    return context


ContextIn = Annotated[ApiContext, Depends(context_of)]


async def ports_of(context: ContextIn) -> Ports:
    return context.ports


PortsIn = Annotated[Ports, Depends(ports_of)]


def policy_of_record(ports: Ports, record: TableRecord) -> Policy:
    """The policy in force for a table, measured or not."""
    properties = record.health.properties if record.health else {}
    return effective(ports.policies.current(), record.table, properties)
