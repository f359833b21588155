"""Bad days of a REST catalog, with a daemon and its Spark at work, and another catalog beside it.

One daemon, one Spark and one server are for all tests. Each test ends with the catalog whole again
and shows that everything has recovered by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog

from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.faulty_proxy import Answer, FaultyProxy, Request, serve_faulty_proxy
from tests.java_servers.iceberg_rest import serve_iceberg_rest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("bad-days"),
]

CONFIGURATION = """
catalogs:
  moody: {{type: rest, uri: '{moody}', credential: 'maintainer:secret'}}
  steady: {{type: sql, uri: 'sqlite:///{home}/steady.db', warehouse: 'file://{home}/steady'}}
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
scan: {{interval: 1s, min_interval: 1s, max_interval: 2s}}
plan: {{interval: 500ms}}
submit: {{interval: 500ms}}
watch: {{interval: 500ms}}
review: {{interval: 500ms}}
spark: {{max_jobs: 1, driver_memory: 1g}}
"""
POLICY = """
tables: "*"
mode: observe
rules:
  rewrite_data_files: {options: {min-input-files: 2}}
"""
ROWS = pa.table({"id": pa.array(range(10), pa.int64())})
APPENDS = 4
SECONDS = 60  # for what takes one or two
JOB_SECONDS = 120
Ask = Callable[[], Answer]


@dataclass
class Site:
    """The daemon, the proxy before its one catalog, and both catalogs as writers see them."""

    daemon: Daemon
    proxy: FaultyProxy
    moody: Catalog
    steady: Catalog

    def make(self, catalog: Catalog, name: str) -> None:
        """A table of small files, which the daemon has measured."""
        table = catalog.create_table(f"db.{name}", ROWS.schema)
        for _ in range(APPENDS):
            table.append(ROWS)
        self.await_files(f"{catalog.name}/db/{name}", APPENDS)

    def table(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.daemon.get(f"/api/v1/tables/{path}")
        return found

    def await_files(self, path: str, files: int) -> None:
        """Until a scan has found so many data files."""
        names = path.replace("/", ".")

        def is_measured() -> bool:
            listed = {one["table"]: one for one in self.daemon.get("/api/v1/tables")["items"]}
            return names in listed and listed[names]["data_files"] == files

        wait_for(is_measured, SECONDS, f"{path} with {files} files; said:\n{self.daemon.said()}")

    def prove_steady(self) -> None:
        """The other catalog is scanned as always."""
        table = self.steady.load_table("db.orders")
        table.append(ROWS)
        self.await_files("steady/db/orders", table.inspect.files().num_rows)

    def faults(self, catalog: str) -> list[str]:
        (found,) = (one for one in self.daemon.get("/api/v1/catalogs") if one["name"] == catalog)
        return [one["reason"] for one in found["faults"]]

    def await_fault(self, words: str) -> None:
        """Until the trouble is shown: of the catalog, in the inbox and as a metric."""
        wait_for(
            lambda: any(words in reason for reason in self.faults("moody")),
            SECONDS,
            f"{words!r}; the faults are {self.faults('moody')}",
        )
        entries = self.daemon.get("/api/v1/inbox")["items"]
        assert any(words in entry["sentence"] for entry in entries), entries
        assert self.metric("maintainer_catalog_faults", "moody") >= 1
        assert self.metric("maintainer_catalog_faults", "steady") == 0
        assert self.faults("steady") == []

    def await_recovery(self) -> None:
        """Until nothing is wrong any more, and what was written meanwhile is measured."""
        wait_for(
            lambda: not self.faults("moody"),
            SECONDS,
            f"no fault; said:\n{self.daemon.said()}",
        )
        table = self.moody.load_table("db.orders")
        table.append(ROWS)
        self.await_files("moody/db/orders", table.inspect.files().num_rows)
        assert self.table("moody/db/orders")["fault"] is None

    def metric(self, name: str, catalog: str) -> float:
        text = self.daemon.get("/metrics")
        found = re.search(rf'^{name}{{catalog="{catalog}"}} (\S+)$', text, re.MULTILINE)
        assert found is not None, name
        return float(found[1])

    def known(self) -> set[str]:
        return {one["table"] for one in self.daemon.get("/api/v1/tables")["items"]}

    def run(self, path: str) -> str:
        """Ask for a rewrite; returns the job's id."""
        accepted = self.daemon.post(f"/api/v1/tables/{path}/run", {"rules": ["rewrite_data_files"]})
        (job,) = accepted["jobs"]
        return str(job["job_id"])

    def await_end(self, job_id: str) -> dict[str, Any]:
        def ended() -> dict[str, Any] | None:
            job: dict[str, Any] = self.daemon.get(f"/api/v1/jobs/{job_id}")
            return job if job["state"] in {"succeeded", "failed", "cancelled"} else None

        return wait_for(ended, JOB_SECONDS, f"its end; said:\n{self.daemon.said()}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("bad-days")
    database = {"uri": f"jdbc:sqlite:{home}/moody.db"}
    with (
        serve_iceberg_rest(home / "server", f"file://{home}/moody", database) as upstream,
        serve_faulty_proxy(upstream) as proxy,
    ):
        moody = load_catalog("moody", type="rest", uri=upstream)
        steady = load_catalog(
            "steady",
            type="sql",
            uri=f"sqlite:///{home}/steady.db",
            warehouse=f"file://{home}/steady",
        )
        for catalog in (moody, steady):
            catalog.create_namespace("db")
        (home / "policies").mkdir()
        (home / "policies" / "all.yaml").write_text(POLICY)
        text = CONFIGURATION.format(home=home, moody=proxy.address)
        (home / "maintainer.yaml").write_text(text)
        with serving(home) as daemon:
            opened = Site(daemon, proxy, moody, steady)
            for catalog in (moody, steady):
                opened.make(catalog, "orders")
            yield opened
            assert daemon.stop() == 0, daemon.said()
            assert "Traceback" not in daemon.said()
        for catalog in (moody, steady):
            catalog.close()


def answer_error(status: int, kind: str, **headers: str) -> Answer:
    error = {"message": "not today", "type": kind, "code": status}
    return Answer(status, json.dumps({"error": error}).encode(), headers)


def test_a_catalog_that_answers_500_is_shown_and_forgets_no_table(site: Site) -> None:
    before = site.known()
    with site.proxy.having(lambda *_: answer_error(500, "InternalServerError")):
        site.await_fault("not today")
        site.prove_steady()
        assert site.metric("maintainer_catalog_up", "moody") == 0
        assert site.known() == before
    site.await_recovery()


def test_a_catalog_that_answers_half_of_its_json_is_shown(site: Site) -> None:
    def cut(_: Request, ask: Ask) -> Answer:
        answer = ask()
        return Answer(answer.status, answer.body[: len(answer.body) // 2], answer.headers)

    before = site.known()
    with site.proxy.having(cut):
        site.await_fault("the catalog's answer is not valid")
        site.prove_steady()
        assert site.known() == before
    site.await_recovery()


def test_a_catalog_that_wants_to_be_left_alone_is_asked_when_it_says(site: Site) -> None:
    refused: list[str] = []

    def defer(request: Request, ask: Ask) -> Answer:
        if request.path in refused:
            return ask()
        refused.append(request.path)
        return answer_error(429, "TooManyRequestsException", **{"Retry-After": "1"})

    with site.proxy.having(defer):
        table = site.moody.load_table("db.orders")
        table.append(ROWS)
        site.await_files("moody/db/orders", table.inspect.files().num_rows)
        site.prove_steady()
        assert refused
        assert site.faults("moody") == [], "it was waited for"
    site.await_recovery()


def test_a_catalog_that_answers_late_does_not_keep_the_other_waiting(site: Site) -> None:
    """The answers come when the other catalog was scanned again."""
    late = Event()

    def hold(_: Request, ask: Ask) -> Answer:
        late.wait(SECONDS)
        return ask()

    with site.proxy.having(hold):
        try:
            wait_for(lambda: site.proxy.waiting > 0, SECONDS, "a request that waits")
            site.prove_steady()
            site.prove_steady()
        finally:
            late.set()
        wait_for(lambda: site.proxy.met > 0, SECONDS, "a late answer")
    site.await_recovery()


def test_a_namespace_that_is_empty_by_mistake_loses_no_table(site: Site) -> None:
    def empty(request: Request, ask: Ask) -> Answer:
        if request.path.endswith("/namespaces/db/tables"):
            return Answer(200, b'{"identifiers": []}', {"Content-Type": "application/json"})
        return ask()

    before = site.known()
    with site.proxy.having(empty):
        site.await_fault("no table of db is listed, but moody.db.orders is not gone")
        site.prove_steady()
        assert site.known() == before
    site.await_recovery()


def is_commit_of_rewrite(request: Request) -> bool:
    return request.method == "POST" and b'"operation":"replace"' in request.body


def prove_one_rewrite(site: Site, name: str, job_id: str) -> None:
    """The table has one commit of the job beside the appends, and all rows."""
    table = site.moody.load_table(f"db.{name}")
    operations = [one.summary.operation.value for one in table.snapshots() if one.summary]
    assert operations == ["append"] * APPENDS + ["replace"]
    assert table.scan().to_arrow().num_rows == APPENDS * ROWS.num_rows
    story = site.daemon.story(job_id)
    assert [story.count(name) for name in ("job.submitted", "spark.submitted")] == [1, 1], story


@pytest.mark.parametrize("is_broken", [False, True], ids=["504", "connection"])
def test_guard_24_a_commit_that_happened_without_an_answer_is_proved_and_not_repeated(
    site: Site, *, is_broken: bool
) -> None:
    name = "broken" if is_broken else "unanswered"
    site.make(site.moody, name)
    lost: list[int] = []

    def lose(request: Request, ask: Ask) -> Answer | None:
        answer = ask()
        if not is_commit_of_rewrite(request):
            return answer
        lost.append(answer.status)
        return None if is_broken else answer_error(504, "GatewayTimeoutException")

    with site.proxy.having(lose):
        job_id = site.run(f"moody/db/{name}")
        job = site.await_end(job_id)
    assert lost[0] == 200, "it happened"
    assert job["state"] == "succeeded", job["failure_message"]
    prove_one_rewrite(site, name, job_id)
    site.prove_steady()
    site.await_recovery()


def test_a_commit_that_is_put_off_is_made_when_the_catalog_says(site: Site) -> None:
    site.make(site.moody, "deferred")
    deferred: list[bytes] = []

    def defer(request: Request, ask: Ask) -> Answer:
        if is_commit_of_rewrite(request) and not deferred:
            deferred.append(request.body)
            return answer_error(429, "TooManyRequestsException", **{"Retry-After": "1"})
        return ask()

    with site.proxy.having(defer):
        job_id = site.run("moody/db/deferred")
        job = site.await_end(job_id)
    assert deferred
    assert job["state"] == "succeeded", job["failure_message"]
    prove_one_rewrite(site, "deferred", job_id)


def test_a_token_that_ends_in_the_middle_of_a_job_fails_it_and_the_next_one_succeeds(
    site: Site,
) -> None:
    site.make(site.moody, "expired")
    ended: set[str] = set()

    def refuse(request: Request, ask: Ask) -> Answer:
        if is_commit_of_rewrite(request) and not ended:
            ended.update(one.authorization for one in site.proxy.asked)
        if request.authorization in ended:
            return answer_error(401, "NotAuthorizedException")
        return ask()

    # The token stays refused: daemon and Spark must fetch another one.
    with site.proxy.having(refuse):
        job = site.await_end(site.run("moody/db/expired"))
        assert ended
        site.prove_steady()
        assert (job["state"], job["failure_reason"]) == ("failed", "permission"), job
        job = site.await_end(site.run("moody/db/expired"))
        assert job["state"] == "succeeded", job["failure_message"]
        site.await_recovery()
    prove_one_rewrite(site, "expired", job["job_id"])
