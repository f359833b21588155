"""Requests to other services after jobs, so that programs can reload a changed table."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from string import Template
from typing import Final

from maintainer.adapters.deliveries import MAX_WAITING, Deliveries
from maintainer.domain.effect import Effect
from maintainer.domain.identifier import TablePattern
from maintainer.domain.job import Job

RETRY_WAITS: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1800))
PLACEHOLDERS: Final = frozenset({
    "job", "state", "rule", "table", "catalog", "namespace", "name", "snapshot", "ended_at",
    "sentence",
})  # fmt: skip
_SOURCE: Final = "urn:iceberg-maintainer"
_TYPE: Final = "iceberg-maintainer.job"
_REQUEST_SECONDS: Final = 10.0
_CLOSE_GRACE: Final = timedelta(seconds=2)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Webhook:
    """One receiver; its address and headers may contain secrets."""

    name: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tables: tuple[TablePattern, ...] = (TablePattern("*"),)
    of_all_jobs: bool = False  # False: only of jobs that changed their table
    body: str = ""  # a template; empty: a CloudEvent

    def wants(self, job: Job, effect: Effect | None) -> bool:
        """Return True if this job on one of its tables causes a request."""
        return (self.of_all_jobs or _has_changed(effect)) and any(
            pattern.matches(job.table) for pattern in self.tables
        )


@dataclass(frozen=True, slots=True)
class _Letter:
    webhook: Webhook
    job_id: str
    body: str


class WebhookExporter:
    """Sends requests from a separate thread, and repeats refused requests after RETRY_WAITS."""

    def __init__(
        self, webhooks: Sequence[Webhook], retry_waits: Sequence[timedelta] = RETRY_WAITS
    ) -> None:
        # The settings import this module for its placeholders, without the client.
        import requests  # noqa: PLC0415

        self._webhooks = webhooks
        self._session = requests.Session()
        self._deliveries = Deliveries("webhooks", self._deliver, retry_waits)

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """Steps cause no request."""

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """Queue a job that has reached a final state, for each receiver that wants it."""
        for webhook in self._webhooks:
            if not webhook.wants(job, effect):
                continue
            letter = _Letter(webhook, job.job_id, write_body(webhook, job, effect))
            if not self._deliveries.put(letter):
                _log_refusal(letter, f"{MAX_WAITING} wait", is_lost=True)

    def close(self) -> None:
        """Wait a short time for queued requests; refused requests are tried a last time."""
        self._deliveries.close(_CLOSE_GRACE)

    def _deliver(self, letter: _Letter, _attempt: int, is_last: bool) -> _Letter | None:
        error = self._send(letter)
        if not error:
            return None
        _log_refusal(letter, error, is_lost=is_last)
        return letter

    def _send(self, letter: _Letter) -> str:
        """Send one request; return the reason if it was refused.

        The reason has no address, because an address may contain secrets.
        """
        webhook = letter.webhook
        try:
            answer = self._session.post(
                webhook.url,
                data=letter.body.encode(),
                headers={"content-type": _content_type(webhook), **webhook.headers},
                timeout=_REQUEST_SECONDS,
                allow_redirects=False,  # a redirect could lead to any host
            )
        # No answer of a receiver may end the thread.
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return "" if answer.ok and not answer.is_redirect else f"HTTP {answer.status_code}"


def _log_refusal(letter: _Letter, error: str, *, is_lost: bool) -> None:
    log.warning(
        "webhook.%s webhook=%s job=%s error=%r",
        "lost" if is_lost else "refused",
        letter.webhook.name,
        letter.job_id,
        error,
    )


def _content_type(webhook: Webhook) -> str:
    return "application/json" if webhook.body else "application/cloudevents+json"


def _has_changed(effect: Effect | None) -> bool:
    return effect is not None and bool(
        effect.own_commits
        or effect.snapshots_removed
        or effect.orphans_removed
        or effect.orphans_restored
        or effect.statistics_written
    )


def write_body(webhook: Webhook, job: Job, effect: Effect | None) -> str:
    """The request's body: a CloudEvent in structured mode, or the operator's template.

    In a template each value is written so that it is valid between quotes of JSON.
    """
    after = effect.after.snapshot_id if effect is not None else None
    fields = {
        "job": job.job_id,
        "state": job.state.value,
        "rule": str(job.rule),
        "table": str(job.table),
        "catalog": job.table.catalog,
        "namespace": ".".join(job.table.namespace),
        "name": job.table.name,
        "snapshot": "" if after is None else str(after),
        "ended_at": job.closed_at.astimezone(UTC).isoformat(),
        "sentence": job.failure_message or (effect.sentence if effect is not None else ""),
    }
    if webhook.body:
        quoted = {name: json.dumps(value)[1:-1] for name, value in fields.items()}
        return Template(webhook.body).safe_substitute(quoted)
    return json.dumps({
        "specversion": "1.0",
        "id": job.job_id,
        "source": _SOURCE,
        "type": f"{_TYPE}.{job.state.value}",
        "subject": str(job.table),
        "time": fields["ended_at"],
        "datacontenttype": "application/json",
        "data": fields,
    })  # fmt: skip
