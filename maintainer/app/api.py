"""The parts of the process that the API uses: caches, a queue, and the effective settings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Lock, Thread
from typing import Generic, TypeVar

from maintainer.adapters.identity import CookieSealer, OpenIdProvider, ProviderOptions
from maintainer.adapters.notifier import AppriseNotifier
from maintainer.api.application import PREFIX
from maintainer.api.deps import ApiContext, EffectiveSetting, People, Queue
from maintainer.api.guard import AllowedHosts, Limits, Streams
from maintainer.api.readiness import Check, StoreCheck
from maintainer.api.wire import hide_wait
from maintainer.app import App
from maintainer.app.options import make_impact_models
from maintainer.domain.errors import MaintainerError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.status import TableStatus
from maintainer.ports import Ports
from maintainer.ports.clock import Clock
from maintainer.requests.preview import report_small_files, report_storage
from maintainer.requests.status import assess_tables
from maintainer.scheduler import Scheduler
from maintainer.settings import Settings
from maintainer.steps.admission import read_queue
from maintainer.steps.isolation import ABANDONED
from maintainer.steps.table import measure_table

Path = tuple[str, ...]
MAX_WAITING = 1000

_LOG = logging.getLogger(__name__)
MAX_AGE = timedelta(minutes=1)
QUEUE_AGE = timedelta(seconds=5)
# Reading 100,000 tables takes some seconds. This must not become the daemon's main work.
REST_FACTOR = 10
MOST_ANSWERS = 16  # for different questions, or for people who may see different tables

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")
ANSWERS_SECONDS = 1.0  # pages read their lists again every 15 s


def list_settings(settings: Settings) -> tuple[EffectiveSetting, ...]:
    """Each setting by its dotted name, its secrets hidden."""
    return tuple(
        EffectiveSetting(".".join(path), _write(value), not settings.is_given(path))
        for path, value in _flatten((), settings.redacted())
    )


def _flatten(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    match value:
        case dict() if value:
            for name, inner in value.items():
                yield from _flatten((*path, str(name)), inner)
        case list() | tuple() if any(isinstance(inner, dict) for inner in value):
            for number, inner in enumerate(value):
                yield from _flatten((*path, str(number)), inner)
        case _:
            yield path, value


def _write(value: object) -> str | None:
    match value:
        case None | {} | [] | ():
            return None
        case bool():
            return "true" if value else "false"
        case set() | frozenset():
            return _write(sorted(map(str, value)))
        case list() | tuple():
            return ", ".join(filter(None, (_write(inner) for inner in value))) or None
        case _:
            return str(value) or None


class MeasureQueue:
    """Safe for threads. What waits at the end of the process is left to the next scan."""

    def __init__(
        self, measure: Callable[[TableIdentifier], object], most: int = MAX_WAITING
    ) -> None:
        self._measure = measure
        self._most = most
        self._lock = Lock()
        self._waiting: dict[TableIdentifier, None] = {}  # in the order of their arrival
        self._is_working = False

    def add(self, table: TableIdentifier) -> bool:
        """Have the table measured soon; False when too many wait. One that waits stays once."""
        with self._lock:
            if table not in self._waiting and len(self._waiting) >= self._most:
                return False
            self._waiting[table] = None
            if not self._is_working:
                self._is_working = True
                Thread(target=self._work, name="measure-queue", daemon=True).start()
        return True

    def _work(self) -> None:
        while (table := self._take()) is not None:
            try:
                self._measure(table)
            except MaintainerError as error:
                _LOG.warning("event.not_measured table=%s error=%s", table, error)
            except Exception:  # noqa: BLE001 - an error on one table must not stop the others
                _LOG.exception("event.not_measured table=%s", table)

    def _take(self) -> TableIdentifier | None:
        """Take the next table before it is measured: a change during that counts again."""
        with self._lock:
            table = next(iter(self._waiting), None)
            if table is None:
                self._is_working = False
            else:
                del self._waiting[table]
            return table


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Answer]):
    at: datetime
    took: timedelta
    answer: Answer


@dataclass(slots=True)
class FleetCache(Generic[Question, Answer]):
    """Keeps the last answer to each question; safe for threads."""

    read_fleet: Callable[[Question], Answer]
    clock: Clock
    max_age: timedelta = MAX_AGE
    _kept: dict[Question, _Kept[Answer]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def read(self, question: Question) -> Answer:
        """The answer, at most the greatest age or ten times its reading time old.

        While another thread reads the fleet, the last answer is returned.
        """
        kept = self._kept.get(question)
        if not self._lock.acquire(blocking=kept is None) and kept is not None:
            return kept.answer
        try:
            kept = self._kept.get(question)
            now = self.clock.now()
            if kept is None or now - kept.at >= max(self.max_age, REST_FACTOR * kept.took):
                kept = self._renew(question, now)
            return kept.answer
        finally:
            self._lock.release()

    def _renew(self, question: Question, now: datetime) -> _Kept[Answer]:
        answer = self.read_fleet(question)
        self._kept.pop(question, None)
        while len(self._kept) >= MOST_ANSWERS:
            del self._kept[next(iter(self._kept))]
        kept = self._kept[question] = _Kept(now, self.clock.now() - now, answer)
        return kept


def make_context(app: App, scheduler: Scheduler) -> ApiContext:
    ports, notifier = app.ports, app.ports.notifier
    models = make_impact_models(app.settings)
    queue = partial(FleetCache(partial(_read_queue, ports), ports.clock, QUEUE_AGE).read, None)
    return ApiContext(
        ports=ports,
        catalogs={
            name: catalog.properties.get("type", "pyiceberg")
            for name, catalog in app.settings.catalogs.items()
        },
        readiness=partial(_readiness, app, scheduler, StoreCheck(ports.store)),
        metrics=app.telemetry.render,
        report=FleetCache(partial(report_small_files, ports.store, models), ports.clock).read,
        queue=queue,
        statuses=FleetCache(partial(read_statuses, ports, queue), ports.clock, QUEUE_AGE).read,
        try_targets=notifier.try_targets if isinstance(notifier, AppriseNotifier) else dict,
        measure_soon=MeasureQueue(partial(measure_table, ports)).add,
        impact=models,
        storage=FleetCache(
            partial(report_storage, ports.store, models, sorted(app.settings.catalogs)), ports.clock
        ).read,
        scan_interval=app.settings.scan.interval,
        stopping=app.stopping,
        spark_ui={name: pool.ui_url for name, pool in app.settings.spark.every_pool.items()},
        tokens=app.settings.auth.api_tokens,
        people=_make_people(app.settings),
        sealer=CookieSealer(app.settings.auth.session_key),
        limits=Limits(app.settings.auth.requests_per_minute),
        failures=Limits(app.settings.auth.failed_sign_ins_per_minute),
        streams=Streams(app.settings.auth.streams),
        answers_seconds=ANSWERS_SECONDS,
        open_metrics=app.settings.auth.open_metrics,
        settings=list_settings(app.settings),
        prefix=app.settings.server.prefix,
        hosts=AllowedHosts.of(app.settings.server.host, _list_hosts(app.settings)),
    )


def _read_queue(ports: Ports, _question: None) -> Queue:
    return Queue(ports.clock.now(), read_queue(ports))


def read_statuses(
    ports: Ports, queue: Callable[[], Queue], within: tuple[str, ...] | None
) -> tuple[TableStatus, ...]:
    """Read the visible tables; what they wait for does not name other tables."""
    decisions = queue().decisions
    shown = decisions if within is None else [hide_wait(decision) for decision in decisions]
    return assess_tables(ports, shown, within=within)


def _list_hosts(settings: Settings) -> tuple[str, ...]:
    oidc = settings.auth.oidc
    return (*settings.server.hosts, *([oidc.page] if oidc is not None and oidc.page else []))


def _make_people(settings: Settings) -> People | None:
    oidc = settings.auth.oidc
    if oidc is None:
        return None
    callback = f"{oidc.page or ''}{settings.server.prefix}{PREFIX}/session/callback"
    options = ProviderOptions(
        issuer=oidc.issuer,
        client_id=oidc.client_id,
        audience=oidc.audience or oidc.client_id,
        callback=callback,
        client_secret=oidc.client_secret,
        scopes=oidc.scopes,
        leeway_seconds=int(oidc.leeway.total_seconds()),
    )
    return People(
        identities=OpenIdProvider(options),
        rules=oidc.claim_rules,
        name_claim=oidc.name_claim,
        page=oidc.page or "",
        session_seconds=int(oidc.session.total_seconds()),
    )


def _readiness(app: App, scheduler: Scheduler, check_store: StoreCheck) -> Sequence[Check]:
    checks = [check_store()]
    if scheduler.states:  # otherwise other processes reach the catalogs
        checks.append(app.reach.check())
        checks.append(("leader", True, str(app.turns)))
    abandoned = ABANDONED.names()
    if abandoned:
        sentence = f"still runs after its time limit: {', '.join(abandoned)}"
        checks.append(("work", len(abandoned) < ABANDONED.most, sentence))
    checks += [(state.name, not state.is_late, state.sentence) for state in scheduler.states]
    if app.stopping.is_set():
        checks.append(("daemon", False, "stopping"))
    return checks
