"""S3Proxy: an S3 server whose objects are files of a directory. It checks signatures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maintainer.adapters.spark.java import find_java
from tests.java_servers.jars import find_server_jars
from tests.java_servers.programs import run_server

ACCESS_KEY_ID, SECRET_ACCESS_KEY = "proxied", "proxied-secret"
_LISTENS = r"Started .*ServerConnector.*\{127\.0\.0\.1:(\d+)\}"


@contextmanager
def serve_s3(
    root: Path, key: str = ACCESS_KEY_ID, secret: str = SECRET_ACCESS_KEY
) -> Iterator[str]:
    """The address of a server that ends with the context; ``root``/objects/BUCKET has the files."""
    objects, settings = root / "objects", root / "s3proxy.conf"
    objects.mkdir(parents=True)
    values = {
        "s3proxy.endpoint": "http://127.0.0.1:0",
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.identity": key,
        "s3proxy.credential": secret,
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(objects),
    }
    settings.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    (jar,) = find_server_jars("s3proxy")
    java = find_java(None, os.environ).home / "bin" / "java"
    command = [str(java), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-jar", str(jar), "--properties", str(settings)]
    with run_server(command, root / "s3proxy.log", _LISTENS) as port:
        yield f"http://127.0.0.1:{port}"
