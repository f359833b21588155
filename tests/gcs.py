"""A server of Google's storage on the loopback: fake-gcs-server, which `make` builds with Go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import socket
from urllib.parse import urlencode, urlsplit

SERVER = Path(sys.prefix) / "share" / "iceberg-maintainer" / "go" / "fake-gcs-server"
START_SECONDS = 60  # a busy machine; alone it takes a tenth
TOKEN = "any token is good"  # noqa: S105 - the server checks none
FAR_AWAY = "4102444800000"  # the year 2100
_ATTRIBUTE = "user.metadata"  # where the server keeps what it knows about an object


def reach(endpoint: str) -> dict[str, str]:
    """PyIceberg's properties for the server."""
    return {
        "gcs.service.host": endpoint,
        "gcs.project-id": "tests",
        "gcs.oauth2.token": TOKEN,
        "gcs.oauth2.token-expires-at": FAR_AWAY,
    }


@contextmanager
def serve_gcs(root: Path) -> Iterator[str]:
    """The address of a server that ends with the context; ``root``/objects/BUCKET has the files."""
    if not SERVER.is_file():
        message = f"{SERVER} is missing; run: make .venv/stamps/gcs-server"
        raise FileNotFoundError(message)
    objects = root / "objects"
    objects.mkdir(parents=True)
    with socket() as probe:  # the server must know its own address before it listens
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [str(SERVER), "-backend", "filesystem", "-filesystem-root", str(objects)]
    command += ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    command += ["-public-host", f"127.0.0.1:{port}", "-external-url", address]
    with (
        (root / "gcs.log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        try:
            _wait_for_answer(process, port, root / "gcs.log")
            yield address
        finally:
            process.kill()


def upload(endpoint: str, bucket: str, name: str, body: bytes) -> None:
    """Write an object."""
    connection = HTTPConnection(urlsplit(endpoint).netloc, timeout=START_SECONDS)
    query = urlencode({"uploadType": "media", "name": name})
    try:
        connection.request("POST", f"/upload/storage/v1/b/{bucket}/o?{query}", body)
        answer = connection.getresponse()
        assert answer.status == HTTPStatus.OK, answer.read()
    finally:
        connection.close()


def set_time(path: Path, moment: datetime) -> None:
    """Let the object have been written then."""
    known = json.loads(os.getxattr(path, _ATTRIBUTE))
    known |= dict.fromkeys(("Created", "Updated"), moment.isoformat().replace("+00:00", "Z"))
    os.setxattr(path, _ATTRIBUTE, json.dumps(known).encode())


def _wait_for_answer(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
        try:
            connection.request("GET", "/storage/v1/b")
            connection.getresponse().read()
        except (OSError, HTTPException):
            time.sleep(0.05)
        else:
            return
        finally:
            connection.close()
    message = f"{SERVER.name} did not answer within {START_SECONDS} s: {log.read_text()[-2000:]}"
    raise TimeoutError(message)
