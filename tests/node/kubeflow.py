"""Kubeflow's own Spark operator beside a cluster, for the tests that need its real controller.

KUBEFLOW_OPERATOR names a directory with its program `spark-operator` and, in `crds`, the
definitions of its kinds. The operator starts each driver with spark-submit.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyspark
import yaml
from lightkube import Client, codecs
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from maintainer.adapters.spark.launcher.kubernetes.kinds import KUBEFLOW
from tests.end_to_end.programs import wait_for

START_SECONDS, STOP_SECONDS = 60, 30
_EXISTS = 409
_Application = create_namespaced_resource(
    KUBEFLOW.group, KUBEFLOW.version, KUBEFLOW.name, KUBEFLOW.plural
)


@contextmanager
def running_operator(
    client: Client, kubeconfig: Path, namespace: str, directory: Path
) -> Iterator[Path]:
    """Run it for one namespace as an administrator; gives the file of its log."""
    programs = Path(os.environ["KUBEFLOW_OPERATOR"])
    for definition in sorted((programs / "crds").glob("*.yaml")):
        _define(client, yaml.safe_load(definition.read_text()))
    server = urlsplit(str(client.config.cluster.server))
    assert server.hostname is not None
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "KUBECONFIG": str(kubeconfig),
        "KUBERNETES_SERVICE_HOST": server.hostname,
        "KUBERNETES_SERVICE_PORT": str(server.port or 443),
    }
    command = [
        str(programs / "spark-operator"),
        "controller",
        "start",
        f"--kubeconfig={kubeconfig}",
        f"--namespaces={namespace}",
        "--health-probe-bind-address=127.0.0.1:0",
        "--leader-election=false",
        "--zap-log-level=info",
    ]
    log = directory / "operator.log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        wait_for(
            lambda: process.poll() is not None or "Starting workers" in log.read_text(),
            START_SECONDS,
            "the operator to start",
        )
        assert process.poll() is None, log.read_text()
        yield log
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def list_applications(client: Client) -> list[dict[str, Any]]:
    """The applications of the client's namespace."""
    return [dict(each) for each in client.list(_Application)]


def _define(client: Client, document: dict[str, Any]) -> None:
    try:
        client.create(codecs.from_dict(document))
    except ApiError as error:
        if error.status.code != _EXISTS:
            raise
    name = document["metadata"]["name"]
    wait_for(
        lambda: _is_established(client.get(CustomResourceDefinition, name)),
        START_SECONDS,
        f"the cluster to take up {name}",
    )


def _is_established(definition: CustomResourceDefinition) -> bool:
    conditions = definition.status.conditions if definition.status else None
    return any(each.type == "Established" and each.status == "True" for each in conditions or ())
