"""Three replicas of the daemon that are restarted at once in the middle of a rewrite."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import (
    ONE_DRIVER,
    PARTITIONS,
    SECONDS_TO_LEAVE,
    TABLE,
    find_free_port,
    find_running,
    find_store,
    prove_one_run,
    write_head,
    write_policies,
)
from tests.end_to_end.places import Place, on_kubernetes, on_sockets, on_standalone
from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.torture.proxy import Proxy

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(500)]

# Processes of this machine that poll are the drivers of the standalone cluster too; they alone, and
# YARN, are in on_other_runners.
PLACES = (on_sockets, on_standalone, on_kubernetes)

Surround = Callable[[Path], AbstractContextManager[Place]]


@contextmanager
def service() -> Iterator[Proxy]:
    """One address for all replicas, as a cluster's Service is."""
    proxy = Proxy(0)
    proxy.start()
    yield proxy
    proxy.stop()


@pytest.mark.parametrize("surround", PLACES, ids=lambda surround: surround.__name__)
def test_a_rewrite_outlives_the_restart_of_all_replicas_at_once(
    lake: Lake, surround: Surround
) -> None:
    restart_all_replicas(lake, surround)


def restart_all_replicas(lake: Lake, surround: Surround, seconds_to_start: float = 180) -> None:
    """In the middle of a rewrite, which goes on and is not repeated."""
    home, rows = lake.root, read(lake)
    with ExitStack() as stack:
        place, proxy = stack.enter_context(surround(home)), stack.enter_context(service())
        write_policies(lake)
        common = write_head(lake) + ONE_DRIVER + place.spark

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
            lambda: find_running(find_store(lake)),
            seconds_to_start,
            f"Spark's work; said:\n{replicas[0].said()}",
        )
        running = place.drivers()
        assert len(running) == 1
        end_all(replicas, place.restart)
        assert place.drivers() == running, "nothing was ended with them"
        replicas = start()
        assert "job.adopted" in prove_one_run(replicas[0], job.job_id)
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
