"""A real Hive metastore on the loopback: of Spark's jars, with its database in memory, in a JVM
that ends with this process.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

JAVA_OPTIONS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
OPENED = ("java.lang", "java.net", "java.util")


@contextmanager
def running_metastore(directory: Path) -> Iterator[str]:
    """Its address. Hive's own program listens to the whole network, so its parts are put together
    here.
    """
    jars = Path(pyspark.__file__).parent / "jars"
    options = [
        *JAVA_OPTIONS,
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
        f"-Dderby.stream.error.file={directory}/derby.log",
    ]
    port = launch_gateway(
        classpath=f"{jars}/*",
        jarpath=str(next(jars.glob("py4j*.jar"))),
        javaopts=options,
        die_on_exit=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    server, listening = _make_server(gateway.jvm, directory)
    serving = threading.Thread(target=server.serve, daemon=True)
    serving.start()
    try:
        yield f"thrift://127.0.0.1:{listening}"
    finally:
        server.stop()
        serving.join(20)
        gateway.shutdown()


def _make_server(java: Any, directory: Path) -> tuple[Any, int]:
    configuration = java.org.apache.hadoop.hive.conf.HiveConf()
    for name, value in {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": str(directory / "warehouse"),
    }.items():
        configuration.set(name, value)
    handler = java.org.apache.hadoop.hive.metastore.HiveMetaStore.newRetryingHMSHandler(
        "metastore",
        configuration,
        True,  # noqa: FBT003 - Java has no names
    )
    socket = java.org.apache.hadoop.hive.common.auth.HiveAuthUtils.getServerSocket("127.0.0.1", 0)
    arguments = getattr(java.org.apache.thrift.server, "TThreadPoolServer$Args")(socket)
    arguments.processor(java.org.apache.hadoop.hive.metastore.TSetIpAddressProcessor(handler))
    return java.org.apache.thrift.server.TThreadPoolServer(arguments), int(
        socket.getServerSocket().getLocalPort()
    )
