"""A PostgreSQL of the tests' own: in a temporary directory, on loopback, ended with the session.

A conftest imports the fixture postgres_server; the tests that use it are marked ``postgres``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from subprocess import Popen

import psycopg
import pytest

from tests.prerequisites import find_postgres_binaries

START_SECONDS = 60
START_ATTEMPTS = 3  # another program can take the free port between its choice and its use
STOP_SECONDS = 20
POLL_SECONDS = 0.05


@dataclass
class PostgresServer:
    """A running server; connections by TCP need the password."""

    binaries: Path
    directory: Path
    password: str
    account: (
        str | None
    )  # the system user it runs as, where that is not ours: PostgreSQL refuses to run as root
    host: str = "127.0.0.1"
    port: int = 0
    process: Popen[bytes] | None = None

    def url(self, database: str = "postgres", scheme: str = "postgresql+psycopg") -> str:
        return f"{scheme}://postgres:{self.password}@{self.host}:{self.port}/{database}"

    def create_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"test_{token_hex(6)}"
        with psycopg.connect(self.url(scheme="postgresql"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def create_schema(self) -> str:
        """The URL of a new, empty schema in the first database: much cheaper than a database, for a
        suite of many small tests.
        """
        name = f"test_{token_hex(6)}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self.url()}?options=-csearch_path%3D{name}"

    def run(self, sql: str) -> None:
        with psycopg.connect(self.url(scheme="postgresql"), autocommit=True) as connection:
            connection.execute(sql.encode())

    def initialise(self) -> None:
        password_file = self.directory / "password"
        password_file.write_text(self.password)
        if self.account:
            for path in (self.directory, password_file):
                shutil.chown(path, self.account)
        command = [
            str(self.binaries / "initdb"),
            "-D",
            str(self.directory / "data"),
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        command += ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password_file}"]
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            cwd=self.directory,
            user=self.account,
            group=self._group(),
            env=self._environment(),
        )
        with (self.directory / "data/pg_hba.conf").open("a") as rules:
            rules.write("host all all all scram-sha-256\n")  # initdb allows the loopback only

    def start(self) -> None:
        for _attempt in range(START_ATTEMPTS):
            self.port = self.port or _find_free_port(self.host)
            settings = [
                f"port={self.port}",
                f"listen_addresses={self.host}",
                f"unix_socket_directories={self.directory}",
                "fsync=off",
                "full_page_writes=off",
                "synchronous_commit=off",
                "max_connections=200",
            ]
            command = [str(self.binaries / "postgres"), "-D", str(self.directory / "data")]
            command += [word for setting in settings for word in ("-c", setting)]
            with (self.directory / "log").open("ab") as log:
                self.process = Popen(
                    command,
                    cwd=self.directory,
                    stdout=log,
                    stderr=log,
                    user=self.account,
                    group=self._group(),
                    env=self._environment(),
                )
            if self._becomes_ready(self.process):
                return
            self.stop()
            self.port = 0
        pytest.fail(
            f"PostgreSQL did not start: {(self.directory / 'log').read_text()[-2000:]}",
            pytrace=False,
        )

    def _becomes_ready(self, process: Popen[bytes]) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                time.sleep(POLL_SECONDS)
            else:
                return True
        return False

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Fast shutdown, as a restart would do it; clients lose their connections. SIGQUIT is for a
        server that is no longer needed.
        """
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(STOP_SECONDS)
        self.process = None

    def _group(self) -> int | None:
        return pwd.getpwnam(self.account).pw_gid if self.account else None

    def _environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {
            "HOME": str(self.directory)
        }


def _find_free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def start_postgres(host: str = "127.0.0.1") -> PostgresServer:
    """A new server on this address; its starter ends it with end_postgres."""
    binaries = find_postgres_binaries()
    if binaries is None:
        pytest.fail(
            "PostgreSQL's initdb and pg_ctl were not found; install postgresql", pytrace=False
        )
    directory = Path(
        tempfile.mkdtemp(prefix="maintainer-pg-")
    )  # short: the path of a socket has at most 107 bytes
    server = PostgresServer(
        binaries,
        directory,
        password=token_hex(8),
        account="postgres" if os.geteuid() == 0 else None,
        host=host,
    )
    try:
        server.initialise()
        server.start()
    except BaseException:
        end_postgres(server)
        raise
    return server


def end_postgres(server: PostgresServer) -> None:
    server.stop(signal.SIGQUIT)
    shutil.rmtree(server.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    end_postgres(server)
