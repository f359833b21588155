"""Where a secret may have got to: what processes, files, the store and the API of a daemon show."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from urllib.error import HTTPError

from maintainer.api.application import openapi_document
from maintainer.domain.identifier import TableIdentifier
from tests.end_to_end.programs import Daemon, descendants


def events(home: Path) -> list[Path]:
    found = [path for path in (home / "events").rglob("*") if path.stat().st_size]
    assert found
    return [path for path in found if path.is_file()]


def read_processes(daemon: Daemon, executors: list[int]) -> dict[str, str]:
    """The arguments of all processes below the daemon and of executors, whose variables too."""
    below = descendants(daemon.process.pid)
    drivers = [pid for pid in map(int, _numbers()) if "MAINTAINER_LINK=" in read(pid, "environ")]
    assert drivers, "the driver and its JVM"
    return {
        f"{file} of {read(pid, 'cmdline')[:60]}": read(pid, file)
        for pid in {*below, *drivers, *executors}
        for file in ("cmdline", "environ")
    }


def read_below(daemon: Daemon) -> dict[str, str]:
    """The arguments and variables of all processes below the daemon, the JVM of its Spark among
    them.
    """
    below = sorted(descendants(daemon.process.pid))
    assert any("java" in read(pid, "cmdline") for pid in below)
    return {
        f"{file} of {pid} {read(pid, 'cmdline')[:60]}": read(pid, file)
        for pid in below
        for file in ("cmdline", "environ")
    }


def _numbers() -> list[str]:
    return [entry.name for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def read(pid: int, file: str) -> str:
    try:
        return (Path("/proc") / str(pid) / file).read_text(errors="replace")
    except OSError:
        return ""


def read_answers(daemon: Daemon, job_id: str, table: TableIdentifier) -> dict[str, str]:
    """What the API answers to every GET without parameters, and about the job and its table."""
    paths = openapi_document()["paths"]
    plain = [path for path, methods in paths.items() if "get" in methods and "{" not in path]
    asked = [*plain, f"/api/v1/jobs/{job_id}", f"/api/v1/tables/{table}"]
    answers = {path: read_answer(daemon, path) for path in asked}
    return answers | {"the job's events": json.dumps(daemon.events(job_id))}


def read_answer(daemon: Daemon, path: str) -> str:
    try:
        return json.dumps(daemon.get(path))
    except HTTPError as refused:  # such as for want of a parameter
        return refused.read().decode()


def dump(store: Path) -> str:
    with sqlite3.connect(store) as connection:
        return "\n".join(connection.iterdump())
