"""Three replicas of the daemon that are restarted at once in the middle of a rewrite."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.places import PLACES, Place
from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.end_to_end.test_two_daemons import POLICY, TABLE, find_ended, find_running
from tests.torture.proxy import Proxy

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(500)]

CONFIGURATION = """
catalogs: {{lake: {{type: sql, uri: 'sqlite:///{home}/catalog.db', warehouse: 'file://{home}/warehouse'}}}}
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
scan: {{interval: 1s}}
plan: {{interval: 500ms}}
submit: {{interval: 500ms}}
watch: {{interval: 500ms}}
review: {{interval: 500ms}}
spark:
  max_jobs: 1
  idle_timeout: 2s
"""
FILES, PARTITIONS = 800, 400
SECONDS_TO_LEAVE = 30  # under ten on a machine that has nothing else to do


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    made.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    yield made
    made.catalog.close()


@contextmanager
def service() -> Iterator[Proxy]:
    """One address for all replicas, as a cluster's Service is."""
    proxy = Proxy(0)
    proxy.start()
    yield proxy
    proxy.stop()


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("surround", PLACES, ids=lambda surround: surround.__name__)
def test_a_rewrite_outlives_the_restart_of_all_replicas_at_once(
    lake: Lake, surround: Callable[[Path], AbstractContextManager[Place]]
) -> None:
    home, store = lake.root, f"sqlite:///{lake.root}/store.db"
    rows = read(lake)
    with ExitStack() as stack:
        place, proxy = stack.enter_context(surround(home)), stack.enter_context(service())
        (home / "policies").mkdir()
        (home / "policies" / "all.yaml").write_text(POLICY.format(mode="enforce"))
        common = CONFIGURATION.format(home=home) + place.spark

        def start() -> list[Daemon]:
            ports = [find_free_port() for _ in range(3)]
            proxy.target_ports[:] = ports
            configurations = [home / f"maintainer-{port}.yaml" for port in ports]
            for port, path in zip(ports, configurations, strict=True):
                link = f"  link: {{port: {port}, address: 'http://127.0.0.1:{proxy.port}'}}\n"
                path.write_text(common + (link if place.polls else ""))
            return [
                stack.enter_context(serving(home, "--config", str(path))) for path in configurations
            ]

        replicas = start()
        job, _ = wait_for(
            lambda: find_running(store), 180, f"Spark's work; said:\n{replicas[0].said()}"
        )
        running = place.drivers()
        assert len(running) == 1
        end_all(replicas, place.restart)
        assert place.drivers() == running, "nothing was ended with them"
        replicas = start()
        first = replicas[0]
        ended = wait_for(
            lambda: find_ended(first, job.job_id), 200, f"its end; said:\n{first.said()}"
        )
        assert ended["state"] == "succeeded", ended
        story = first.story(job.job_id)
        assert [
            story.count(name) for name in ("job.submitted", "spark.submitted", "spark.finished")
        ] == [1, 1, 1], story
        assert "job.adopted" in story
        assert "spark.cancelling" not in story
        jobs = first.get("/api/v1/jobs")["items"]
        assert [each["job_id"] for each in jobs if each["rule"] == "rewrite_data_files"] == [
            job.job_id
        ], "nothing is repeated"
        wait_for(lambda: not place.drivers(), 120, "the idle driver to end")
    assert read(lake).equals(rows)
    assert lake.data_files(TABLE) == PARTITIONS
    assert len(lake.summaries(TABLE)) == 2, "one commit beside the table's first"


def end_all(replicas: list[Daemon], how: signal.Signals) -> None:
    begun = time.monotonic()
    for replica in replicas:
        replica.process.send_signal(how)
    for replica in replicas:
        code = replica.process.wait(120)
        assert code == (0 if how is signal.SIGTERM else -how), replica.said()
    assert time.monotonic() - begun < SECONDS_TO_LEAVE, replicas[0].said()


def read(lake: Lake) -> pa.Table:
    """The table's rows in an order of their own."""
    found: pa.Table = lake.load(TABLE).scan().to_arrow()
    return found.sort_by([(name, "ascending") for name in ("part", "id", "text")])
