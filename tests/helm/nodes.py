"""Stands in for nodes: says of every pod that it runs, or of a hook that it has ended well."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2

from maintainer.adapters.spark.launcher.kubernetes.options import DRIVER_ROLE, ROLE
from tests.adapters.spark.launcher.kubernetes.real_api_server import RealServer

_INTERVAL_SECONDS = 0.2


@contextmanager
def pretending_nodes(server: RealServer) -> Iterator[None]:
    """Every pod gets the state that a node would report, until the end of the block."""
    is_over = threading.Event()
    thread = threading.Thread(target=_report_all, args=(server, is_over), name="nodes")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _report_all(server: RealServer, is_over: threading.Event) -> None:
    while not is_over.wait(_INTERVAL_SECONDS):
        for pod in server.ask("GET", "/api/v1/pods")["items"]:
            if pod["status"].get("phase") == "Pending":
                _report(server, pod)


def _report(server: RealServer, pod: dict[str, Any]) -> None:
    is_driver = pod["metadata"]["labels"].get(ROLE) == DRIVER_ROLE
    ends = pod["spec"]["restartPolicy"] == "Never" and not is_driver
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {
        "phase": "Succeeded" if ends else "Running",
        "startTime": now,
        "conditions": [
            {"type": kind, "status": "False" if ends else "True", "lastTransitionTime": now}
            for kind in ("Ready", "ContainersReady")
        ],
    }
    metadata = pod["metadata"]
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
    try:
        server.ask("PATCH", path, {"status": status})
    except httpx2.HTTPStatusError as error:
        if error.response.status_code != httpx2.codes.NOT_FOUND:  # deleted meanwhile
            raise
