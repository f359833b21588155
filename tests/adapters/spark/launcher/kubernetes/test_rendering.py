"""What leaves the daemon when a driver is started: golden files, and what no manifest may contain.

The golden files are written anew by python -m tests.adapters.spark.launcher.kubernetes.specs.
"""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest

from maintainer.adapters.kubernetes.objects import Manifest
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.options import (
    KubernetesOptions,
    Operator,
    Queueing,
)
from maintainer.adapters.spark.launcher.kubernetes.pods import pod_settings
from maintainer.adapters.spark.launcher.kubernetes.rendering import own, render
from tests.adapters.spark.launcher.kubernetes.specs import (
    AUTHORITY,
    FULL,
    GOLDEN,
    LARGE,
    PLAIN,
    SMALL,
    TOKEN,
    cases,
    write,
)


def options_of(operator: Operator) -> KubernetesOptions:
    return replace(FULL, operator=operator)


def pod_of(manifest: Manifest) -> Any:
    """The pod itself, or the template in an application."""
    spec: Any = manifest["spec"]
    if "driver" in spec:
        return spec["driver"]["template"]
    if "driverSpec" in spec:
        return spec["driverSpec"]["podTemplateSpec"]
    return manifest


def executor_of(spec: DriverSpec, options: KubernetesOptions) -> Any:
    secret: Any = render(spec, options)[1]
    return json.loads(b64decode(secret["data"]["executor.json"]))


@pytest.mark.parametrize("name", cases())
def test_the_objects_are_those_of_the_golden_file(name: str) -> None:
    assert write(cases()[name]) == (GOLDEN / f"{name}.yaml").read_text()


def test_every_golden_file_has_a_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.yaml")} == set(cases())


@pytest.mark.parametrize("operator", Operator)
@pytest.mark.parametrize("spec", [SMALL, LARGE], ids=["small", "large"])
def test_the_token_is_in_the_secret_and_nowhere_else(operator: Operator, spec: DriverSpec) -> None:
    rendered = render(spec, options_of(operator))
    secret: Any = next(each for each in rendered if each["kind"] == "Secret")
    others = [manifest for manifest in rendered if manifest["kind"] != "Secret"]
    files = secret["data"]
    assert b64decode(files["token"]).decode() == TOKEN
    assert TOKEN not in json.dumps([others, secret["metadata"]])
    assert TOKEN not in json.dumps(pod_settings(spec, options_of(operator)))
    if spec.authority:
        assert b64decode(files["ca.crt"]).decode() == AUTHORITY


@pytest.mark.parametrize("operator", Operator)
def test_every_pod_is_restricted(operator: Operator) -> None:
    """The rules of Pod Security "restricted" for what these pods contain."""
    pods = [pod_of(render(LARGE, replace(PLAIN, operator=operator))[0]), executor_of(LARGE, PLAIN)]
    for pod in pods:
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["securityContext"]["runAsUser"] == 10001
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        assert all({"emptyDir", "secret"} & volume.keys() for volume in spec["volumes"])
        for container in spec["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["readOnlyRootFilesystem"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}


def test_a_read_only_root_leaves_tmp_and_the_work_directory_writable() -> None:
    for pod in (pod_of(render(LARGE, PLAIN)[0]), executor_of(LARGE, PLAIN)):
        container = pod["spec"]["containers"][0]
        writable = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert writable["tmp"] == "/tmp"  # noqa: S108 - inside the pod
        assert writable["work"] == "/var/lib/maintainer"


def test_a_user_that_the_cluster_chooses_can_read_the_token() -> None:
    """Without fsGroup the files belong to root."""
    pod = pod_of(render(SMALL, replace(PLAIN, run_as_user=None))[0])
    assert not {"runAsUser", "fsGroup"} & pod["spec"]["securityContext"].keys()
    [link] = [volume for volume in pod["spec"]["volumes"] if volume["name"] == "link"]
    assert link["secret"]["defaultMode"] == 0o444


def test_the_template_changes_defaults_but_not_how_the_driver_is_found() -> None:
    template = {
        "metadata": {"labels": {"iceberg-maintainer/driver": "another", "mine": "yes"}},
        "spec": {
            "securityContext": {"runAsUser": 2000},
            "restartPolicy": "Always",
            "containers": [
                {
                    "name": "spark-kubernetes-driver",
                    "env": [
                        {"name": "MAINTAINER_LINK", "value": "https://elsewhere.example"},
                        {"name": "MINE", "value": "1"},
                    ],
                },
                {"name": "sidecar", "image": "sidecar.example/one"},
            ],
        },
    }
    pod: Any = render(SMALL, replace(PLAIN, pod_template=template))[0]
    driver, sidecar = pod["spec"]["containers"]
    env = {entry["name"]: entry["value"] for entry in driver["env"]}
    assert pod["metadata"]["labels"]["iceberg-maintainer/driver"] == SMALL.name
    assert pod["metadata"]["labels"]["mine"] == "yes"
    assert pod["spec"]["securityContext"]["runAsUser"] == 2000
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert pod["spec"]["restartPolicy"] == "Never"
    assert env["MAINTAINER_LINK"] == SMALL.address
    assert env["MINE"] == "1"
    assert sidecar == {"name": "sidecar", "image": "sidecar.example/one"}


def test_the_template_of_one_role_leaves_the_other_alone() -> None:
    template = {
        "spec": {
            "containers": [
                {"name": "spark-kubernetes-driver", "workingDir": "/driver"},
                {"name": "spark-kubernetes-executor", "workingDir": "/executor"},
            ]
        }
    }
    options = replace(PLAIN, pod_template=template)
    [driver] = pod_of(render(LARGE, options)[0])["spec"]["containers"]
    [executor] = executor_of(LARGE, options)["spec"]["containers"]
    assert driver["workingDir"] == "/driver"
    assert executor["workingDir"] == "/executor"


def test_a_cluster_that_chooses_the_user_gets_none_from_us() -> None:
    pod: Any = render(SMALL, replace(PLAIN, run_as_user=None))[0]
    assert pod["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_a_driver_without_executors_may_not_speak_with_the_cluster() -> None:
    alone: Any = render(SMALL, PLAIN)
    with_executors: Any = render(LARGE, PLAIN)
    assert [manifest["kind"] for manifest in alone] == ["Pod", "Secret"]
    assert alone[0]["spec"]["automountServiceAccountToken"] is False
    assert [manifest["kind"] for manifest in with_executors] == ["Pod", "Secret", "Service"]
    assert with_executors[0]["spec"]["automountServiceAccountToken"] is True
    assert executor_of(LARGE, PLAIN)["spec"]["automountServiceAccountToken"] is False


def test_the_service_selects_the_driver_alone() -> None:
    service: Any = render(LARGE, PLAIN)[2]
    driver = pod_of(render(LARGE, PLAIN)[0])["metadata"]["labels"]
    executor = executor_of(LARGE, PLAIN)["metadata"]["labels"]
    selector = service["spec"]["selector"].items()
    assert selector <= driver.items()
    assert not selector <= executor.items()


def test_the_driver_listens_where_the_service_and_the_settings_say() -> None:
    pod, _, service = render(LARGE, PLAIN)
    settings = pod_settings(LARGE, PLAIN)
    ports = [port["containerPort"] for port in pod_of(pod)["spec"]["containers"][0]["ports"]]
    served: Any = service["spec"]
    assert [port["port"] for port in served["ports"]] == ports
    assert ports == [
        int(settings["spark.driver.port"]),
        int(settings["spark.driver.blockManager.port"]),
    ]
    assert settings["spark.driver.host"] == f"{LARGE.name}.spark-jobs.svc"


def test_executors_that_come_and_go_are_bounded() -> None:
    assert not [name for name in pod_settings(LARGE, PLAIN) if "dynamicAllocation" in name]
    assert LARGE.executors is not None
    elastic = replace(LARGE, executors=replace(LARGE.executors, bounds=(1, 40)))
    settings = pod_settings(elastic, PLAIN)
    assert settings["spark.dynamicAllocation.enabled"] == "true"
    assert settings["spark.dynamicAllocation.shuffleTracking.enabled"] == "true"
    assert settings["spark.dynamicAllocation.maxExecutors"] == "40"
    assert settings["spark.executor.instances"] == str(LARGE.executors.count), "at the start"


def test_the_memory_of_the_container_is_the_heap_and_its_overhead() -> None:
    small: Any = render(SMALL, PLAIN)[0]
    large: Any = render(LARGE, PLAIN)[0]
    assert small["spec"]["containers"][0]["resources"]["limits"] == {"memory": "2560Mi"}
    assert large["spec"]["containers"][0]["resources"]["limits"] == {"memory": "10240Mi"}


def test_yunikorn_gets_its_queue_its_application_and_its_scheduler() -> None:
    options = replace(PLAIN, queueing=Queueing.YUNIKORN, queue="root.maintenance")
    for pod in (pod_of(render(LARGE, options)[0]), executor_of(LARGE, options)):
        assert pod["metadata"]["labels"]["yunikorn.apache.org/queue"] == "root.maintenance"
        assert pod["metadata"]["labels"]["yunikorn.apache.org/app-id"] == LARGE.name
        assert pod["spec"]["schedulerName"] == "yunikorn"


@pytest.mark.parametrize("operator", Operator)
def test_what_is_owned_names_its_owner(operator: Operator) -> None:
    owner, secret, _ = render(LARGE, options_of(operator))
    owned: Any = own(secret, owner, "uid-1")
    assert owned["metadata"]["ownerReferences"] == [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": LARGE.name,
            "uid": "uid-1",
        }
    ]
    assert "ownerReferences" not in json.dumps(secret)


def test_rendering_leaves_the_options_as_they_are() -> None:
    before = json.dumps(FULL.pod_template)
    render(LARGE, FULL)
    assert json.dumps(FULL.pod_template) == before
