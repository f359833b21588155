"""Eight installations: valid for each Kubernetes, restricted, whole, and readable by the daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helm_python import lint
from jsonschema import Draft202012Validator
from kubernetes_validate.utils import schema_contents
from referencing import Registry, Resource

from maintainer.settings import Settings, load_settings
from tests.helm.charts import (
    CHART,
    JOBS_NAMESPACE,
    NAMESPACE,
    SCENARIOS,
    Object,
    PodOf,
    containers,
    find,
    objects,
    pods,
    read_values,
    render,
)

VERSIONS = tuple(f"1.{minor}" for minor in range(28, 38))
# Defined by other projects, so Kubernetes' own schemas do not have them.
OTHERS = {"Certificate", "HTTPRoute", "PodMonitor", "PrometheusRule", "ServiceMonitor"}
HOOKS = {"Job", "Pod"}
# The names of what the values refer to and the chart does not create.
GIVEN = {
    "lake", "tokens", "chat", "kept", "link", "maintainer-store", "maintainer-link", "git",
    "team-orders", "team-clicks", "upkeep-link-tls", "api", "daemon", "spark", "default",
}  # fmt: skip


def test_there_are_eight_scenarios() -> None:
    assert len(SCENARIOS) == 8


@cache
def validator(version: str, api_version: str, kind: str) -> Draft202012Validator:
    """The strict schema of a kind, as kubernetes_validate has it; it reads it for each object."""
    folder = f"kubernetes-json-schema/v{version}.0-local-strict"
    group, _, api = api_version.rpartition("/")
    name = "-".join([kind.lower(), *([group.split(".")[0]] if group else []), api])
    schema = schema_contents(f"{folder}/{name}.json", version)
    registry: Registry[Any] = Resource.from_contents(schema) @ Registry()
    return Draft202012Validator(schema, registry=definitions(folder, version) @ registry)


@cache
def definitions(folder: str, version: str) -> Resource[Any]:
    return Resource.from_contents(schema_contents(f"{folder}/_definitions.json", version))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid(version: str) -> None:
    seen = {
        json.dumps(each, sort_keys=True): (scenario, each)
        for scenario in SCENARIOS
        for each in objects(scenario)
        if each["kind"] not in OTHERS
    }
    wrong = [
        (scenario, each["kind"], each["metadata"]["name"], error.json_path, error.message)
        for scenario, each in seen.values()
        for error in validator(version, each["apiVersion"], each["kind"]).iter_errors(each)
    ]
    assert wrong == []


def test_an_unknown_field_is_found() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [], "none": 1}}
    assert any("none" in error.message for error in validator("1.30", "v1", "Pod").iter_errors(pod))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_lint_finds_nothing(scenario: str) -> None:
    report = lint(
        CHART, read_values(scenario), strict=True, namespace=NAMESPACE, kube_version="v1.28.0"
    )
    found = [message["error"] for message in report["messages"]]
    assert (report["errors"], found) == ([], ["icon is recommended"])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_daemon_accepts_its_configuration(scenario: str, tmp_path: Path) -> None:
    settings = load(scenario, tmp_path)
    given = read_values(scenario)["config"]
    assert list(settings.catalogs) == list(given["catalogs"])
    assert settings.spark.runner == ("kubernetes" if needs_pods(scenario) else "process")
    text = find_configuration(scenario)
    migrations = [each for each in objects(scenario, "ConfigMap") if "migrate" in name_of(each)]
    assert [each["data"]["maintainer.yaml"] for each in migrations] in ([], [text])


def load(scenario: str, tmp_path: Path) -> Settings:
    """The settings as a container of the daemon reads them."""
    file = tmp_path / "maintainer.yaml"
    file.write_text(find_configuration(scenario))
    pod = next(pod for pod in pods(scenario) if pod.labels.get("app.kubernetes.io/component"))
    environ = {"TEAM_TOKEN": "x" * 16}
    for each in pod.spec["containers"][0]["env"]:
        store = "postgresql://user@store.example/maintainer"
        secret = store if each["name"] == "MAINTAINER_STORE" else f"{each['name']}-0123456789"
        environ[each["name"]] = each.get("value") or secret
    return load_settings(file, environ)


def find_configuration(scenario: str) -> str:
    [text] = {
        each["data"]["maintainer.yaml"]
        for each in objects(scenario, "ConfigMap")
        if "maintainer.yaml" in each.get("data", {})
    }
    return str(text)


def needs_pods(scenario: str) -> bool:
    return scenario.startswith("cluster") or scenario == "simple-pods"


def name_of(each: Object) -> str:
    return str(each["metadata"]["name"])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_containers_of_the_daemons_image_request_what_a_quota_counts(scenario: str) -> None:
    """A quota refuses a pod without requests, and a full node gives it almost no CPU."""
    images = {pod.spec["containers"][0]["image"] for pod in pods(scenario)}
    found = {
        f"{pod.name} {each['name']}": set(each.get("resources", {}).get("requests", ()))
        for pod in pods(scenario)
        for each in containers(pod)
        if each["image"] in images
    }
    assert found
    assert {name for name, requests in found.items() if requests != {"cpu", "memory"}} == set()


@pytest.mark.parametrize("scenario", ["cluster-full", "simple-full"])
def test_hooks_run_on_the_nodes_of_the_daemon(scenario: str) -> None:
    names = ("nodeSelector", "tolerations", "priorityClassName")
    places = {
        f"{pod.kind} {pod.name}": [pod.spec.get(name) for name in names] for pod in pods(scenario)
    }
    values = read_values(scenario)
    assert all(place == [values[name] for name in names] for place in places.values()), places
    assert any(kind.startswith("Pod ") for kind in places)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_pods_satisfy_the_restricted_standard(scenario: str) -> None:
    assert [problem for pod in pods(scenario) for problem in find_liberties(pod, scenario)] == []


def find_liberties(pod: PodOf, scenario: str) -> Iterator[str]:
    """What Pod Security's `restricted` would refuse, and roots that can be written to."""
    context = pod.spec["securityContext"]
    if context["runAsNonRoot"] is not True or context["seccompProfile"]["type"] != "RuntimeDefault":
        yield f"{pod.name}: {context}"
    if ("runAsUser" in context) is ("openshift" in scenario):
        yield f"{pod.name}: runAsUser {context.get('runAsUser')}"
    for each in containers(pod):
        own = each.get("securityContext", {})
        if own != {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }:
            yield f"{pod.name}/{each['name']}: {own}"
    for volume in pod.spec["volumes"]:
        kinds = {"configMap", "projected", "emptyDir", "secret", "persistentVolumeClaim"}
        if not kinds & volume.keys():
            yield f"{pod.name}: volume {volume}"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_token_is_where_the_api_server_is_asked_and_nowhere_else(scenario: str) -> None:
    mounted = {
        (pod.kind, pod.labels["app.kubernetes.io/component"])
        for pod in pods(scenario)
        if pod.spec["automountServiceAccountToken"]
    }
    if scenario == "cluster-full":  # which reads policies that are resources
        assert mounted == {("Deployment", "api"), ("Deployment", "worker"), ("Pod", "test")}
    elif scenario == "simple-full":
        assert mounted == {("StatefulSet", "all"), ("Pod", "test")}
    elif not needs_pods(scenario):
        assert mounted == set()
    elif scenario.startswith("cluster"):
        assert mounted == {("Deployment", "worker"), ("Pod", "test")}
    else:
        assert mounted == {("StatefulSet", "all"), ("Pod", "test")}
    accounts = objects(scenario, "ServiceAccount")
    drivers = [each for each in accounts if name_of(each).endswith(("-spark", "writer"))]
    assert {
        each.get("automountServiceAccountToken") for each in accounts if each not in drivers
    } <= {False}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_name_that_is_used_exists(scenario: str) -> None:
    known = {(each["kind"], name_of(each)) for each in objects(scenario)}
    wanted = {(kind, name) for pod in pods(scenario) for kind, name in find_named(pod)}
    assert {(kind, name) for kind, name in wanted - known if name not in GIVEN} == set()
    for pod in pods(scenario):
        volumes = {volume["name"] for volume in pod.spec["volumes"]}
        mounts = [mount for each in containers(pod) for mount in each.get("volumeMounts", ())]
        assert {mount["name"] for mount in mounts} <= volumes


def find_named(pod: PodOf) -> Iterator[tuple[str, str]]:
    """The objects that a pod needs before it can start."""
    yield "ServiceAccount", pod.spec.get("serviceAccountName", "default")
    for volume in pod.spec["volumes"]:
        for source in [volume, *volume.get("projected", {}).get("sources", ())]:
            if "configMap" in source:
                yield "ConfigMap", source["configMap"]["name"]
            if "secret" in source:
                yield "Secret", source["secret"]["secretName"]
            if "persistentVolumeClaim" in source:
                yield "PersistentVolumeClaim", source["persistentVolumeClaim"]["claimName"]
    for each in containers(pod):
        for variable in each.get("env", ()):
            if "valueFrom" in variable:
                yield "Secret", variable["valueFrom"]["secretKeyRef"]["name"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_selector_finds_pods_of_its_own_release(scenario: str) -> None:
    pods_of = {(pod.kind, pod.name): pod.labels for pod in pods(scenario) if pod.kind not in HOOKS}
    hooks = [pod.labels for pod in pods(scenario) if pod.kind in HOOKS]
    selectors = {
        (each["kind"], name_of(each)): selector
        for each in objects(scenario)
        if each["metadata"].get("namespace") == NAMESPACE  # elsewhere are pods of jobs
        and each["kind"] != "ServiceMonitor"  # which selects a Service
        if (selector := find_selector(each)) is not None
    }
    assert selectors
    for what, selector in selectors.items():
        is_of_hook = what[1].endswith(("-migrate", "-test"))
        is_of_test = what[1].endswith("-test")
        assert is_of_test or selector["app.kubernetes.io/instance"] == "lake", what
        labels = hooks if is_of_hook else pods_of.values()
        assert any(selector.items() <= each.items() for each in labels), what


def find_selector(each: Object) -> dict[str, str] | None:
    spec = each.get("spec", {})
    selector = spec.get("podSelector", spec.get("selector"))
    if selector is None:
        return None
    labels: dict[str, str] = selector.get("matchLabels", selector)
    return labels


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_named_port_is_one_of_a_selected_pod(scenario: str) -> None:
    for service in objects(scenario, "Service"):
        selector = find_selector(service) or {}
        selected = [pod for pod in pods(scenario) if selector.items() <= pod.labels.items()]
        assert len({pod.name for pod in selected}) == 1
        ports = {port["name"] for pod in selected for port in pod.spec["containers"][0]["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def test_the_parts_of_a_full_cluster() -> None:
    scaler = find("cluster-full", "HorizontalPodAutoscaler", "upkeep-api")["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 4)
    assert "replicas" not in find("cluster-full", "Deployment", "upkeep-api")["spec"]
    assert find("cluster-full", "Deployment", "upkeep-worker")["spec"]["replicas"] == 3
    budgets = [name_of(each) for each in objects("cluster-full", "PodDisruptionBudget")]
    assert budgets == ["upkeep-api"]
    images = {each["image"] for pod in pods("cluster-full") for each in containers(pod)}
    assert images == {f"mirror.example/data/iceberg-maintainer@sha256:{'0123456789abcdef' * 4}"}
    secrets = [pod.spec["imagePullSecrets"] for pod in pods("cluster-full")]
    assert secrets == [[{"name": "mirror"}, {"name": "registry"}]] * len(secrets)
    [certificate] = objects("cluster-full", "Certificate")
    assert certificate["spec"]["dnsNames"] == ["upkeep-link.maintenance.svc"]
    service = find("cluster-full", "Service", "upkeep")["spec"]
    assert service["loadBalancerSourceRanges"] == ["10.0.0.0/8"]


def test_common_annotations_are_on_every_object() -> None:
    without = [
        (each["kind"], name_of(each))
        for each in objects("cluster-full")
        if each["metadata"].get("annotations", {}).get("example/managed") != "chart"
    ]
    assert without == []


def test_a_role_has_its_own_pods() -> None:
    worker = {
        "nodeSelector": {"disk": "nvme"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
    }
    specs = {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each["spec"]["template"]
        for each in render(read_values("cluster-full") | {"worker": worker})
        if each["kind"] == "Deployment"
    }
    given = read_values("cluster-full")
    for role, wanted in (("worker", worker), ("api", given)):
        for name in ("nodeSelector", "tolerations"):
            assert specs[role]["spec"][name] == wanted[name], (role, name)
    for role, owner, has in (("worker", "workers", True), ("api", "data", False)):
        deployment = find("cluster-full", "Deployment", f"upkeep-{role}")
        template = deployment["spec"]["template"]
        assert template["metadata"]["annotations"]["example/owner"] == owner
        assert ("example.identity/use" in template["metadata"]["labels"]) is has
        for each in [*template["spec"]["initContainers"], *template["spec"]["containers"]]:
            assert ("ONLY_WORKERS" in {one["name"] for one in each["env"]}) is has
        assert ("reloader.example/auto" in deployment["metadata"]["annotations"]) is has
        assert deployment["spec"]["revisionHistoryLimit"] == 3


def test_hooks_have_labels_annotations_and_an_account_of_their_own() -> None:
    job = find("cluster-full", "Job", "upkeep-migrate")
    assert job["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-1"
    hooks = [job["spec"]["template"], find("cluster-full", "Pod", "upkeep-test")]
    for pod in hooks:
        assert pod["metadata"]["annotations"]["sidecar.istio.io/inject"] == "false"
        assert pod["metadata"]["labels"]["example.identity/use"] == "true"
    account = find("cluster-full", "ServiceAccount", hooks[0]["spec"]["serviceAccountName"])
    # It exists before the Job, which runs before the release's other objects exist.
    assert account["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert int(account["metadata"]["annotations"]["helm.sh/hook-weight"]) < 0
    others = [each for each in pods("cluster-full") if each.kind != "Job"]
    assert name_of(account) not in {each.spec["serviceAccountName"] for each in others}
    values = read_values("cluster-full") | {"hooks": {"serviceAccount": {"create": False}}}
    accounts = [
        each["spec"]["template"]["spec"]["serviceAccountName"]
        for each in render(values)
        if each["kind"] == "Job"
    ]
    assert accounts == ["default"]


@pytest.mark.parametrize(
    ("migration", "jobs", "first"),
    [
        ("job", 1, ("wait-for-schema", ["store", "wait"])),
        ("init", 0, ("migrate", ["store", "migrate"])),
        ("none", 0, ("wait-for-schema", ["store", "wait"])),
    ],
)
def test_the_store_is_migrated_by_a_hook_or_by_the_pods_or_by_a_person(
    migration: str, jobs: int, first: tuple[str, list[str]]
) -> None:
    documents = render(read_values("cluster-full") | {"migration": migration})
    before = [
        each
        for each in documents
        if "pre-install" in each["metadata"].get("annotations", {}).get("helm.sh/hook", "")
    ]
    # the Job, its configuration, account and NetworkPolicy: without it, no hook is left
    assert len(before) == 4 * jobs
    assert sum(each["kind"] == "Job" for each in documents) == jobs
    found = [
        (each["spec"]["template"]["spec"]["initContainers"][0]["name"],
         each["spec"]["template"]["spec"]["initContainers"][0]["args"])
        for each in documents
        if each["kind"] == "Deployment"
    ]  # fmt: skip
    assert found == [first, first]


def test_every_pod_finds_names_and_runs_as_the_values_say() -> None:
    given = read_values("cluster-full")
    for pod in pods("cluster-full"):
        for name in ("runtimeClassName", "dnsConfig", "hostAliases"):
            assert pod.spec[name] == given[name], (pod.name, name)
    assert {pod.spec["dnsPolicy"] for pod in pods("simple-full")} == {"Default"}


def test_workers_follow_the_load_if_asked() -> None:
    scaled = read_values("cluster") | {"worker": {"autoscaling": {"enabled": True}}}
    documents = {(each["kind"], name_of(each)): each for each in render(scaled)}
    name = "lake-iceberg-maintainer-worker"
    scaler = documents["HorizontalPodAutoscaler", name]["spec"]
    assert scaler["scaleTargetRef"]["name"] == name
    assert "replicas" not in documents["Deployment", name]["spec"]


def test_a_service_monitor_finds_every_replica() -> None:
    monitor = find("simple-full", "ServiceMonitor", "lake-iceberg-maintainer")["spec"]
    wanted = monitor["selector"]["matchLabels"].items()
    [service] = [
        each
        for each in objects("simple-full", "Service")
        if wanted <= each["metadata"]["labels"].items()
    ]
    [endpoint] = monitor["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    assert (endpoint["scheme"], endpoint["tlsConfig"]) == ("https", {"insecureSkipVerify": True})
    assert endpoint["authorization"]["credentials"] == {"name": "scrape", "key": "token"}
    scaled = read_values("cluster") | {"serviceMonitor": {"enabled": True}}
    documents = {(each["kind"], name_of(each)): each for each in render(scaled)}
    selector = documents["Service", "lake-iceberg-maintainer-metrics"]["spec"]["selector"]
    labels = [
        each["spec"]["template"]["metadata"]["labels"]
        for each in documents.values()
        if each["kind"] == "Deployment"
    ]
    assert len(labels) == 2
    assert all(selector.items() <= each.items() for each in labels)


def test_common_labels_are_on_every_object_but_the_pod_of_helms_test() -> None:
    without = [
        (each["kind"], name_of(each))
        for each in objects("cluster-full")
        if each["metadata"]["labels"].get("cost") != "data"
    ]
    assert without == [("Pod", "upkeep-test")]


def test_routes_lead_to_the_prefix_of_the_page() -> None:
    [ingress] = objects("simple-full", "Ingress")
    paths = {
        rule["host"]: [(path["path"], path["pathType"]) for path in rule["http"]["paths"]]
        for rule in ingress["spec"]["rules"]
    }
    assert paths == {
        "maintainer.example": [("/lake", "Prefix")],
        "upkeep.example": [("/lake", "Prefix")],
        "old.example": [("/lake", "Exact"), ("/lake/*", "ImplementationSpecific")],
    }
    assert ingress["spec"]["tls"] == [
        {"hosts": ["maintainer.example"], "secretName": "maintainer-tls"},
        {"hosts": ["upkeep.example"], "secretName": "upkeep-tls"},
    ]
    [route] = objects("cluster-full", "HTTPRoute")
    assert route["spec"]["rules"][0]["matches"] == [{"path": {"type": "PathPrefix", "value": "/"}}]


@pytest.mark.parametrize("name", ["simple-full", "cluster-full"])
def test_probes_and_prometheus_use_the_daemons_own_port_for_them(name: str, tmp_path: Path) -> None:
    port = load(name, tmp_path).server.probes_port
    for monitor in objects(name, "PodMonitor"):
        assert [each["port"] for each in monitor["spec"]["podMetricsEndpoints"]] == ["probes"]
    containers = [
        container
        for kind in ("Deployment", "StatefulSet")
        for each in objects(name, kind)
        for container in each["spec"]["template"]["spec"]["containers"]
        if container["name"] == "maintainer"
    ]
    assert containers
    for container in containers:
        assert {"name": "probes", "containerPort": port} in container["ports"]
        probes = [
            container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")
        ]
        assert [each["port"] for each in probes] == ["probes"] * 3


def test_each_pool_of_pods_has_the_link_and_its_own_namespace(tmp_path: Path) -> None:
    pools = load("cluster-operator", tmp_path).spark.every_pool
    places = {name: pool.kubernetes and pool.kubernetes.namespace for name, pool in pools.items()}
    assert places == {"default": "spark-jobs", "big": "spark-large", "beside": None}
    [port] = {pool.link.port for pool in pools.values() if pool.link is not None}
    assert port == 8090


def test_a_pool_of_pods_beside_the_daemon_has_the_link_alone(tmp_path: Path) -> None:
    values = read_values("simple-pods")
    spark = {"pools": {"big": {"runner": "kubernetes"}}}
    config = {"catalogs": values["config"]["catalogs"], "spark": spark}
    documents = {
        (each["kind"], name_of(each)): each for each in render(values | {"config": config})
    }
    file = tmp_path / "maintainer.yaml"
    file.write_text(documents["ConfigMap", "lake-iceberg-maintainer"]["data"]["maintainer.yaml"])
    pools = load_settings(file, {}).spark.every_pool
    assert (pools["default"].link, pools["default"].kubernetes) == (None, None)
    assert pools["big"].kubernetes is not None
    assert pools["big"].kubernetes.namespace == JOBS_NAMESPACE
    assert ("Role", "lake-iceberg-maintainer") in documents
    pod = documents["StatefulSet", "lake-iceberg-maintainer"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True


def test_openshift_leaves_the_users_of_drivers_to_the_cluster(tmp_path: Path) -> None:
    kubernetes = load("cluster-openshift", tmp_path).spark.kubernetes
    assert kubernetes is not None
    assert kubernetes.run_as_user is None
