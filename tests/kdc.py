"""A Kerberos server on the loopback: Hadoop's own for tests; and the jars for it, besides those of
tests.yarn.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from maintainer.adapters.spark.jars import fetch_pinned, find_pinned
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.pins import Jar

START_SECONDS = 120  # a busy machine; alone it takes one
REALM = "EXAMPLE.COM"
USER, SERVICE = f"maintainer@{REALM}", f"yarn/localhost@{REALM}"
_KERBY = "org.apache.kerby"
_JARS = (
    Jar(
        "org.apache.hadoop",
        "hadoop-minikdc",
        "3.4.2",
        "d249b7f171b2e44715c25e3ac8a450c60df13fcfd53f108caf4ea93bc4ad187c",
    ),
    Jar(
        _KERBY,
        "kerb-admin",
        "2.0.3",
        "75d8f752bd11269bf0c81f7353f088dedb1807a4bf49673b7c954bc4966bce8d",
    ),
    Jar(
        _KERBY,
        "kerb-client",
        "2.0.3",
        "7bdd35366f17b5f213920cc065e27dd51a5d600cfed7d481d15e1f900fec2165",
    ),
    Jar(
        _KERBY,
        "kerb-common",
        "2.0.3",
        "99eeaaa54c3c60d8559e9ef683b64c007d8e060997ed150a33d4b80d58781205",
    ),
    Jar(
        _KERBY,
        "kerb-identity",
        "2.0.3",
        "1674b85cc3c3f3a353064b7f38624dcea0f4b27fa57019592bf724832cd8e9a4",
    ),
    Jar(
        _KERBY,
        "kerb-server",
        "2.0.3",
        "4864f595851380fc0bb6295c228c7f71ef9b64cab73a8777d5426855da6dbc93",
    ),
    Jar(
        _KERBY,
        "kerb-simplekdc",
        "2.0.3",
        "5d6e018222ea62b502d6443f2cfcf46e763804d4beee1648819c61bd7fc69a48",
    ),
)
_DIRECTORY = Path(sys.prefix) / "share" / "iceberg-maintainer" / "test-jars"
_SERVER = "org.apache.hadoop.minikdc.MiniKdc"
_READY = "Standalone MiniKdc Running"


@dataclass(frozen=True)
class Kerberos:
    """A server that runs; its configuration is what Java calls krb5.conf."""

    configuration: Path
    keytab: Path  # of USER and SERVICE

    @property
    def java_option(self) -> str:
        return f"-Djava.security.krb5.conf={self.configuration}"


@contextmanager
def serve_kerberos(root: Path) -> Iterator[Kerberos]:
    """A server with the keys of USER and SERVICE, which ends with the context."""
    root.mkdir(parents=True)
    found, settings = Kerberos(root / "krb5.conf", root / "keytab"), root / "kdc.properties"
    organization, _, domain = REALM.partition(".")
    settings.write_text(
        f"org.name={organization}\norg.domain={domain}\nkdc.bind.address=127.0.0.1\n"
    )
    jars = find_pinned(_JARS, _DIRECTORY, f"{sys.executable} -m {__name__}")
    command = [
        str(find_java(None, os.environ).home / "bin" / "java"),
        *("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-cp", os.pathsep.join([*map(str, jars), str(_DIRECTORY / "yarn" / "*")])),
        *(_SERVER, str(root), str(settings), str(found.keytab)),
        *(principal.partition("@")[0] for principal in (USER, SERVICE)),
    ]
    log = root / "kdc.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out) as process,
    ):
        try:
            deadline = time.monotonic() + START_SECONDS
            while _READY not in log.read_text():
                in_time = process.poll() is None and time.monotonic() < deadline
                assert in_time, f"Kerberos did not start; its last words: {log.read_text()[-2000:]}"
                time.sleep(0.1)
            yield found
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.stdout.write("".join(f"{path}\n" for path in fetch_pinned(_JARS, _DIRECTORY)))
