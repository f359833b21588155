"""An API on fakes, and a client that speaks to it in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote

import anyio
import httpx
import pytest
from fastapi import FastAPI

from maintainer.adapters.identity import CookieSealer
from maintainer.api import jobs, policies, tables
from maintainer.api.application import build_api
from maintainer.api.deps import ApiContext, EffectiveSetting, People, Queue
from maintainer.api.guard import AllowedHosts, Limits, Streams
from maintainer.app.api import FleetCache, read_statuses
from maintainer.domain.access import ApiToken
from maintainer.domain.action import Repair, RollBack
from maintainer.domain.errors import MaintainerError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.job import Job
from maintainer.domain.plan import PLANNED, Plan, TablePreview, VerdictChange
from maintainer.domain.policy import (
    Mode,
    PolicyLayer,
    PolicyProblem,
    PolicySet,
    RuleName,
    Setting,
)
from maintainer.domain.policy_version import PolicyChange
from maintainer.measure.impact import ImpactModels
from maintainer.ports import Ports
from maintainer.ports.identity import Sealer
from maintainer.requests.preview import report_small_files, report_storage
from tests.api.nouns import NOW, ORDERS, PLAN, make_job
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.store import FakeStore
from tests.steps.world import World

HOST = "maintainer.test"
_DEFAULTS = {
    "mode": Setting(Mode.OBSERVE, "policies/default.yaml:1"),
    "target_file_size_bytes": Setting(268435456, "policies/default.yaml:2"),
}
LAYERS = PolicySet(
    (
        PolicyLayer("cold.yaml", (TablePattern("lake.archive.*"), TablePattern("*.cold")), {}),
        PolicyLayer("default.yaml", (TablePattern("*"),), _DEFAULTS),
        PolicyLayer("wide.yaml", (TablePattern("*.archive.*"),), {}),
    ),
    (
        PolicyProblem(
            "policies/bad.yaml:3",
            "rules.rewrite_datafiles is not a rule; did you mean rewrite_data_files?",
        ),
    ),
    "v1",
)
Query = Mapping[str, Any]


class FixedPolicies:
    def current(self) -> PolicySet:
        return LAYERS


@dataclass
class Daemon:
    """The process behind the API: fakes on every port, and stand-ins for what asks a catalog."""

    store: FakeStore = field(default_factory=FakeStore)
    previews: list[tuple[TableIdentifier, PolicyLayer | None]] = field(default_factory=list)
    candidates: list[PolicySet] = field(default_factory=list)
    runs: list[tuple[TableIdentifier, tuple[RuleName, ...], str]] = field(default_factory=list)
    rollbacks: list[tuple[str, str]] = field(default_factory=list)
    checks: list[tuple[str, bool, str]] = field(
        default_factory=lambda: [("store", True, "SQLite, schema 1")]
    )
    refusal: MaintainerError | None = None  # raised by every stand-in
    stopping: Event = field(default_factory=Event)
    spark_ui: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, ApiToken] = field(default_factory=dict)
    people: People | None = None
    sealer: Sealer | None = field(default_factory=lambda: CookieSealer(None))
    limits: Limits = field(default_factory=lambda: Limits(1200))
    failures: Limits = field(default_factory=lambda: Limits(1200))
    streams: Streams = field(default_factory=lambda: Streams(8))
    open_metrics: bool = False
    queue: Queue = field(default_factory=lambda: Queue(NOW))
    settings: tuple[EffectiveSetting, ...] = ()
    impact: ImpactModels = field(default_factory=ImpactModels)
    measured_soon: list[TableIdentifier] = field(default_factory=list)
    most_measured: int = 1000
    tried_targets: dict[str, bool] = field(default_factory=dict)
    prefix: str = ""
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))

    def __post_init__(self) -> None:
        self.ports = replace(
            World(store=self.store).ports, policies=FixedPolicies(), clock=self.clock
        )

    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Answer the requests that ask a catalog, and record them."""
        monkeypatch.setattr(tables, "preview", self.preview)
        monkeypatch.setattr(tables, "request_run", self.run)
        monkeypatch.setattr(jobs, "request_rollback", self.roll_back)
        monkeypatch.setattr(policies, "compare_versions", self.compare)
        monkeypatch.setattr(policies, "preview_tables", self.preview_tables)

    def preview(self, _: Ports, table: TableIdentifier, layer: PolicyLayer | None) -> Plan:
        self._refuse()
        self.previews.append((table, layer))
        return PLAN

    def run(
        self, _: Ports, table: TableIdentifier, rules: tuple[RuleName, ...], requested_by: str
    ) -> tuple[Plan, Job | None]:
        self._refuse()
        self.runs.append((table, rules, requested_by))
        return PLAN, make_job(table=table)

    def roll_back(self, _: Ports, job: Job, requested_by: str) -> Job:
        self._refuse()
        self.rollbacks.append((job.job_id, requested_by))
        action = RollBack(1, job.job_id, 2)
        return replace(
            make_job("job-3", job.table),
            rule=Repair.ROLL_BACK,
            action=action,
            requested_by=requested_by,
        )

    def compare(self, _: Ports, before: str, after: str) -> tuple[PolicyChange, ...]:
        self._refuse()
        return (PolicyChange("cold.yaml", "priority", before, after, "policies/cold.yaml:2"),)

    def preview_tables(
        self, _: Ports, candidate: PolicySet, page: Sequence[TableIdentifier]
    ) -> Iterator[TablePreview]:
        self._refuse()
        self.candidates.append(candidate)
        for table in page:
            change = VerdictChange(
                RuleName.REWRITE_DATA_FILES,
                "observe_only",
                PLANNED,
                "observed",
                "600 files would become 1",
                0.25,
            )
            yield (
                TablePreview(table, unmeasured="not scanned")
                if table.name == "new"
                else TablePreview(table, (change,) if table == ORDERS else ())
            )

    def measure_soon(self, table: TableIdentifier) -> bool:
        if len(self.measured_soon) >= self.most_measured:
            return False
        self.measured_soon.append(table)
        return True

    def _refuse(self) -> None:
        if self.refusal:
            raise self.refusal

    def context(self) -> ApiContext:
        return ApiContext(
            ports=self.ports,
            catalogs={"lake": "sql", "ice": "rest"},
            readiness=lambda: self.checks,
            metrics=lambda: (
                b"maintainer_tables 1.0\n",
                "text/plain; version=0.0.4; charset=utf-8",
            ),
            queue=lambda: self.queue,
            measure_soon=self.measure_soon,
            try_targets=lambda: self.tried_targets,
            stopping=self.stopping,
            spark_ui=self.spark_ui,
            tokens=self.tokens,
            people=self.people,
            sealer=self.sealer,
            limits=self.limits,
            failures=self.failures,
            streams=self.streams,
            open_metrics=self.open_metrics,
            hosts=AllowedHosts.of("127.0.0.1", (HOST,)),
            settings=self.settings,
            impact=self.impact,
            statuses=FleetCache(
                partial(read_statuses, self.ports, lambda: self.queue),
                self.ports.clock,
                timedelta(0),
            ).read,
            report=FleetCache(
                partial(report_small_files, self.store, self.impact), self.ports.clock
            ).read,
            storage=FleetCache(
                partial(report_storage, self.store, self.impact, ("ice", "lake")),
                self.ports.clock,
            ).read,
            prefix=self.prefix,
        )


@cache
def _first() -> FastAPI:
    return build_api(Daemon().context())


def job_of(store: FakeStore, job_id: str) -> Job:
    job = store.job(job_id)
    assert job is not None
    return job


@dataclass
class Client:
    """Sends requests to the ASGI application; raise_errors False, as a server would answer."""

    daemon: Daemon = field(default_factory=Daemon)
    page: Path = Path("/nowhere")

    @cached_property
    def api(self) -> FastAPI:
        """Built at the first request. Its routes and its document are those of every client: they
        know nothing of a daemon, and FastAPI resolves the parameters of each route only once.
        """
        api = build_api(self.daemon.context(), self.page)
        api.router.routes[:] = _first().router.routes
        api.openapi = _first().openapi  # type: ignore[method-assign]
        return api

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        transport = httpx.ASGITransport(self.api, raise_app_exceptions=False)

        async def talk() -> httpx.Response:
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await client.request(
                    method, path, headers=dict(headers or {}), content=content, params=query
                )

        return anyio.run(talk)

    def get(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        /,
        **query: Any,
    ) -> httpx.Response:
        return self.send("GET", path, headers, query=query or None)

    def post(
        self, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        if body is None:
            return self.send("POST", path, headers)
        return self.send(
            "POST",
            path,
            {"Content-Type": "application/json", **(headers or {})},
            json.dumps(body).encode(),
        )


def path_of(table: TableIdentifier) -> str:
    return "/api/v1/tables/" + "/".join(
        quote(part, safe="") for part in (table.catalog, table.namespace_text, table.name)
    )


def expect_problem(response: httpx.Response, status: int) -> str:
    """The detail of the problem that the response must be."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["title"]
    assert "Traceback" not in response.text
    return str(problem["detail"])
