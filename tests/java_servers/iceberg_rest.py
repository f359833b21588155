"""Iceberg's own REST catalog over one of its JDBC catalogs.

Its main program listens on all addresses of the machine. So its servlet is put into a web server
here, which listens on loopback.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from maintainer.adapters.spark.jars import default_directory, find_jars, spark_home
from maintainer.adapters.spark.java import find_java
from tests.java_servers.jars import find_server_jars

_OF_SPARK = ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar")
_OF_JOBS = ("sqlite-jdbc", "postgresql", "iceberg-aws-bundle")
_JAVA_OPTIONS = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


@contextmanager
def serve_iceberg_rest(root: Path, warehouse: str, properties: Mapping[str, str]) -> Iterator[str]:
    """The address of a catalog that ends with the context.

    ``properties``: of its JDBC catalog, under Iceberg's names, ``uri`` among them.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / "iceberg-rest.log").open("wb") as log, _java(log) as java:
        options = {
            "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
            "jdbc.schema-version": "V1",
            "warehouse": warehouse,
            **properties,
        }
        settings = java.java.util.HashMap()
        for name, value in options.items():
            settings.put(name, value)
        iceberg, jetty = java.org.apache.iceberg, java.org.eclipse.jetty
        configuration = java.org.apache.hadoop.conf.Configuration()
        catalog = iceberg.CatalogUtil.buildIcebergCatalog("rest", settings, configuration)
        servlet = iceberg.rest.RESTCatalogServlet(iceberg.rest.RESTCatalogAdapter(catalog))
        context = jetty.ee10.servlet.ServletContextHandler()
        context.addServlet(jetty.ee10.servlet.ServletHolder(servlet), "/*")
        server = jetty.server.Server(java.java.net.InetSocketAddress("127.0.0.1", 0))
        server.setHandler(context)
        server.start()
        yield f"http://127.0.0.1:{server.getURI().getPort()}"
        server.stop()


@contextmanager
def _java(log: Any) -> Iterator[Any]:
    """The classes of a new Java process with the server's jars; it ends with the context."""
    of_jobs = [
        path for path in find_jars(default_directory(), {"aws"}) if path.name.startswith(_OF_JOBS)
    ]
    of_spark = [path for name in _OF_SPARK for path in (spark_home() / "jars").glob(name)]
    (bridge,) = (spark_home() / "jars").glob("py4j-*.jar")
    port, secret, process = launch_gateway(
        jarpath=str(bridge),
        classpath=os.pathsep.join(
            map(str, [*find_server_jars("iceberg-rest"), *of_jobs, *of_spark])
        ),
        javaopts=_JAVA_OPTIONS,
        java_path=str(find_java(None, os.environ).home / "bin" / "java"),
        die_on_exit=True,
        enable_auth=True,
        return_proc=True,
        redirect_stdout=log,
        redirect_stderr=log,
    )
    parameters = GatewayParameters(port=port, auth_token=secret, auto_convert=True)
    gateway = JavaGateway(gateway_parameters=parameters)
    try:
        yield gateway.jvm
    finally:
        gateway.close()
        process.stdin.close()
        process.kill()
        process.wait()
