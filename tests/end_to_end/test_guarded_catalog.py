"""A REST catalog that is guarded in each way at once, with a daemon and its Spark at work.

It is reached by TLS under an authority of the test, through a proxy that asks for a password, since
nothing but the proxy knows its name. Its tokens end after seconds, so that a job needs several. It
vends the keys of the storage, which checks each signature.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
import trustme
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField

from maintainer.domain.identifier import TableIdentifier
from tests.amazon import REGION
from tests.connect_proxy import ConnectProxy, serve_connect_proxy
from tests.end_to_end.outliving import find_ended
from tests.end_to_end.planted import dump, events, read_answers, read_below
from tests.end_to_end.programs import Daemon, environment, run, serving, wait_for
from tests.faulty_proxy import Answer, FaultyProxy, Request, serve_faulty_proxy
from tests.java_servers.iceberg_rest import serve_iceberg_rest
from tests.java_servers.s3 import serve_s3

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(400)]

NAME = "catalog.test"  # which no server of names has
LIFE_SECONDS = 12  # of a token; Iceberg fetches another one when a tenth of that is left
PARTS, APPENDS = 3, 3
TABLE = TableIdentifier("guarded", ("db",), "orders")
SECONDS = 90
JOB_SECONDS = 240
PLANTED = {
    "client's secret": "planted-client-secret",
    "access token": "planted-access-token",
    "vended key": "planted-vended-key",
    "vended secret": "planted-vended-secret",
    "proxy's password": "planted-proxy-password",
}
CONFIGURATION = """
catalogs:
  guarded:
    type: rest
    uri: 'https://{name}'
    credential: 'maintainer:planted-client-secret'
    oauth2-server-uri: 'https://{name}/v1/oauth/tokens'
    ssl.cabundle: '{home}/authority.pem'
    s3.endpoint: '{storage}'
    s3.region: {region}
    s3.path-style-access: 'true'
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
scan: {{interval: 1s, min_interval: 1s, max_interval: 2s}}
plan: {{interval: 500ms}}
submit: {{interval: 500ms}}
watch: {{interval: 500ms}}
review: {{interval: 500ms}}
spark:
  max_jobs: 1
  driver_memory: 1g
  conf:
    spark.eventLog.enabled: 'true'
    spark.eventLog.dir: 'file://{home}/events'
    spark.eventLog.compress: 'false'
"""
POLICY = f"""
tables: "*"
mode: observe
rules:
  rewrite_data_files:
    options:
      min-input-files: 2
      partial-progress.enabled: true
      partial-progress.max-commits: {PARTS}
      max-concurrent-file-group-rewrites: 1
"""
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", LongType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
ROWS = pa.table({"id": range(40), "part": [number % PARTS for number in range(40)]})


@dataclass
class Guard:
    """Lets requests through whose token is valid; a rewrite's commit takes longer than a token."""

    gate: FaultyProxy
    committed_with: list[str] = field(default_factory=list)  # the token of each commit of the job
    refused: int = 0
    holds: Event = field(default_factory=Event)
    goes_on: Event = field(default_factory=Event)

    def __call__(self, request: Request, ask: Callable[[], Answer]) -> Answer:
        if not self.gate.is_valid(request.authorization):
            self.refused += 1
            error = {"message": "no", "type": "NotAuthorizedException", "code": 401}
            return Answer(401, json.dumps({"error": error}).encode())
        if request.method == "POST" and b'"operation":"replace"' in request.body:
            self.committed_with.append(request.authorization)
            self.holds.set()
            assert self.goes_on.wait(JOB_SECONDS)
            wait_for(
                lambda: not self.gate.is_valid(request.authorization),
                2 * LIFE_SECONDS,
                "the end of the token",
            )
        return vend(ask())


def vend(answer: Answer) -> Answer:
    """Add the keys of the storage to what a client learns about a table."""
    if b'"metadata-location"' not in answer.body:
        return answer
    content = json.loads(answer.body)
    content["config"] = {
        **content.get("config", {}),
        "s3.access-key-id": PLANTED["vended key"],
        "s3.secret-access-key": PLANTED["vended secret"],
    }
    return replace(answer, body=json.dumps(content).encode())


@dataclass
class Site:
    """The daemon, what guards its catalog, and the catalog as a writer sees it."""

    home: Path
    daemon: Daemon
    guard: Guard
    proxy: ConnectProxy
    writer: Catalog
    surroundings: dict[str, str]  # variables of the daemon
    job: dict[str, Any] = field(default_factory=dict)
    processes: dict[str, str] = field(default_factory=dict)

    def await_files(self, name: str, files: int) -> None:
        """Until a scan has found so many data files."""

        def is_measured() -> bool:
            listed = {one["table"]: one for one in self.daemon.get("/api/v1/tables")["items"]}
            full = f"guarded.db.{name}"
            return full in listed and listed[full]["data_files"] == files

        wait_for(is_measured, SECONDS, f"{files} files of {name}; said:\n{self.daemon.said()}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("guarded")
    for name in ("policies", "events"):
        (home / name).mkdir()
    (home / "policies" / "all.yaml").write_text(POLICY)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(home / "authority.pem"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME).configure_cert(tls)
    key, secret = PLANTED["vended key"], PLANTED["vended secret"]
    servers = home.parent / "guarded-servers"
    with serve_s3(servers / "s3", key, secret) as storage:
        (servers / "s3" / "objects" / "lake").mkdir()
        keys = {"s3.endpoint": storage, "s3.access-key-id": key, "s3.secret-access-key": secret}
        server = {
            "uri": f"jdbc:sqlite:{servers}/catalog.db",
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "client.region": REGION,
            "http-client.type": "urlconnection",
            "s3.path-style-access": "true",
            **keys,
        }
        with (
            serve_iceberg_rest(servers / "rest", "s3://lake/warehouse", server) as upstream,
            serve_faulty_proxy(
                upstream, tls, LIFE_SECONDS, tokens_of=PLANTED["access token"]
            ) as gate,
            serve_connect_proxy(
                {f"{NAME}:443": gate.server_port}, "user", PLANTED["proxy's password"]
            ) as proxy,
        ):
            writer = load_catalog(
                "guarded", type="rest", uri=upstream, **keys, **{"s3.region": REGION}
            )
            writer.create_namespace("db")
            for name in ("orders", "others"):
                table = writer.create_table(f"db.{name}", SCHEMA, partition_spec=BY_PART)
                for _ in range(APPENDS):
                    table.append(ROWS)
            text = CONFIGURATION.format(home=home, name=NAME, storage=storage, region=REGION)
            (home / "maintainer.yaml").write_text(text)
            guard = Guard(gate)
            surroundings = {"https_proxy": proxy.address, "NO_PROXY": "", "no_proxy": ""}
            with gate.having(guard), serving(home, **surroundings) as daemon:
                opened = Site(home, daemon, guard, proxy, writer, surroundings)
                work(opened)
                yield opened
                assert daemon.stop() == 0, daemon.said()
                assert "Traceback" not in daemon.said()
            writer.close()


def work(site: Site) -> None:
    """One job that needs several tokens, and a scan in its middle."""
    site.await_files("orders", PARTS * APPENDS)
    accepted = site.daemon.post(
        "/api/v1/tables/guarded/db/orders/run", {"rules": ["rewrite_data_files"]}
    )
    (job,) = accepted["jobs"]
    wait_for(
        lambda: site.guard.holds.is_set() or find_ended(site.daemon, job["job_id"]),
        JOB_SECONDS,
        f"the first commit; said:\n{site.daemon.said()}",
    )
    site.processes = read_below(site.daemon)
    site.writer.load_table("db.others").append(ROWS)
    site.await_files("others", PARTS * (APPENDS + 1))
    assert find_ended(site.daemon, job["job_id"]) is None, "it runs all the while"
    site.guard.goes_on.set()
    site.job = wait_for(
        lambda: find_ended(site.daemon, job["job_id"]),
        JOB_SECONDS,
        f"the end of the job; said:\n{site.daemon.said()}",
    )


def test_a_job_outlives_several_tokens(site: Site) -> None:
    assert site.job["state"] == "succeeded", site.job["failure_message"]
    tokens = set(site.guard.committed_with)
    assert len(tokens) >= PARTS, "Spark fetched a new token for each commit"
    operations = [
        one.summary.operation.value
        for one in site.writer.load_table("db.orders").snapshots()
        if one.summary
    ]
    assert operations == ["append"] * APPENDS + ["replace"] * PARTS
    table = site.writer.load_table("db.orders")
    assert table.inspect.files().num_rows == PARTS
    rows = table.scan().to_arrow()
    assert sorted(rows["id"].to_pylist()) == sorted(ROWS["id"].to_pylist() * APPENDS)


def test_both_clients_reach_the_catalog_through_the_proxy(site: Site) -> None:
    of_spark = [one for one in site.proxy.clients if one.startswith("Apache-HttpClient")]
    assert of_spark
    assert len(of_spark) < len(site.proxy.clients), "and the daemon's"


def test_doctor_reaches_the_catalog_and_says_what_is_wrong_without_secrets(site: Site) -> None:
    fine = run("doctor", cwd=site.home, env=environment(**site.surroundings))
    assert fine.returncode == 0, fine.stdout + fine.stderr
    wrong = {"https_proxy": site.proxy.address.replace(PLANTED["proxy's password"], "guessed")}
    refused = run("doctor", cwd=site.home, env=environment(**site.surroundings | wrong))
    assert refused.returncode == 1
    assert "proxy" in refused.stdout, refused.stdout
    said = fine.stdout + fine.stderr + refused.stdout + refused.stderr
    assert [what for what, secret in PLANTED.items() if secret in said] == []
    assert "guessed" not in said


def test_planted_secrets_are_nowhere(site: Site) -> None:
    assert PLANTED["access token"] in site.guard.committed_with[0]
    texts = site.processes | read_answers(site.daemon, site.job["job_id"], TABLE)
    texts |= {"the daemon's log": site.daemon.said(), "the store": dump(site.home / "store.db")}
    texts |= {f"event log {path.name}": path.read_text() for path in events(site.home)}
    texts |= {
        str(path.relative_to(site.home)): path.read_text(errors="replace")
        for path in site.home.rglob("*.log")
    }
    assert [
        f"{what} in {where}"
        for where, text in texts.items()
        for what, secret in PLANTED.items()
        if secret in text
        # Where the daemon has it from, and its children their variables.
        and not (what == "proxy's password" and where.startswith("environ"))
    ] == []
