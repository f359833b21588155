"""The reads that a real Spark reports to a real REST catalog are counted by a real daemon.

A proxy before the catalog copies the reports to the daemon, as docs/decisions.md shows it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from maintainer.adapters.spark.jars import default_directory, find_jars
from tests.end_to_end import reading_engine
from tests.end_to_end.programs import Daemon, environment, serving, wait_for
from tests.faulty_proxy import Answer, FaultyProxy, Request, serve_faulty_proxy
from tests.java_servers.iceberg_rest import serve_iceberg_rest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.timeout(300),
]
CONFIGURATION = """
catalogs:
  lake: {{type: rest, uri: '{catalog}'}}
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
auth: {{tokens: {{proxy: {{token: {token}, role: operator, on: [lake]}}}}}}
scan: {{interval: 1s, min_interval: 1s, max_interval: 2s}}
plan: {{interval: 500ms}}
admission: {{gb_hours_per_day: 0.0001}}
"""
POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {small_file_count_above: 2}, options: {min-input-files: 2}}
"""
TOKEN = "a-token-of-the-proxy"  # noqa: S105 - of this test alone
TABLES = ("orders", "clicks")
ENGINES = ("lake", "elsewhere")  # two names of an engine for the same catalog
ROWS = pa.table({"id": pa.array(range(10), pa.int64())})
SECONDS = 60


@dataclass
class Asked(Daemon):
    """A daemon that wants a token, as the proxy has it."""

    def ask(self, path: str, body: bytes | None = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - our own
            f"{self.url}{path}",
            data=body,
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own
            return json.loads(answer.read())


@dataclass
class Site:
    """The daemon, and the proxy between an engine and the catalog."""

    home: Path
    daemon: Asked
    proxy: FaultyProxy
    reports: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, int]] = field(default_factory=list)

    def read(self, *statements: str, query: str = "") -> None:
        """Have Spark run the statements; the proxy copies what it reports to the daemon."""

        def copy(request: Request, ask: Callable[[], Answer]) -> Answer:
            answer = ask()
            if request.method == "POST" and request.path.endswith("/metrics"):
                self.reports.append(json.loads(request.body))
                path = f"/api/v1/metrics-reports{query}"
                self.answers.append(self.daemon.ask(path, request.body))
            return answer

        jars = map(str, find_jars(default_directory()))
        settings = {
            "spark.master": "local[1]",
            "spark.jars": ",".join(jars),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "640m",
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": f"{self.home}/hive",
        }
        for name in ENGINES:
            settings[f"spark.sql.catalog.{name}"] = "org.apache.iceberg.spark.SparkCatalog"
            settings[f"spark.sql.catalog.{name}.type"] = "rest"
            settings[f"spark.sql.catalog.{name}.uri"] = self.proxy.address
        with self.proxy.having(copy):
            done = subprocess.run(
                [sys.executable, reading_engine.__file__],
                input=json.dumps({"settings": settings, "statements": statements}),
                capture_output=True,
                text=True,
                timeout=SECONDS * 3,
                check=False,
                cwd=self.home,
                env=environment(),
            )
        assert done.returncode == 0, done.stderr[-4000:]

    def ranks_orders_first(self) -> bool:
        """Whether the queue has the reads of both tables, the more often read one first."""
        first, second = self.daemon.ask("/api/v1/queue")["items"]
        factors = [
            term["value"]
            for item in (first, second)
            for term in item["admission"]["score"]["terms"]
            if term["name"] == "reads"
        ]
        return first["table"] == "lake.db.orders" and factors == [1 + 3 / 24, 1 + 1 / 24]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("reads")
    database = {"uri": f"jdbc:sqlite:{home}/catalog.db"}
    with (
        serve_iceberg_rest(home / "server", f"file://{home}/lake", database) as upstream,
        serve_faulty_proxy(upstream) as proxy,
    ):
        catalog = load_catalog("lake", type="rest", uri=upstream)
        catalog.create_namespace("db")
        for name in (*TABLES, "notes"):
            table = catalog.create_table(f"db.{name}", ROWS.schema)
            for _ in range(4 if name in TABLES else 1):
                table.append(ROWS)
        catalog.close()
        (home / "policies").mkdir()
        (home / "policies" / "all.yaml").write_text(POLICY)
        (home / "maintainer.yaml").write_text(
            CONFIGURATION.format(home=home, catalog=upstream, token=TOKEN)
        )
        with serving(home) as running:
            daemon = Asked(running.process, running.log, running.url)
            wait_for(
                lambda: daemon.ask("/api/v1/queue")["total"] >= 2,
                SECONDS,
                f"two tables in the queue; said:\n{daemon.said()}",
            )
            yield Site(home, daemon, proxy)
            assert daemon.stop() == 0, daemon.said()


def test_a_scan_of_spark_counts_for_the_table_that_it_has_read(site: Site) -> None:
    read = "SELECT sum(id) FROM lake.db.orders"
    site.read(
        read, read, read, "SELECT * FROM lake.db.clicks", "INSERT INTO lake.db.notes VALUES (7)"
    )
    assert [report["table-name"] for report in site.reports] == [
        *["lake.db.orders"] * 3,
        "lake.db.clicks",
        "lake.db.notes",
    ]
    assert [answer["counted"] for answer in site.answers] == [1, 1, 1, 1, 0], "a commit is no read"
    assert site.reports[-1]["report-type"] == "commit-report"
    tables = {name: site.daemon.ask(f"/api/v1/tables/lake/db/{name}") for name in TABLES}
    assert {name: table["reads_per_day"] for name, table in tables.items()} == {
        "orders": 3,
        "clicks": 1,
    }
    wait_for(site.ranks_orders_first, SECONDS, "the table that is read more often to be first")


def test_an_engine_that_calls_the_catalog_otherwise_names_it_in_the_address(site: Site) -> None:
    def count() -> float:
        return float(site.daemon.ask("/api/v1/tables/lake/db/clicks")["reads_per_day"] or 0)

    before, read = count(), "SELECT * FROM elsewhere.db.clicks"
    site.read(read)
    assert (site.answers[-1], count()) == ({"counted": 0, "left_out": 1}, before)
    site.read(read, query="?catalog=lake")
    assert (site.answers[-1], count()) == ({"counted": 1, "left_out": 0}, before + 1)
