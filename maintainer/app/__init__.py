"""The composition root: the only package that knows every adapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from threading import Event
from uuid import uuid4

from maintainer.adapters.catalog.manifests.fast_reader import slow_reader_reason
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.reader import MetadataReader, ReadCount
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.journal import Journal
from maintainer.adapters.notice_targets import TargetBounds
from maintainer.adapters.notifier import AppriseNotifier, NotifierOptions
from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.launcher.ownership import owner_lives, prune_leftovers
from maintainer.adapters.store import MAX_AGE, open_store
from maintainer.adapters.telemetry.lineage import LineageExporter
from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry
from maintainer.adapters.telemetry.traces import TraceExporter
from maintainer.adapters.telemetry.webhooks import Webhook, WebhookExporter
from maintainer.api.readiness import Reach
from maintainer.app.options import admission_rules, gauge_options, poll_limits, read_limits, run_dir
from maintainer.app.policies import PolicySources, open_policies
from maintainer.app.spark import open_runner, serve_links
from maintainer.app.turns import Turns
from maintainer.domain.errors import ConfigurationError, MaintainerError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.location import Aliases
from maintainer.domain.notice import NoticeLimits
from maintainer.domain.replica import LeaseTerms
from maintainer.ports import Ports
from maintainer.ports.catalog import Catalog
from maintainer.ports.clock import Clock
from maintainer.ports.notifier import NoNotifier, Notifier
from maintainer.ports.store import Store
from maintainer.ports.telemetry import Exporter
from maintainer.settings import NotificationSettings, Settings
from maintainer.settings.loading import POOLS_DIRECTORY
from maintainer.settings.telemetry import WebhookSettings
from maintainer.steps.notices import record_delivery


@dataclass(frozen=True, slots=True)
class App:
    """The whole application, built from one configuration."""

    settings: Settings
    ports: Ports
    telemetry: PrometheusTelemetry
    sources: PolicySources
    turns: Turns
    stopping: Event = field(default_factory=Event)
    reach: Reach = field(default_factory=Reach)
    read: ReadCount = field(default_factory=ReadCount)


class LinkUse(Enum):
    """Whether a process serves the link that drivers on other machines poll."""

    NONE = auto()  # the process starts no driver
    SHARED = auto()  # serve the link if no other process on this machine does
    OWN = auto()


@contextmanager
def open_app(
    settings: Settings, link: LinkUse = LinkUse.NONE, *, migrates: bool = True
) -> Iterator[App]:
    """Build the application; on exit, end Spark and close every connection.

    Without ``migrates``, StoreUnavailableError for a store of another version's schema.
    """
    with ExitStack() as stack:
        clock = SystemClock()
        sources = open_policies(settings)
        stack.callback(sources.close)
        store = open_store(settings.store, migrates=migrates, max_age=MAX_AGE)
        stack.callback(store.close)
        telemetry = PrometheusTelemetry(store, clock, gauge_options(settings))
        telemetry.watch_policies(sources.policies.current)
        exporters = open_exporters(settings, store)
        for exporter in exporters:
            stack.callback(exporter.close)
        journal = Journal(telemetry, exporters)
        reader = MetadataReader(read_limits(settings), journal.manifests_read_slowly)
        stack.callback(reader.close)
        catalogs = open_catalogs(settings, clock, reader)
        for catalog in catalogs.values():
            stack.callback(catalog.close)
        for directory in (run_dir(settings), *run_dir(settings).glob(f"{POOLS_DIRECTORY}/*")):
            prune_leftovers(directory, clock.now())
        reachable, no_runner = spark_catalogs(settings)
        link_ports = (
            stack.enter_context(
                serve_links(settings, store, clock, is_shared=link is LinkUse.SHARED)
            )
            if link is not LinkUse.NONE
            else {}
        )
        runner = open_runner(settings, store, clock, reachable, link_ports)
        # This runs after the runner is closed, when none of its jobs works.
        stack.callback(_lay_down_leases, store, runner.owner, clock, settings.lease.as_terms())
        stack.callback(runner.close)
        for facts in store.spark_facts().values():
            runner.recall(facts)
        turns = Turns(
            store,
            runner.owner,
            catalogs,
            settings.lease.duration,
            is_gone=partial(_is_gone, settings),
        )
        stack.callback(turns.stop)
        telemetry.reader_checked(slow_reader_reason())
        notifier = open_notifier(settings.notifications, store, clock)
        stack.callback(notifier.close)
        rules, terms, stopping = admission_rules(settings), settings.lease.as_terms(), Event()
        ports = Ports(
            catalogs,
            store,
            sources.policies,
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
            sources,
            turns,
            stopping,
            reach=Reach(frozenset(catalogs)),
            read=reader.count,
        )


def _is_gone(settings: Settings, owner: str) -> bool:
    """True if this process was on this machine and has ended."""
    return any(
        owner_lives(run_dir(settings, pool), owner) is False for pool in settings.spark.every_pool
    )


def _lay_down_leases(store: Store, owner: str, clock: Clock, terms: LeaseTerms) -> None:
    """Let other processes take over at once the jobs that this process could not finish."""
    with suppress(MaintainerError):
        store.lay_down_leases(owner, clock.now() - 2 * terms.clock_margin)


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
            Aliases(tuple(catalog.locations.items())),
        )
        for name, catalog in settings.catalogs.items()
    }


def spark_catalogs(settings: Settings) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Spark's settings for each catalog that can be translated, and why the others cannot.

    Tables of the other catalogs are measured and shown, but no job runs on them.
    """
    reachable: dict[str, dict[str, str]] = {}
    reasons: dict[str, str] = {}
    for name, catalog in settings.catalogs.items():
        try:
            reachable[name] = spark_configuration(name, catalog.properties, catalog.spark)
        except ConfigurationError as error:
            reasons[name] = str(error)
    return reachable, reasons


def open_notifier(settings: NotificationSettings, store: Store, clock: Clock) -> Notifier:
    """The notifier; ConfigurationError for a target that is unknown or not allowed."""
    if not settings.targets:
        return NoNotifier()
    return AppriseNotifier(
        NotifierOptions(
            targets=settings.targets,
            bounds=TargetBounds(settings.schemes, settings.hosts),
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


def open_exporters(settings: Settings, store: Store) -> tuple[Exporter, ...]:
    """Return the configured exporters; ConfigurationError if the extra of one is missing."""
    tracing, lineage = settings.tracing, settings.lineage
    found: list[Exporter] = []
    try:
        if tracing is not None:
            found.append(TraceExporter(tracing.endpoint, tracing.headers))
        if lineage is not None:
            locate = partial(_find_location, store)
            found.append(LineageExporter(lineage.url, lineage.api_key, lineage.namespace, locate))
    except ImportError as error:
        raise ConfigurationError(str(error)) from error
    if settings.webhooks:
        found.append(WebhookExporter([_make(*named) for named in settings.webhooks.items()]))
    return tuple(found)


def _make(name: str, settings: WebhookSettings) -> Webhook:
    return Webhook(
        name,
        settings.url,
        settings.headers,
        tuple(map(TablePattern, settings.tables)),
        settings.jobs == "all",
        settings.body,
    )


def _find_location(store: Store, table: TableIdentifier) -> str | None:
    record = store.table(table)
    return None if record is None or record.health is None else record.health.location
