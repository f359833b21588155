"""The torture run: writers without the daemon, then the same beside it while everything around it
breaks; then: was anything lost?
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from tests.end_to_end.outliving import find_free_port
from tests.end_to_end.places import (
    Place,
    on_kubernetes,
    on_sockets,
    on_standalone,
    on_this_machine,
)
from tests.postgres import end_postgres, start_postgres
from tests.torture.attempts import attribute_losses
from tests.torture.chaos import Chaos
from tests.torture.check import Checked, Fault, check_held, check_table
from tests.torture.daemon import GONE_SECONDS, LINK, NAMESPACE, Daemon
from tests.torture.jobs import check_jobs, find_our_commits
from tests.torture.lake import (
    PAST,
    Lake,
    WritersSpark,
    at_port,
    drop_tables,
    leave_strays,
    locate_tables,
    make_tables,
)
from tests.torture.ledger import Ledger, Operation
from tests.torture.minima import measure_minima
from tests.torture.people import People
from tests.torture.proxy import Proxy
from tests.torture.reading import FoundRow, TableReading
from tests.torture.report import Report, compare_writers, count_committed
from tests.torture.rows import COLUMNS
from tests.torture.schedule import TABLES, USUAL_TROUBLES, Trouble, make_scripts, make_troubles
from tests.torture.writers import start_writers

CONTROL = "control"  # the namespace of the phase without the daemon
CONTROL_SHARE = 0.3  # of the time beside it
LONGEST_CONTROL_SECONDS = 240.0
WRITERS_STOP_SECONDS = 180
QUIET_SECONDS = 240  # for the daemon to finish what it has begun, once nobody disturbs it
MEASURE_SECONDS = 60
FIRST_JOB_SECONDS = 60


RUNNERS = {
    "socket": on_sockets,
    "http": on_this_machine,
    "standalone": on_standalone,
    "kubernetes": on_kubernetes,
}


@dataclass(frozen=True, slots=True)
class Options:
    """What to run."""

    directory: Path  # new and empty
    minutes: float  # of chaos
    seed: int = 1
    commits_per_second: float = 1.0  # of all writers together, as far as the machine can
    troubles: tuple[Trouble, ...] = USUAL_TROUBLES
    runner: str = "socket"  # one of RUNNERS


@dataclass(slots=True)
class _Stage:
    """What both phases share."""

    options: Options
    lake: Lake
    spark: WritersSpark
    checked: Checked
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - start


def run(options: Options) -> Report:
    """The whole of it; everything that it starts is ended."""
    with ExitStack() as stack:
        server = start_postgres()
        stack.callback(end_postgres, server)
        lake = Lake(server.create_database(), options.directory / "warehouse")
        for name in ("warehouse", "spark", "daemon"):
            (options.directory / name).mkdir()
        link_port = find_free_port()
        proxies = Proxy(server.port), Proxy(server.port), Proxy(link_port)
        for proxy in proxies:
            proxy.start()
            stack.callback(proxy.stop)
        spark = stack.enter_context(WritersSpark(lake, options.directory / "spark"))
        stage = _Stage(options, lake, spark, Checked())
        with stage.timed("without the daemon"):
            control = _run_control(stage)
        place = stack.enter_context(RUNNERS[options.runner](options.directory / "daemon"))
        return _run_torture(stage, control, proxies, server.create_database(), place)


def _begin(stage: _Stage, namespace: str) -> Ledger:
    ledger = Ledger(stage.options.directory / f"{namespace}.jsonl")
    for operation in make_tables(stage.lake, namespace, stage.spark.session(), datetime.now(UTC)):
        ledger.write(operation)
    return ledger


def _run_control(stage: _Stage) -> list[Operation]:
    options = stage.options
    ledger = _begin(stage, CONTROL)
    writers = start_writers(
        make_scripts(options.seed, CONTROL, CONTROL, options.commits_per_second),
        stage.lake,
        stage.spark,
        ledger,
    )
    time.sleep(min(LONGEST_CONTROL_SECONDS, options.minutes * 60 * CONTROL_SHARE))
    writers.stop(WRITERS_STOP_SECONDS)
    operations = ledger.read()
    readings = _check_tables(stage, CONTROL, operations)
    drop_tables(stage.lake, CONTROL)
    return attribute_losses(_without_past(operations), readings)


def _run_torture(
    stage: _Stage,
    control: list[Operation],
    proxies: tuple[Proxy, Proxy, Proxy],
    store: str,
    place: Place,
) -> Report:
    options = stage.options
    catalog_proxy, store_proxy, link_proxy = proxies
    ledger = _begin(stage, NAMESPACE)
    strays = leave_strays(stage.lake, NAMESPACE, datetime.now(UTC))
    daemon = Daemon(options.directory / "daemon")
    daemon.configure(
        stage.lake.at_port(catalog_proxy.port),
        at_port(store, store_proxy.port),
        _write_spark(place, link_proxy),
    )
    people = People(
        stage.lake,
        daemon,
        stage.spark.session(),
        Random(f"{options.seed}/people"),
        pace_seconds=max(2.0, options.minutes * 60 / 180),
    )
    chaos = Chaos(
        make_troubles(options.seed, options.minutes * 60, options.troubles),
        daemon,
        catalog_proxy,
        store_proxy,
        link_proxy,
    )
    daemon.start()
    try:
        if not (daemon.wait_until_up() and _wait_until_measured(daemon)):
            message = f"the daemon did not come up; its log is {daemon.log}"
            raise RuntimeError(message)
        people.hold_past()
        daemon.set_mode("enforce")
        with stage.timed("beside the daemon"):
            writers = start_writers(
                make_scripts(options.seed, NAMESPACE, NAMESPACE, options.commits_per_second),
                stage.lake,
                stage.spark,
                ledger,
            )
            people.start()
            _wait_for_a_job(daemon)
            chaos.start()
            time.sleep(options.minutes * 60)
            chaos.finish()
            people.stop()
            writers.stop(WRITERS_STOP_SECONDS)
        with stage.timed("until quiet"):
            daemon.set_mode("observe")  # what is begun is finished, nothing new is begun
            is_quiet = daemon.wait_until_up() and daemon.wait_until_quiet(QUIET_SECONDS)
        jobs = daemon.jobs() or []
        paused = _find_paused(daemon)
    finally:
        code = daemon.stop()
        daemon.wait_until_gone(GONE_SECONDS if place.polls else 0)
        left = daemon.commands()
        daemon.sweep()
    with stage.timed("checks"):
        checked = stage.checked
        if not is_quiet or code != 0:
            checked.add(Fault.DAEMON, "the end", [f"quiet: {is_quiet}, exit code {code}"])
        checked.add(Fault.DAEMON, "the end", [f"a process was left: {command}" for command in left])
        checked.add(Fault.TABLE_PAUSED, "pauses", paused)
        operations = ledger.read()
        readings = _check_tables(stage, NAMESPACE, operations)
        for held in people.held.values():
            check_held(checked, readings[held.table], held)
        audit = daemon.audit()
        for name, document in (("jobs", jobs), ("audit", audit)):
            (options.directory / f"{name}.json").write_text(
                json.dumps(document, indent=1), encoding="utf-8"
            )
        check_jobs(checked, jobs, audit, readings)
        torture = attribute_losses(_without_past(operations), readings)
        compare_writers(checked, control, torture)
        removed = sum(not path.exists() for path in strays)
    return Report(
        seed=options.seed,
        minutes=options.minutes,
        control=control,
        torture=torture,
        checked=checked,
        jobs=list(jobs),
        our_commits=len(find_our_commits(readings)),
        events=chaos.events,
        held=len(people.held),
        daemon_starts=daemon.starts,
        daemon_exits=daemon.exits,
        requests=people.requests,
        strays=len(strays),
        strays_removed=removed,
        minima=measure_minima(
            options.minutes,
            jobs,
            count_committed(torture),
            events=chaos.events,
            troubles=options.troubles,
            strays_removed=removed,
        ),
        seconds=stage.seconds,
    )


def _write_spark(place: Place, link: Proxy) -> str:
    """Lines of the daemon's configuration."""
    polled = LINK.format(port=link.target_ports[0], proxy=link.port) if place.polls else ""
    return place.spark + polled


def _without_past(operations: Sequence[Operation]) -> list[Operation]:
    return [operation for operation in operations if operation.kind != PAST]


def _check_tables(
    stage: _Stage, namespace: str, operations: Sequence[Operation]
) -> dict[str, TableReading]:
    readings: dict[str, TableReading] = {}
    for table, metadata_location in locate_tables(stage.lake, namespace).items():
        readings[table] = TableReading.open(metadata_location)
        own = [operation for operation in operations if operation.table == table]
        check_table(stage.checked, table, readings[table], own, _read_by_pyiceberg(stage, table))
    return readings


def _read_by_pyiceberg(stage: _Stage, table: str) -> list[FoundRow] | None:
    """None when it cannot; the other reader then says what is wrong."""
    catalog = stage.lake.open_catalog()
    try:
        found = catalog.load_table(table).scan().to_arrow()
    except Exception as error:  # noqa: BLE001 - whatever keeps it from reading
        stage.checked.add(
            Fault.UNREADABLE, table, [f"by PyIceberg: {type(error).__name__}: {error}"]
        )
        return None
    finally:
        catalog.close()
    return list(zip(*(found.column(name).to_pylist() for name in COLUMNS), strict=True))


def _wait_until_measured(daemon: Daemon) -> bool:
    deadline = time.monotonic() + MEASURE_SECONDS
    while time.monotonic() < deadline:
        found = daemon.ask("/tables?limit=100")
        measured = (
            [one for one in found["items"] if one["band"] is not None] if found is not None else []
        )
        if len(measured) == len(TABLES):
            return True
        time.sleep(0.2)
    return False


def _wait_for_a_job(daemon: Daemon) -> None:
    """Until one has succeeded, or long enough: trouble before the first Spark is up would only keep
    it down.
    """
    deadline = time.monotonic() + FIRST_JOB_SECONDS
    while (
        time.monotonic() < deadline
        and not (daemon.ask("/jobs?limit=1&state=succeeded") or {"items": []})["items"]
    ):
        time.sleep(0.2)


def _find_paused(daemon: Daemon) -> list[str]:
    found = daemon.ask("/tables?limit=100")
    return (
        [f"{one['table']}: {one['pause']['reason']}" for one in found["items"] if one["pause"]]
        if found is not None
        else ["the daemon did not say"]
    )
