"""The composition root: the only module that knows every adapter."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING
from uuid import uuid4

from maintainer.adapters.catalog import (
    MetadataReader,
    PollLimits,
    PyIcebergCatalog,
    ReadCount,
    ReadLimits,
)
from maintainer.adapters.catalog.manifests.fast_reader import slow_reader_reason
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.journal import Journal
from maintainer.adapters.notifier import AppriseNotifier, NotifierOptions
from maintainer.adapters.policies import PolicyDirectory, parse_policy
from maintainer.adapters.policies.polaris import JoinedPolicies, PolarisPolicies
from maintainer.adapters.policies.polaris_client import PolarisOptions
from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.launcher.leftovers import prune_leftovers
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import DriverSize, Executors, LocalSparkOptions
from maintainer.adapters.spark.prerequisites import find_prerequisites, refuse_missing
from maintainer.adapters.spark.snapshot_marks import mark_settings
from maintainer.adapters.spark.statements.job import main_statement
from maintainer.adapters.store import open_store
from maintainer.adapters.telemetry import PrometheusTelemetry
from maintainer.api.hosts import AllowedHosts
from maintainer.api.queue_cache import QueueBoard
from maintainer.api.readiness import Reach, check_store
from maintainer.domain.admission import AdmissionRules, Halt
from maintainer.domain.errors import (
    ConfigurationError,
    InvalidTransitionError,
    MaintainerError,
    UnknownTableError,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.job_size import JobSize
from maintainer.domain.lease import LeaseTerms
from maintainer.domain.notice import NoticeLimits
from maintainer.domain.plan import Plan
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.measure.impact import ImpactModel, StorageProfile
from maintainer.policy.effective import effective
from maintainer.ports import Ports
from maintainer.ports.catalog import Catalog
from maintainer.ports.clock import Clock
from maintainer.ports.notifier import NoNotifier, Notifier
from maintainer.ports.policies import Policies
from maintainer.ports.store import Store
from maintainer.requests.approval import approve_list, reject_list, restore_list
from maintainer.requests.cancel import request_cancel
from maintainer.requests.pause import cancel_scope, pause_scope, read_standstill, resume_scope
from maintainer.requests.policy_versions import compare_versions
from maintainer.requests.preview import preview, preview_tables
from maintainer.requests.rollback import request_rollback
from maintainer.requests.run import request_run
from maintainer.settings import ImpactSettings, NotificationSettings, ScanSettings, Settings
from maintainer.settings.spark import SparkSettings
from maintainer.steps.admission import WAITS_INTERVAL, WAITS_REST, read_queue, record_waits
from maintainer.steps.notices import RESEND_INTERVAL, record_delivery, resend_notices
from maintainer.steps.plan import plan
from maintainer.steps.prune import prune
from maintainer.steps.review import review
from maintainer.steps.scan import ScanOptions, scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch

if TYPE_CHECKING:
    from maintainer.adapters.demo import LakeReport
    from maintainer.api.deps import Services
    from maintainer.scheduler import Scheduler

# PLC0415 below: a scan does not wait for what only the daemon or the demo needs.


@dataclass(frozen=True, slots=True)
class App:
    """The whole application, built from one configuration."""

    settings: Settings
    ports: Ports
    telemetry: PrometheusTelemetry
    stopping: Event = field(default_factory=Event)
    polaris: PolarisPolicies | None = (
        None  # the policies in Polaris, which are read again at intervals
    )
    reach: Reach = field(default_factory=Reach)
    read: ReadCount = field(default_factory=ReadCount)


@contextmanager
def open_app(settings: Settings) -> Iterator[App]:
    """Build the application; on exit, end Spark and close every connection."""
    with ExitStack() as stack:
        clock = SystemClock()
        policies, polaris = open_policies(settings, PolicyDirectory(settings.policies))
        store = open_store(settings.store)
        stack.callback(store.close)
        telemetry = PrometheusTelemetry(store)
        journal = Journal(telemetry)
        limits = ReadLimits(
            settings.scan.decode_processes,
            settings.scan.manifest_memory,
            settings.scan.max_requests,
        )
        reader = MetadataReader(limits, journal.manifests_read_slowly)
        stack.callback(reader.close)
        catalogs = open_catalogs(settings, clock, reader)
        for catalog in catalogs.values():
            stack.callback(catalog.close)
        instance = store.instance_id()
        prune_leftovers(run_dir(settings), clock.now())
        reachable, no_runner = spark_catalogs(settings)
        runner = LocalRunner(
            options=spark_options(settings),
            catalogs=reachable,
            owner=f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}",
            application=f"iceberg-maintainer-{instance}",
            run_dir=run_dir(settings),
            clock=clock,
        )
        stack.callback(
            _lay_down_leases, store, runner.owner, clock, settings.lease.as_terms()
        )  # runs after the runner is closed, when none of its jobs works any more
        stack.callback(runner.close)
        telemetry.leadership_changed(
            is_leader=True
        )  # every replica plans and submits; leases keep them apart, table by table
        telemetry.reader_checked(slow_reader_reason())
        notifier = open_notifier(settings.notifications, store, clock)
        stack.callback(notifier.close)
        rules, terms, stopping = admission_rules(settings), settings.lease.as_terms(), Event()
        ports = Ports(
            catalogs,
            store,
            policies,
            runner,
            journal,
            clock,
            new_job_id,
            notifier,
            rules,
            terms,
            no_runner,
            stopping.is_set,
        )
        yield App(
            settings,
            ports,
            telemetry,
            stopping,
            polaris,
            reach=Reach(frozenset(catalogs)),
            read=reader.count,
        )


def _lay_down_leases(store: Store, owner: str, clock: Clock, terms: LeaseTerms) -> None:
    """Let others take over at once the jobs that this process could not finish."""
    with suppress(MaintainerError):
        store.lay_down_leases(owner, clock.now() - 2 * terms.clock_margin)


def open_policies(
    settings: Settings, files: PolicyDirectory
) -> tuple[Policies, PolarisPolicies | None]:
    """The policies of the files, joined with those in Polaris if these are configured."""
    polaris = open_polaris(settings)
    return (JoinedPolicies(files, polaris) if polaris is not None else files), polaris


def open_polaris(settings: Settings) -> PolarisPolicies | None:
    """The policies in Polaris, if they are configured.

    Settings that are missing there are taken from the catalog's own properties.
    """
    wanted = settings.polaris_policies
    if wanted is None:
        return None
    properties = settings.catalogs[wanted.catalog].properties
    options = PolarisOptions(
        uri=wanted.uri or properties.get("uri", ""),
        warehouse=properties.get("warehouse", ""),
        prefix=wanted.prefix or properties.get("prefix"),
        token=wanted.token or properties.get("token"),
        credential=wanted.credential or properties.get("credential"),
        scope=wanted.scope or properties.get("scope"),
        oauth_uri=wanted.oauth_uri or properties.get("oauth2-server-uri"),
        timeout=wanted.timeout,
        deadline=wanted.deadline,
        max_requests=wanted.max_requests,
    )
    return PolarisPolicies(wanted.catalog, options, with_tables=wanted.tables)


def admission_rules(settings: Settings) -> AdmissionRules:
    """The admission rules of the settings."""
    return settings.admission.as_rules(settings.spark.size_profiles, settings.spark.tasks_at_once)


def new_job_id() -> str:
    """A new job id: a DNS label, so that it can name a Spark application on any cluster."""
    return f"m-{uuid4().hex[:12]}"


def open_catalogs(
    settings: Settings, clock: Clock, reader: MetadataReader
) -> Mapping[str, Catalog]:
    """The configured catalogs by name; they share the reader, and none is connected yet."""
    workers = settings.scan.workers
    return {
        name: PyIcebergCatalog(
            name,
            catalog.properties,
            clock,
            workers,
            poll_limits(settings.scan.of(name)),
            reader,
            settings.scan.timeout,
        )
        for name, catalog in settings.catalogs.items()
    }


def spark_catalogs(settings: Settings) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Spark's settings for each catalog that can be translated, and why the others cannot.

    Tables of the others are measured and shown, but no job runs on them.
    """
    reachable: dict[str, dict[str, str]] = {}
    reasons: dict[str, str] = {}
    for name, catalog in settings.catalogs.items():
        try:
            reachable[name] = spark_configuration(name, catalog.properties, catalog.spark)
        except ConfigurationError as error:
            reasons[name] = str(error)
    return reachable, reasons


def poll_limits(scan: ScanSettings) -> PollLimits:
    """The bounds for asking a catalog table by table."""
    return PollLimits(
        requests_per_second=scan.requests_per_second,
        concurrency=scan.max_requests,
        min_interval=scan.min_interval,
        max_interval=scan.max_interval,
        growth=scan.interval_growth,
        jitter=scan.interval_jitter,
    )


def open_notifier(settings: NotificationSettings, store: Store, clock: Clock) -> Notifier:
    """The notifier; ConfigurationError when a target is not a URL that Apprise knows."""
    if not settings.targets:
        return NoNotifier()
    return AppriseNotifier(
        NotifierOptions(
            targets=settings.targets,
            kinds=frozenset(settings.kinds),
            titles={
                kind: words.title
                for kind, words in settings.templates.items()
                if words.title is not None
            },
            bodies={
                kind: words.body
                for kind, words in settings.templates.items()
                if words.body is not None
            },
            limits=NoticeLimits(settings.repeat_after, settings.max_per_hour),
        ),
        store,
        clock,
        partial(record_delivery, store, clock),
    )


def run_dir(settings: Settings) -> Path:
    """The directory of Spark's logs and the runner's locks; the settings resolve it."""
    return settings.spark.run_dir or Path("run").absolute()


def spark_options(settings: Settings) -> LocalSparkOptions:
    """The runner's options from the settings."""
    spark = settings.spark
    return LocalSparkOptions(
        master=spark.master,
        driver_memory=spark.driver_memory,
        max_jobs=spark.max_jobs,
        drivers={size: _driver_size(spark, size) for size in JobSize},
        max_memory=spark.max_memory or "",
        idle_timeout=spark.idle_timeout,
        start_timeout=spark.start_timeout,
        driver_host=spark.driver_host or "127.0.0.1",
        java_home=spark.java_home,
        jars_dir=spark.jars_dir or default_directory(),
        conf=mark_settings(
            (catalog.properties for catalog in settings.catalogs.values()),
            let_writers_win=spark.let_writers_win,
        )
        | spark.conf,
    )


def _driver_size(spark: SparkSettings, size: JobSize) -> DriverSize:
    executors = spark.executors_of(size)
    return DriverSize(
        *spark.driver_of(size),
        None
        if executors is None
        else Executors(executors.count, executors.memory, executors.cores),
    )


def scan_options(settings: Settings, *, is_deep: bool = False) -> ScanOptions:
    """The options of a scan from the settings."""
    return ScanOptions(
        is_deep=is_deep,
        remeasure=settings.scan.remeasure,
        rechecks=settings.scan.rechecks,
        timeout=settings.scan.timeout,
    )


def loop_options(settings: Settings) -> ScanOptions:
    """The options of the daemon's scans, which recheck fewer unchanged tables than others do."""
    own = settings.scan
    return replace(
        scan_options(settings), recheck_share=own.recheck_share, recheck_after=own.recheck_after
    )


# -- the loop


def _scan(app: App) -> object:
    try:
        return scan(app.ports, should_stop=app.stopping.is_set, options=loop_options(app.settings))
    finally:
        app.reach.note(app.ports.store)


def make_scheduler(app: App) -> Scheduler:
    """The steps of the loop at their intervals."""
    from maintainer.scheduler import Scheduler, Step  # noqa: PLC0415

    ports, settings = app.ports, app.settings
    steps: tuple[Step, ...] = (
        Step("scan", partial(_scan, app), settings.scan.interval, starts_work=True),
        Step("plan", partial(plan, ports), settings.plan.interval, starts_work=True, after="scan"),
        Step(
            "submit",
            partial(submit, ports),
            settings.submit.interval,
            starts_work=True,
            after="plan",
            after_work_of="watch",
        ),  # a slot is free
        Step(
            "waits",
            partial(record_waits, ports),
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
        Step("tell", partial(resend_notices, ports), RESEND_INTERVAL, starts_work=True),
        Step(
            "prune",
            partial(
                prune,
                ports,
                settings.prune.samples,
                settings.prune.jobs,
                settings.prune.raw_samples,
                settings.prune.hourly_samples,
            ),
            settings.prune.interval,
            starts_work=True,
        ),
    )
    if app.polaris is not None and settings.polaris_policies is not None:
        steps = (
            *steps,
            Step(
                "policies",
                app.polaris.refresh,
                settings.polaris_policies.interval,
                starts_work=True,
            ),
        )
    return Scheduler(steps, ports.telemetry)


# -- the API's services


def make_services(app: App, scheduler: Scheduler) -> Services:
    """The API's services, built from the ports and the steps."""
    from maintainer.api.deps import Services  # noqa: PLC0415

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


def make_impact_model(settings: ImpactSettings) -> ImpactModel:
    """The storage assumptions of the settings, for estimating the cost of small files."""
    profile = StorageProfile(settings.profile) if settings.profile is not None else None
    return ImpactModel(profile, settings.request_price_per_million, settings.round_trip)


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


# -- the demo


def build_demo(directory: Path, say: Callable[[str], None]) -> LakeReport:
    """Build the demo lake, unless it exists already."""
    from maintainer.adapters.demo import SparkLaunch, build_lake, lake_is_complete  # noqa: PLC0415

    if lake_is_complete(directory):  # this needs no Spark
        return build_lake(directory, say, SparkLaunch(sys.executable, "", ()), datetime.now(UTC))
    refuse_missing(find_prerequisites(None, default_directory(), with_s3=False))
    with TemporaryDirectory(prefix="iceberg-maintainer-") as scratch:
        java_home = prepare_home(find_java(None, os.environ), Path(scratch))
        jars = tuple(str(jar) for jar in find_jars(default_directory(), with_s3=False))
        return build_lake(
            directory, say, SparkLaunch(sys.executable, str(java_home), jars), datetime.now(UTC)
        )
