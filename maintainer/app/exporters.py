"""Opens the exporters that the settings name: traces, lineage and webhooks."""

from __future__ import annotations

from functools import partial

from maintainer.adapters.telemetry.lineage import LineageExporter
from maintainer.adapters.telemetry.traces import TraceExporter
from maintainer.adapters.telemetry.webhooks import Webhook, WebhookExporter
from maintainer.domain.errors import ConfigurationError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.ports.store import Store
from maintainer.ports.telemetry import Exporter
from maintainer.settings import Settings
from maintainer.settings.telemetry import WebhookSettings


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
