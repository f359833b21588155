"""A real Spark creates executors as pods from our settings and template, with the rights of the
documentation, and runs a query on them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions
from maintainer.adapters.spark.launcher.kubernetes.pods import executor_template, pod_settings
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import (
    IMAGE,
    NAMESPACE,
    Scene,
    eventually,
)
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_documentation import documents
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small
from tests.conftest import FIGURES

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster]

ACCOUNT = "maintainer-spark"
DEADLINE_SECONDS = 240
QUERY = """
import json, sys
from pyspark import SparkConf
from pyspark.sql import SparkSession
conf = SparkConf(loadDefaults=False)
for key, value in json.load(open(sys.argv[1])).items():
    conf.set(key, value)
session = SparkSession.builder.config(conf=conf).getOrCreate()
count = session.range(0, 1000, 1, 8).selectExpr("id % 7 AS k").groupBy("k").count().count()
print(json.dumps({"count": count, "id": session.sparkContext.applicationId}), flush=True)
session.stop()
"""


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with open_api_server() as api:
        yield api


@pytest.fixture
def scene(api: ApiServer, tmp_path: Path) -> Iterator[Scene]:
    java = find_java(None, os.environ)
    kubelet = ProcessKubelet(api, tmp_path / "node", IMAGE, {"JAVA_HOME": str(java.home)})
    ticks = iter(range(1_000_000))
    scene = Scene(Small(api, tmp_path), tmp_path, "1f2e", lambda: next(ticks))
    yield scene
    scene.close()
    kubelet.close()


def grant_documented_rights(api: ApiServer) -> None:
    names = {each["metadata"]["name"]: each for each in documents() if each["kind"] == "Role"}
    api.allow(ACCOUNT, names[ACCOUNT])


@pytest.mark.timeout(DEADLINE_SECONDS + 60)
def test_a_query_runs_on_executors_that_are_pods(
    api: ApiServer,
    scene: Scene,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    grant_documented_rights(api)
    options = KubernetesOptions(namespace=NAMESPACE, image=IMAGE)
    template = tmp_path / "executor.json"
    template.write_text(executor_template(scene.spec, options))
    # the driver's own pod only has to exist: Spark makes it the owner of the executors
    scene.launcher(image="registry.example/absent:1").launch(scene.spec)
    settings = pod_settings(scene.spec, options) | {
        # what differs where a pod is a process: the addresses, and no stream of changes
        "spark.master": f"k8s://http://127.0.0.1:{api.port}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.port": "0",
        "spark.driver.blockManager.port": "0",
        "spark.kubernetes.executor.podTemplateFile": str(template),
        "spark.kubernetes.authenticate.oauthToken": ACCOUNT,
        "spark.kubernetes.executor.enableApiWatcher": "false",
        "spark.kubernetes.executor.apiPollingInterval": "1s",
        "spark.local.dir": str(tmp_path / "local"),
        "spark.ui.enabled": "false",
        "spark.app.name": "query",
    }
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    java = find_java(None, os.environ)
    result = subprocess.run(
        [sys.executable, "-c", QUERY, str(tmp_path / "settings.json")],
        env={
            **os.environ,
            "JAVA_HOME": str(java.home),
            "SPARK_HOME": str(jars.spark_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    assert result.returncode == 0, result.stderr[-8000:]
    assert json.loads(result.stdout)["count"] == 7
    created = [call for call in api.calls if call.user == ACCOUNT and call.verb == "create"]
    assert {(call.group, call.resource) for call in created} == {("", "pods")}
    eventually(lambda: api.names("pods") == [scene.name])
    assert api.names("configmaps") == []
    used = {(call.verb, call.resource) for call in api.calls if call.user == ACCOUNT}
    record_property(FIGURES, f"Spark's driver used {sorted(used)}")
