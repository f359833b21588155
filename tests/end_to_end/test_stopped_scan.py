"""A daemon that is asked to stop while its scan waits for servers that never answer."""

from __future__ import annotations

import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from tests.end_to_end.programs import descendants, is_alive, serving, wait_for

STOP_SECONDS = 5.0


@pytest.fixture
def silent() -> Iterator[tuple[str, list[bytes]]]:
    """An address where connections are taken and never answered, and what was said there first."""
    heard: list[bytes] = []
    connections: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            heard.append(connection.recv(100))

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", heard
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)
    for connection in connections:
        connection.close()


def write_home(home: Path, catalogs: str) -> None:
    (home / "maintainer.yaml").write_text(
        f"catalogs: {{{catalogs}}}\nstore: sqlite:///store.db\nscan: {{workers: 1}}\n"
    )
    (home / "policies").mkdir()


def make_lake(home: Path, address: str) -> str:
    """A table that can be read, and one whose metadata lies where nobody answers; the catalog's
    configuration.
    """
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{home}/catalog.db",
        "warehouse": f"file://{home}/warehouse",
    }
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("sales")
    rows = pa.table({"id": [1, 2, 3]})
    for name in ("first", "second"):
        catalog.create_table(f"sales.{name}", rows.schema).append(rows)
    catalog.close()
    with closing(sqlite3.connect(home / "catalog.db")) as database, database:
        database.execute(
            "update iceberg_tables set metadata_location = 's3://bucket/second.metadata.json' "
            "where table_name = 'second'"
        )
    keys = (
        f"s3.endpoint: '{address}', s3.access-key-id: an-id, s3.secret-access-key: a-secret, "
        f"s3.region: eu-central-1"
    )
    return (
        f"lake: {{type: sql, uri: 'sqlite:///{home}/catalog.db', warehouse: "
        f"'file://{home}/warehouse', {keys}}}"
    )


def read_time(log: str, event: str) -> datetime:
    """When the daemon said so: on a busy machine the end of an interpreter takes seconds of its
    own.
    """
    (line,) = [line for line in log.splitlines() if f" {event}" in line]
    return datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["catalog", "storage"])
def test_the_daemon_ends_in_five_seconds_and_leaves_nothing_half_written(
    tmp_path: Path, silent: tuple[str, list[bytes]], kind: str
) -> None:
    address, heard = silent
    write_home(
        tmp_path,
        f"lake: {{type: rest, uri: '{address}'}}"
        if kind == "catalog"
        else make_lake(tmp_path, address),
    )
    with serving(tmp_path) as daemon:
        wait_for(lambda: heard, 60, f"the scan to wait; the daemon said:\n{daemon.said()}")
        below = descendants(daemon.process.pid)
        code = daemon.stop()
    assert code == 0, daemon.said()
    stopping, stopped = (
        read_time(daemon.said(), event) for event in ("daemon.stopping", "daemon.stopped")
    )
    assert (stopped - stopping).total_seconds() < STOP_SECONDS, daemon.said()
    assert "Traceback" not in daemon.said()
    assert not [pid for pid in below if is_alive(pid)]
    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        measured = database.execute("select count(*) from scan_marks").fetchone()[0]
        assert measured == (0 if kind == "catalog" else 1)
