"""The steps of the loop, and how often each one runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from maintainer.app import App
from maintainer.app.options import loop_options
from maintainer.domain.replica import DutyKind
from maintainer.requests.policy_status import find_statuses
from maintainer.requests.status import count_states
from maintainer.scheduler import Scheduler, Step
from maintainer.steps.admission import WAITS_INTERVAL, WAITS_REST, record_waits
from maintainer.steps.notices import RESEND_INTERVAL, resend_notices
from maintainer.steps.plan import plan
from maintainer.steps.prune import prune
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch

_SCAN = "scan"
_STATUS_REST = 9.0  # reading all tables takes at most a tenth of the time


def _scan_catalogs(app: App) -> Iterator[Step]:
    """A step for each catalog, so that a slow catalog does not delay the others."""
    for name in app.ports.catalogs:
        yield Step(
            f"{_SCAN} {name}",
            partial(_scan, app, name),
            app.settings.scan.interval,
            starts_work=True,
            kind=_SCAN,
            after_work_of="duties",  # this replica has taken over a catalog
        )


def _scan(app: App, name: str) -> object:
    try:
        return scan(
            app.ports,
            should_stop=app.stopping.is_set,
            options=loop_options(app.settings),
            is_ours=lambda catalog: catalog == name and app.turns.holds(DutyKind.SCAN, name),
        )
    finally:
        app.reach.note(app.ports.store, name)


def _prune(app: App) -> object:
    ages = app.settings.prune
    return prune(app.ports, ages.samples, ages.jobs, ages.raw_samples, ages.hourly_samples)


def make_idle_scheduler(app: App) -> Scheduler:
    """Only the steps for policies, for a process that does not run the loop."""
    app.telemetry.show_duties(app.turns.wanted, lambda _duty: False)
    return Scheduler(tuple(_read_policies(app)), app.ports.telemetry)


def _if_ours(app: App, kind: DutyKind, work: Callable[[], object]) -> object:
    return work() if app.turns.holds(kind) else None


def _record_waits(app: App) -> None:
    if app.turns.holds(DutyKind.QUEUE):
        record_waits(app.ports)
        app.ports.telemetry.states_counted(count_states(app.ports))
    else:  # another replica reports the queue and the states
        app.ports.telemetry.queue_counted({})
        app.ports.telemetry.states_counted({})


def make_scheduler(app: App) -> Scheduler:
    """The steps of the loop at their intervals."""
    # Every worker submits jobs. Leases ensure that a table has one job.
    ports, settings, turns = app.ports, app.settings, app.turns
    app.telemetry.show_duties(turns.wanted, turns.has)
    steps: tuple[Step, ...] = (
        Step("duties", turns.take, turns.interval, starts_work=True),
        *_scan_catalogs(app),
        Step(
            "plan",
            partial(plan, ports, partial(turns.holds, DutyKind.PLAN)),
            settings.plan.interval,
            starts_work=True,
            after=_SCAN,
        ),
        Step(
            "submit",
            partial(submit, ports),
            settings.submit.interval,
            starts_work=True,
            after="plan",
            after_work_of="watch",
        ),  # a slot has become free
        Step(
            "queue",
            partial(_record_waits, app),
            WAITS_INTERVAL,
            starts_work=True,
            rest_factor=WAITS_REST,
        ),
        Step("watch", partial(watch, ports), settings.watch.interval, starts_work=False),
        Step(
            "review",
            partial(review, ports),
            settings.review.interval,
            starts_work=False,
            after="watch",
        ),
        Step(
            "notices",
            partial(_if_ours, app, DutyKind.NOTICES, partial(resend_notices, ports)),
            RESEND_INTERVAL,
            starts_work=True,
        ),
        Step(
            "prune",
            partial(_if_ours, app, DutyKind.PRUNE, partial(_prune, app)),
            settings.prune.interval,
            starts_work=True,
        ),
    )
    others = (*_read_policies(app), *_report_policies(app))
    scheduler = Scheduler((*steps, *others), ports.telemetry)
    app.telemetry.watch_steps(
        lambda: [(one.name, one.idle.total_seconds(), one.is_late) for one in scheduler.states]
    )
    return scheduler


def _read_policies(app: App) -> Iterator[Step]:
    """The steps that read policies again from sources other than files."""
    polaris, kubernetes = app.settings.polaris_policies, app.settings.kubernetes_policies
    if app.sources.polaris is not None and polaris is not None:
        yield Step("policies", app.sources.polaris.refresh, polaris.interval, starts_work=True)
    if app.sources.kubernetes is not None and kubernetes is not None:
        refresh = app.sources.kubernetes.refresh
        yield Step("policy_resources", refresh, kubernetes.interval, starts_work=True)


def _report_policies(app: App) -> Iterator[Step]:
    """The step that writes the status of policies, in one of the replicas that work."""
    source, settings = app.sources.kubernetes, app.settings.kubernetes_policies
    if source is None or settings is None:
        return

    def report() -> int:
        statuses = find_statuses(app.ports, source.layers())
        return source.report(statuses, app.ports.clock.now())

    interval = settings.status_interval
    run = partial(_if_ours, app, DutyKind.STATUS, report)
    yield Step("policy_status", run, interval, starts_work=True, rest_factor=_STATUS_REST)
