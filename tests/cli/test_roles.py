"""The roles of replicas: what each serves and runs, and who may migrate the store."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from maintainer.adapters.spark.link.http.tokens import make_token, start_tokens
from maintainer.adapters.store import open_store
from maintainer.api.application import build_api, build_probes
from maintainer.app import App, open_app
from maintainer.app.api import make_context
from maintainer.app.loop import make_idle_scheduler, make_scheduler
from maintainer.cli import commands
from maintainer.cli.setup.roles import Role
from maintainer.cli.setup.serve import serve
from maintainer.domain.errors import ConfigurationError, StoreUnavailableError
from maintainer.ports.store.drivers import DriverRecord
from maintainer.settings import Settings, load_settings
from maintainer.steps.isolation import Abandoned
from tests.adapters.catalog.lake import Lake, rows
from tests.adapters.spark.link.polls import body
from tests.api.listening import DEADLINE_SECONDS
from tests.end_to_end.programs import serving, wait_for


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(write(tmp_path), {})


def write(directory: Path) -> Path:
    file = directory / "maintainer.yaml"
    file.write_text(
        "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}}\n"
    )
    return file


@pytest.fixture
def app(settings: Settings) -> Iterator[App]:
    with open_app(settings) as opened:
        yield opened


def test_a_replica_without_steps_is_ready_when_its_store_is(app: App) -> None:
    context = make_context(app, make_idle_scheduler(app))
    assert [name for name, _, _ in context.readiness()] == ["store"]
    assert set(read_leader(app).values()) == {0.0}
    assert app.ports.store.duties() == ()


@pytest.mark.parametrize(("running", "is_ready"), [(1, True), (4, False)])
def test_work_that_runs_on_after_its_limit_is_shown_until_nothing_else_begins(
    app: App, monkeypatch: pytest.MonkeyPatch, running: int, is_ready: bool
) -> None:
    context, released = make_context(app, make_idle_scheduler(app)), threading.Event()
    abandoned = Abandoned()
    monkeypatch.setattr("maintainer.app.api.ABANDONED", abandoned)
    for number in range(running):
        thread = threading.Thread(target=released.wait, args=(DEADLINE_SECONDS,))
        thread.start()
        abandoned.add(f"planning lake.a.t{number}", thread)
    try:
        _, (name, is_ok, sentence) = context.readiness()
    finally:
        released.set()
    assert (name, is_ok) == ("work", is_ready)
    assert sentence.startswith("still runs after its time limit: planning lake.a.t0")


def read_leader(app: App) -> dict[str, float]:
    """The duties, and whether this process has them, by its metrics."""
    return {
        f"{sample.labels['duty']} {sample.labels['catalog']}".rstrip(): sample.value
        for family in app.telemetry.registry.collect()
        if family.name == "maintainer_leader"
        for sample in family.samples
    }


def test_a_replica_alone_has_every_duty_and_gives_all_back(app: App) -> None:
    scheduler = make_scheduler(app)
    assert set(read_leader(app).values()) == {0.0}
    assert scheduler.run_step("scan lake")
    assert read_leader(app) == dict.fromkeys(
        ("notices", "plan lake", "policy_status", "prune", "queue", "scan lake"), 1.0
    )
    sentences = {name: sentence for name, _, sentence in make_context(app, scheduler).readiness()}
    assert sentences["leader"] == "notices, plan lake, policy_status, prune, queue, scan lake"
    app.turns.stop()
    assert app.ports.store.duties() == ()
    assert set(read_leader(app).values()) == {0.0}


def test_of_two_replicas_one_scans_and_the_other_goes_on_when_it_ends(
    app: App, settings: Settings
) -> None:
    with open_app(settings) as other:
        for replica in (app, other):
            assert make_scheduler(replica).run_step("scan lake")
        assert read_leader(app)["scan lake"] == 1
        assert str(other.turns) == "none: other replicas have them"
        assert set(read_leader(other).values()) == {0.0}
        app.turns.stop()
        other.turns.take()
        assert set(read_leader(other).values()) == {1.0}


def test_a_worker_serves_probes_and_metrics_alone(app: App) -> None:
    context = make_context(app, make_idle_scheduler(app))
    worker = TestClient(build_probes(context), base_url="http://127.0.0.1")
    whole = TestClient(build_api(context), base_url="http://127.0.0.1")
    paths = ("/livez", "/readyz", "/metrics", "/api/v1/overview", "/docs", "/openapi.json")
    assert [worker.get(path).status_code for path in paths] == [200, 200, 200, 404, 404, 404]
    assert [whole.get(path).status_code for path in paths] == [200] * 6
    foreign = TestClient(build_probes(context), base_url="http://other.example")
    assert foreign.get("/livez").status_code == 421


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ALL])
def test_a_replica_with_a_role_does_not_migrate_the_store(role: Role, settings: Settings) -> None:
    if role is Role.LINK:
        with pytest.raises(ConfigurationError, match=r"the role link serves spark\.link"):
            serve(settings, role)
        return
    with pytest.raises(StoreUnavailableError, match="run `maintainer store migrate` first"):
        serve(settings.model_copy(update={"server": any_port(settings)}), role)


def any_port(settings: Settings) -> object:
    return settings.server.model_copy(update={"port": 0})


def run(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(
        commands.application, ["--config", str(tmp_path / "maintainer.yaml"), *arguments]
    )
    return done.exit_code, done.output


def test_the_wait_for_the_schema_ends_with_the_migration(
    settings: Settings, tmp_path: Path
) -> None:
    code, output = run(tmp_path, "store", "wait", "--timeout", "0s")
    assert (code, "does not yet have this version's schema" in output) == (1, True)
    # In this process one command runs at a time: the runner replaces the standard output.
    migration = threading.Thread(
        target=lambda: open_store(settings.store, migrates=True).close(), name="migration"
    )
    migration.start()
    code, _ = run(tmp_path, "store", "wait", "--timeout", "60s")
    migration.join(60)
    assert code == 0
    open_store(settings.store, migrates=False).close()
    first, second = (run(tmp_path, "store", "migrate") for _ in range(2))
    assert first == second == (0, first[1]), "there is nothing left to migrate"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_an_api_needs_no_access_to_the_cluster_of_the_drivers(tmp_path: Path) -> None:
    """Its pod has neither a token nor the key of the link's certificate."""
    file = write(tmp_path)
    file.write_text(
        file.read_text() + "spark:\n"
        "  runner: kubernetes\n"
        "  kubernetes: {namespace: jobs, image: maintainer}\n"
        "  link: {address: 'https://link:8090', certificate: crt, key: key, authority: ca}\n"
    )
    (tmp_path / "ca").write_text("authority")
    open_store(load_settings(file, {}).store).close()
    with serving(tmp_path, "--role", "api", KUBECONFIG=str(tmp_path / "none")) as api:
        assert api.get("/readyz")["is_ready"]
        assert api.stop() == 0


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_a_worker_measures_is_served_by_the_api(settings: Settings, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.make_table("sales", "orders").append(rows(1))
    lake.close()
    open_store(settings.store).close()
    with serving(tmp_path, "--role", "worker") as worker, serving(tmp_path, "--role", "api") as api:
        found = wait_for(lambda: api.get("/api/v1/tables")["items"], 60, "the table")
        assert [each["table"] for each in found] == ["lake.sales.orders"]
        assert api.get("/readyz")["checks"][0]["name"] == "store"
        assert {each["name"] for each in worker.get("/readyz")["checks"]} >= {
            "catalogs",
            "scan lake",
        }
        with closing(open_store(settings.store)) as store:
            assert {f"-{worker.process.pid}-" in held.holder for held in store.duties()} == {True}
        assert 'maintainer_leader{catalog="lake",duty="scan"} 1.0' in worker.get("/metrics")
        assert 'maintainer_leader{catalog="lake",duty="scan"} 0.0' in api.get("/metrics")
        assert (api.stop(), worker.stop()) == (0, 0)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_link_answers_drivers_and_does_nothing_else(settings: Settings, tmp_path: Path) -> None:
    file = write(tmp_path)
    file.write_text(file.read_text() + "spark: {link: {port: 0}}\n")
    token, now = make_token("spark-1"), datetime.now(UTC)
    tokens = start_tokens(token, now, timedelta(minutes=2))
    with closing(open_store(settings.store)) as store:
        store.add_driver(DriverRecord("spark-1", "one", tokens, now), {"start": {}})
        with serving(tmp_path, "--role", "link") as link:
            address = link.said().partition("link.started address=")[2].split()[0]
            headers = {"Authorization": f"Bearer {token}"}
            poll = f"{address}/drivers/v1/spark-1/poll"
            answered = httpx.post(poll, headers=headers, json=body(), timeout=DEADLINE_SECONDS)
            assert answered.json()["take"] == [{"number": 1, "start": {}}]
            assert (
                httpx.post(poll, json=body(), timeout=DEADLINE_SECONDS).status_code
                == httpx.codes.UNAUTHORIZED
            )
            for path in ("/", "/api/v1/overview", "/docs"):
                for served in (address, link.url):
                    assert (
                        httpx.get(served + path, timeout=DEADLINE_SECONDS).status_code
                        == httpx.codes.NOT_FOUND
                    )
            assert [check["name"] for check in link.get("/readyz")["checks"]] == ["store"]
            assert store.duties() == ()
            assert link.stop() == 0


def test_the_options_of_serve_say_where_it_listens(tmp_path: Path) -> None:
    write(tmp_path)
    words = ("--host", "127.0.0.2", "--port", "0")
    with serving(tmp_path, *words, MAINTAINER_SERVER__PORT="1") as daemon:
        assert daemon.url.startswith("http://127.0.0.2:")
        assert httpx.get(f"{daemon.url}/livez").status_code == 200


def test_probes_and_metrics_have_a_port_of_their_own_where_the_settings_give_one(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    variables = {"PROBES_PORT": "0", "CONNECTIONS": "16", "CONNECTIONS_PER_ADDRESS": "12"}
    with serving(
        tmp_path, **{f"MAINTAINER_SERVER__{name}": value for name, value in variables.items()}
    ) as daemon:
        address = daemon.said().partition("probes.started address=")[2].split()[0]
        assert address != daemon.url
        with ExitStack() as held:
            half_open = []
            for _ in range(260):
                connection = socket.create_connection(
                    ("127.0.0.1", int(daemon.url.rpartition(":")[2])), DEADLINE_SECONDS
                )
                half_open.append(held.enter_context(closing(connection)))
                connection.sendall(b"GET /livez HTTP/1.1\r\nHo")
            # Beyond twelve of one address, each new connection ends the oldest one.
            with suppress(ConnectionResetError):
                assert half_open[-13].recv(1) == b""
            half_open[-1].settimeout(0)
            with pytest.raises(BlockingIOError):
                half_open[-1].recv(1)
            answers = {
                path: httpx.get(f"{address}/{path}", timeout=DEADLINE_SECONDS)
                for path in ("livez", "readyz", "metrics", "api/v1/overview")
            }
        assert answers["livez"].status_code == answers["metrics"].status_code == 200
        assert answers["readyz"].json()["checks"][0]["name"] == "store"
        assert answers["api/v1/overview"].status_code == 404
        assert httpx.get(f"{daemon.url}/metrics").status_code == 200
        assert daemon.stop() == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", ""), "--host is empty; give an address or a name, such as 127.0.0.1"),
        (("--port", "70000"), "65535"),
    ],
)
def test_an_address_that_cannot_be_is_refused(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    config = ("--config", str(write(tmp_path)))
    done = CliRunner().invoke(commands.application, ["serve", *config, *words])
    assert done.exit_code == 2
    assert sentence in done.stderr.replace("\n", " ")
