"""What endpoints depend on: the parts of the process, and the name in which a request acts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from secrets import token_hex
from threading import Event
from typing import Annotated, NoReturn

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from maintainer.api.guard import SAFE_METHODS, AllowedHosts, Limits, Streams
from maintainer.api.readiness import Check
from maintainer.api.session_ends import EndedSessions
from maintainer.domain.access import ApiToken, ClaimRule, Grant, Person, Role, find_claim
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.audit import name_person, name_token
from maintainer.domain.errors import CredentialsRefusedError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Policy
from maintainer.domain.status import TableStatus
from maintainer.measure.impact import ImpactModels
from maintainer.measure.report import CatalogStorage, Report
from maintainer.policy.effective import effective
from maintainer.ports import Ports
from maintainer.ports.identity import Claims, Identities, Sealer
from maintainer.ports.store.tables import TableRecord
from maintainer.requests.preview import ReportQuestion

REQUESTED_BY = "person"  # any person through the API; "policy" is the daemon itself
COOKIE = "maintainer_session"
SESSION = "session"  # the kind of the sealed text
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_ANYBODY = Person(REQUESTED_BY, (Grant(Role.ADMIN),))
_MAX_NAME = 200
_DOTS_OF_A_JWT = 2


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
    # The status of each table whose name has one of these prefixes; None: of all tables.
    statuses: Callable[[tuple[str, ...] | None], Sequence[TableStatus]]
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
    ended: EndedSessions = field(default_factory=EndedSessions)  # before their time
    streams: Streams = field(default_factory=lambda: Streams(8))  # of each person and token
    answers_seconds: float = 0.0  # the time for which the answer to a list is sent again
    open_metrics: bool = False  # everybody may read the metrics
    # Whether another server of this process no longer answers; for a server of probes alone.
    is_stuck: Callable[[], bool] = lambda: False
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


def authenticate(request: Request, context: ContextIn) -> Person:
    """The name in which the request acts; 401 when its credentials are missing or wrong.

    Where nothing is configured, everybody may do everything, in an unverified name.
    """
    if not context.asks_who:
        return _ANYBODY
    person = identify(request, context)
    if person is None:
        detail = "sign in, or send an API token: the header Authorization: Bearer TOKEN"
        raise HTTPException(HTTPStatus.UNAUTHORIZED, detail, _CHALLENGE)
    seconds = context.limits.take(person.name)
    if seconds:
        _refuse(f"{person.name} sends more requests than auth.requests_per_minute allows", seconds)
    return person


def recognise(request: Request, context: ApiContext) -> Person | None:
    """Who sends the request, where that is known at once; None: authenticate asks, or refuses."""
    if not context.asks_who:
        return _ANYBODY
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        return _read_session(request, context)
    if scheme.lower() != "bearer" or context.failures.wait(client_of(request)):
        return None
    return _find_machine(context, given.strip())


def may_ask(person: Person, context: ApiContext) -> bool:
    """Count one request of the person; False when it is too many."""
    return not context.asks_who or not context.limits.take(person.name)


def _refuse(detail: str, seconds: float) -> NoReturn:
    headers = {"Retry-After": str(ceil(seconds))}
    raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, detail, headers)


@contextmanager
def count_failures(request: Request, context: ApiContext) -> Iterator[None]:
    """Count refused credentials for the client's address; 429 before any when there were many."""
    address = client_of(request)
    seconds = context.failures.wait(address)
    if seconds:
        _refuse(
            f"{address} has failed to sign in more often than auth.failed_sign_ins_per_minute "
            f"allows",
            seconds,
        )
    try:
        yield
    except CredentialsRefusedError:
        context.failures.take(address)
        raise


def client_of(request: Request) -> str:
    """The client's address; of IPv6 the network, because one client has all its addresses."""
    host = request.client.host if request.client is not None else ""
    try:
        is_wide = isinstance(ip_address(host), IPv6Address)
    except ValueError:
        return host
    return str(ip_network(f"{host}/64", strict=False)) if is_wide else host


def identify(request: Request, context: ApiContext) -> Person | None:
    """Who sends the request; None for nobody, CredentialsRefusedError for a wrong token."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        return _read_session(request, context)
    with count_failures(request, context):
        return _read_token(context, given.strip() if scheme.lower() == "bearer" else "")


def _read_token(context: ApiContext, given: str) -> Person:
    machine = _find_machine(context, given)
    if machine is not None:
        return machine
    if context.people is None or given.count(".") != _DOTS_OF_A_JWT:
        raise CredentialsRefusedError("the token is not one of this daemon's")
    claims = context.people.identities.read_bearer(given)
    return _person(context.people, _name(context.people, claims), "bearer", claims)


def _find_machine(context: ApiContext, given: str) -> Person | None:
    name = find_token(context.tokens, given)
    return None if name is None else Person(name_token(name), (context.tokens[name].grant,))


def find_token(tokens: Mapping[str, ApiToken], given: str) -> str | None:
    """The token's name, by hashes of all tokens without an early end: timing reveals nothing."""
    matching = [
        name
        for name, token in tokens.items()
        if compare_digest(_digest(token.secret), _digest(given))
    ]
    return matching[0] if matching else None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def write_token_session(tokens: Mapping[str, ApiToken], name: str) -> Claims:
    """The contents of a session that began with a token: it ends when the token is changed."""
    return {"token": name, "digest": _mark_token(tokens[name]), "id": token_hex(8)}


def _mark_token(token: ApiToken) -> str:
    return _digest(token.secret).hex()[:16]


def write_person_session(people: People, claims: Claims) -> Claims:
    """The contents of a person's session: the name, and marks of the rules that matched."""
    marks = [_mark(rule) for rule in people.rules if rule.claim and rule.matches(claims)]
    return {"name": _name(people, claims), "marks": marks, "id": token_hex(8)}


def _read_session(request: Request, context: ApiContext) -> Person | None:
    text = request.cookies.get(COOKIE, "")
    kept = context.sealer.unseal(SESSION, text) if text and context.sealer is not None else None
    if kept is None or context.ended.has(context.ports.store, text, context.ports.clock.now()):
        return None
    is_ours = "origin" in request.headers or request.headers.get("sec-fetch-site") == "same-origin"
    if request.method not in SAFE_METHODS and not is_ours:
        detail = "a change with a session needs the header Origin, as every browser sends it"
        raise HTTPException(HTTPStatus.FORBIDDEN, detail)
    name = str(kept.get("token") or kept.get("name"))
    if "token" in kept:
        token = context.tokens.get(name)
        is_same = token is not None and kept.get("digest") == _mark_token(token)
        return Person(name_token(name), (context.tokens[name].grant,)) if is_same else None
    if context.people is None:
        return None
    marks = kept.get("marks")
    known = frozenset(map(str, marks)) if isinstance(marks, list) else frozenset()
    rules = (rule for rule in context.people.rules if not rule.claim or _mark(rule) in known)
    return _grant(name, "page", rules)


def _mark(rule: ClaimRule) -> str:
    return sha256(f"{rule.claim}\0{rule.value}".encode()).hexdigest()[:16]


def _name(people: People, claims: Claims) -> str:
    name = find_claim(claims, people.name_claim)
    text = str(name if isinstance(name, str) and name else claims["sub"])
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_MAX_NAME])


def _person(people: People, name: str, way: str, claims: Claims) -> Person:
    return _grant(name, way, (rule for rule in people.rules if rule.matches(claims)))


def _grant(name: str, way: str, rules: Iterable[ClaimRule]) -> Person:
    return Person(name_person(name, way), tuple(rule.grant for rule in rules))


PersonIn = Annotated[Person, Depends(authenticate)]


def _name_actor(person: PersonIn) -> str:
    return person.name


ActorIn = Annotated[str, Depends(_name_actor)]


async def _lend_stream(person: PersonIn, context: ContextIn) -> AsyncIterator[Callable[[], None]]:
    with context.streams.lend(person.name) as take:

        def follow() -> None:
            if context.asks_who and not take():
                _refuse(
                    f"{person.name} follows {context.streams.most} streams already, as many as "
                    f"auth.streams allows",
                    1,
                )

        yield follow


# A streamed answer calls this function; the stream is counted until the answer has ended.
FollowIn = Annotated[Callable[[], None], Depends(_lend_stream)]


def speak_for(actor: str, named: str) -> str:
    """The name in which the request acts when its body may name a person.

    Who is authenticated always acts in their own name, and nobody else can use it.
    """
    return named if actor == REQUESTED_BY else actor
