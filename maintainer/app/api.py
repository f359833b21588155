"""The parts of the process that the API uses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from maintainer.adapters.identity import CookieSealer, OpenIdProvider, ProviderOptions
from maintainer.adapters.notifier import AppriseNotifier
from maintainer.api.application import PREFIX
from maintainer.api.deps import ApiContext, People, Queue
from maintainer.api.fleet_cache import QUEUE_AGE, FleetCache
from maintainer.api.hosts import AllowedHosts
from maintainer.api.limits import Limits, Streams
from maintainer.api.measure_queue import MeasureQueue
from maintainer.api.readiness import Check, check_store
from maintainer.app import App
from maintainer.app.effective import list_settings
from maintainer.app.options import make_impact_models
from maintainer.ports import Ports
from maintainer.requests.report import report_small_files, report_storage
from maintainer.scheduler import Scheduler
from maintainer.settings import Settings
from maintainer.steps.admission import read_queue
from maintainer.steps.table import measure_table

ANSWERS_SECONDS = 1.0  # pages read their lists again every 15 s


def make_context(app: App, scheduler: Scheduler) -> ApiContext:
    ports, notifier = app.ports, app.ports.notifier
    models = make_impact_models(app.settings)
    return ApiContext(
        ports=ports,
        catalogs={
            name: catalog.properties.get("type", "pyiceberg")
            for name, catalog in app.settings.catalogs.items()
        },
        readiness=partial(_readiness, app, scheduler),
        metrics=app.telemetry.render,
        report=FleetCache(partial(report_small_files, ports.store, models), ports.clock).read,
        queue=partial(FleetCache(partial(_read_queue, ports), ports.clock, QUEUE_AGE).read, None),
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


def _readiness(app: App, scheduler: Scheduler) -> Sequence[Check]:
    checks = [check_store(app.ports.store)]
    if scheduler.states:  # otherwise other processes reach the catalogs
        checks.append(app.reach.check())
        checks.append(("leader", True, str(app.turns)))
    checks += [(state.name, not state.is_late, state.sentence) for state in scheduler.states]
    if app.stopping.is_set():
        checks.append(("daemon", False, "stopping"))
    return checks
