"""A real driver process that polls, and whose daemon refuses it while it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ENDS_WITHIN = 30  # seconds, on a busy machine
STOP = {"number": 1, "stop": True}


def test_a_driver_that_ends_in_an_orderly_way_is_not_given_up_meanwhile() -> None:
    """Its daemon has read its last words and refuses each poll that follows."""
    with daemon_that_stops_it() as address:
        driver = subprocess.run(
            [sys.executable, "-m", "maintainer.adapters.spark.driver"],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "MAINTAINER_LINK": address,
                "MAINTAINER_DRIVER": "spark-1",
                "MAINTAINER_TOKEN": "a token",
            },
            timeout=ENDS_WITHIN,
            check=False,
        )
    assert driver.returncode == 0


@contextmanager
def daemon_that_stops_it() -> Iterator[str]:
    class Link(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            poll = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            events = [message["event"] for message in poll["said"]]
            if "application.ended" in events:
                self.answer(410, {"code": "driver_ended", "detail": "it has ended"})
            else:
                self.answer(200, {"received": 0, "valid_for": {}, "take": [STOP], "wait": 0.1})

        def answer(self, status: int, document: dict[str, Any]) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Link)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
