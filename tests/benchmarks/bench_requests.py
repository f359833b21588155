"""Lists and the overview of 12,000 tables at 200 requests a second: the daemon's CPU time for each,
and how long clients on the same machine wait.

The daemon is `maintainer serve --role api` on a SQLite store, in a process of its own. Requests
start at fixed times, whether earlier ones are answered or not, on connections that stay open. The
wall time also measures who else uses the machine; the CPU time of the daemon does not.
"""

from __future__ import annotations

import http.client
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles
from typing import Final
from urllib.parse import urlsplit

from maintainer.adapters.store import open_store
from tests.benchmarks.bench_store import fill
from tests.benchmarks.harness import Measured, cpu_clock, less_is_better
from tests.end_to_end.programs import serving

TABLES: Final = 12_000
PER_SECOND: Final = 200
SECONDS: Final = 20
CONNECTIONS: Final = 8
MOST_MILLISECONDS: Final = 100.0
PATHS: Final = (
    "/api/v1/overview",
    "/api/v1/tables?limit=50",
    "/api/v1/overview",
    "/api/v1/tables?limit=50&sort=-small_files",
    "/api/v1/tables?limit=50&band=critical",
)
CONFIGURATION: Final = "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: w}}\n"


def run(scale: float) -> list[Measured]:
    """The waits of clients, and the CPU time of the daemon."""
    tables, seconds = max(100, int(TABLES * scale)), max(2.0, SECONDS * scale)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "maintainer.yaml").write_text(CONFIGURATION)
        store = open_store(f"sqlite:///{directory}/maintainer.db")
        fill(store, tables)
        store.close()
        with serving(directory, "--role", "api") as daemon:
            address = urlsplit(daemon.url).netloc
            _ask(address, 1.0)
            before = cpu_clock([daemon.process.pid]) - cpu_clock()
            waits = _ask(address, seconds)
            cpu = cpu_clock([daemon.process.pid]) - cpu_clock() - before
            daemon.stop()
    of = f"requests: {PER_SECOND} a second, {tables:,} tables"
    p95 = quantiles(waits, n=20)[-1] * 1000
    return [
        less_is_better(f"{of}, p95", p95, MOST_MILLISECONDS, "bound of 100 ms", "ms", reach=1),
        Measured(f"{of}, CPU for each", cpu / len(waits) * 1000, None, "nobody", "ms", None),
    ]


def _ask(address: str, seconds: float) -> list[float]:
    """The seconds from when each request was due to its answer."""
    began, lock = time.perf_counter() + 0.1, threading.Lock()
    due = enumerate(islice(cycle(PATHS), int(PER_SECOND * seconds)))
    waits: list[float] = []
    threads = [
        threading.Thread(target=_ask_in_turn, args=(address, due, lock, began, waits))
        for _ in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(waits) != int(PER_SECOND * seconds):
        message = f"{len(waits)} of {int(PER_SECOND * seconds)} requests were answered"
        raise ValueError(message)
    return waits


def _ask_in_turn(
    address: str,
    due: Iterator[tuple[int, str]],
    lock: threading.Lock,
    began: float,
    waits: list[float],
) -> None:
    connection = http.client.HTTPConnection(address)
    while True:
        with lock:
            number, path = next(due, (-1, ""))
        if not path:
            return
        moment = began + number / PER_SECOND
        time.sleep(max(0.0, moment - time.perf_counter()))
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status == http.client.OK:
            waits.append(time.perf_counter() - moment)
