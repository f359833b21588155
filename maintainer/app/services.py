"""What the API calls, built from the ports and the requests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from maintainer.adapters.policies import parse_policy
from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api.deps import Services
from maintainer.api.hosts import AllowedHosts
from maintainer.api.queue_cache import QueueBoard
from maintainer.api.readiness import check_store
from maintainer.app import App
from maintainer.app.options import make_impact_model
from maintainer.domain.admission import Halt
from maintainer.domain.errors import InvalidTransitionError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.policy.effective import effective
from maintainer.ports import Ports
from maintainer.requests.approval import approve_list, reject_list, restore_list
from maintainer.requests.cancel import request_cancel
from maintainer.requests.pause import cancel_scope, pause_scope, read_standstill, resume_scope
from maintainer.requests.policy_versions import compare_versions
from maintainer.requests.preview import preview, preview_tables
from maintainer.requests.rollback import request_rollback
from maintainer.requests.run import request_run
from maintainer.scheduler import Scheduler
from maintainer.steps.admission import read_queue


def make_services(app: App, scheduler: Scheduler) -> Services:
    """The API's services, built from the ports and the steps."""
    ports = app.ports
    return Services(
        store=ports.store,
        policies=ports.policies,
        clock=ports.clock,
        catalogs={
            name: catalog.properties.get("type", "pyiceberg")
            for name, catalog in app.settings.catalogs.items()
        },
        effective=lambda table, properties: effective(ports.policies.current(), table, properties),
        parse_policy=parse_policy,
        statement=main_statement,
        preview=partial(_preview, ports),
        run_now=partial(_run_now, ports),
        cancel=partial(_cancel, ports),
        roll_back=partial(request_rollback, ports),
        readiness=partial(_readiness, app, scheduler),
        metrics=app.telemetry.render,
        stopping=app.stopping,
        compare_versions=partial(compare_versions, ports),
        preview_tables=partial(preview_tables, ports),
        impact=make_impact_model(app.settings.impact),
        standstill=partial(read_standstill, ports),
        halt=partial(_halt, ports),
        lift=partial(resume_scope, ports),
        approve_orphans=partial(approve_list, ports),
        reject_orphans=partial(reject_list, ports),
        restore_orphans=partial(restore_list, ports),
        tokens=app.settings.auth.tokens,
        hosts=AllowedHosts.of(app.settings.server.host, app.settings.server.hosts),
        queue=QueueBoard(partial(read_queue, ports), ports.clock).read,
    )


def _preview(ports: Ports, table: TableIdentifier, candidate: PolicyLayer | None) -> Plan:
    made = preview(ports, table, candidate)
    if isinstance(made, TableFault):
        message = f"table {table} cannot be measured ({made.kind}): {made.reason}"
        raise UnknownTableError(message)
    return made


def _run_now(
    ports: Ports, table: TableIdentifier, rules: tuple[RuleName, ...], requested_by: str
) -> tuple[Plan, tuple[Job, ...]]:
    made, job = request_run(ports, table, rules, requested_by)
    return made, (job,) if job is not None else ()


def _cancel(ports: Ports, job_id: str, requested_by: str) -> Job:
    job = ports.store.job(job_id)
    if job is None:
        message = f"no job {job_id}"
        raise UnknownTableError(message)
    if job.state.is_final:
        message = f"job {job_id} is {job.state} already and cannot be cancelled"
        raise InvalidTransitionError(message)
    return request_cancel(ports, job, requested_by)


def _halt(ports: Ports, halted: Halt, is_cancelling: bool) -> None:
    pause_scope(ports, halted)
    if is_cancelling:
        cancel_scope(ports, halted.scope, halted.by)


def _readiness(app: App, scheduler: Scheduler) -> Sequence[tuple[str, bool, str]]:
    checks = [check_store(app.ports.store), app.reach.check()]
    checks += [(state.name, not state.is_late, state.sentence) for state in scheduler.states]
    if app.stopping.is_set():
        checks.append(("daemon", False, "stopping"))
    return checks
