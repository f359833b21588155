"""S3Proxy: an S3 server whose objects are files of a directory. It checks signatures."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maintainer.adapters.spark.java import find_java
from tests.java_servers.jars import find_server_jars

ACCESS_KEY_ID, SECRET_ACCESS_KEY = "proxied", "proxied-secret"
START_SECONDS = 120  # a busy machine; alone it takes two
_LISTENS = re.compile(r"Started .*ServerConnector.*\{127\.0\.0\.1:(\d+)\}")


@contextmanager
def serve_s3(root: Path) -> Iterator[str]:
    """The address of a server that ends with the context; ``root``/objects/BUCKET has the files."""
    objects, settings, log_path = root / "objects", root / "s3proxy.conf", root / "s3proxy.log"
    objects.mkdir(parents=True)
    values = {
        "s3proxy.endpoint": "http://127.0.0.1:0",
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.identity": ACCESS_KEY_ID,
        "s3proxy.credential": SECRET_ACCESS_KEY,
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(objects),
    }
    settings.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    (jar,) = find_server_jars("s3proxy")
    java = find_java(None, os.environ).home / "bin" / "java"
    command = [str(java), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-jar", str(jar), "--properties", str(settings)]
    with (
        log_path.open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        try:
            yield f"http://127.0.0.1:{_wait_for_port(process, log_path)}"
        finally:
            process.kill()


def _wait_for_port(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        found = _LISTENS.search(log.read_text(errors="replace"))
        if found is not None:
            return int(found[1])
        time.sleep(0.05)
    message = f"S3Proxy did not start within {START_SECONDS} s: {log.read_text()[-2000:]}"
    raise TimeoutError(message)
