"""The chart in a real API server: make test-kube, with KUBEBUILDER_ASSETS.

Admission, Pod Security, rights, controllers and Helm are real; no container runs. Not collected
with the other tests, because few machines have these programs.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from helm_python import Config

from maintainer.adapters.policies.kubernetes import (
    POLICY,
    KubernetesPolicies,
    KubernetesPolicyOptions,
)
from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.kubernetes.kinds import role
from maintainer.adapters.spark.launcher.kubernetes.launcher import KubernetesLauncher
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import Mode
from maintainer.domain.policy_version import PolicyStatus
from maintainer.domain.units import MIB
from maintainer.policy.effective import effective
from tests.adapters.policies.resources import write_resource
from tests.adapters.spark.launcher.kubernetes.launcher_suite import spec_of
from tests.adapters.spark.launcher.kubernetes.real_api_server import RealServer, open_real_server
from tests.helm.charts import (
    CHART,
    EXAMPLES,
    FULLNAME,
    JOBS_NAMESPACE,
    NAMESPACE,
    RELEASE,
    SCENARIOS,
    Object,
    PodOf,
    find,
    objects,
    pods_of,
    render_example,
    unpack_former_chart,
)
from tests.helm.nodes import pretending_nodes
from tests.helm.test_scenarios import OTHERS

JOBS = "spark-jobs"
CATALOGS = {"lake": {"type": "rest", "uri": "https://catalog.example/"}}
CLUSTER: dict[str, Any] = {
    "mode": "cluster",
    "config": {"catalogs": CATALOGS, "spark": {"kubernetes": {"namespace": JOBS}}},
    "store": {"secretName": "store"},
    "link": {"secretName": "link"},
    "policies": {"default.yaml": "tables: lake.*.*\n"},
    "networkPolicy": {"enabled": True},
    "api": {"autoscaling": {"enabled": True}},
}
# Drivers are in the namespace that the chart makes.
OWN_NAMESPACE: dict[str, Any] = CLUSTER | {
    "config": {"catalogs": CATALOGS},
    "jobs": {"namespace": {"keep": False}, "quota": {"pods": "20"}},
}
VOLUME = {
    "metadata": {"name": "volume"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "10Gi"},
        "hostPath": {"path": "/nowhere"},
        "persistentVolumeReclaimPolicy": "Retain",
    },
}
DEFINITION = (
    f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{POLICY.plural}.{POLICY.group}"
)
RESOURCES = f"/apis/{POLICY.api_version}/namespaces/{JOBS}/{POLICY.plural}"
ORDERS = TableIdentifier("lake", ("sales",), "orders")
SPEC = {
    "tables": ["lake.sales.orders", "lake.sales.items"],
    "mode": "enforce",
    "target_file_size": "256MiB",
    "rollback_for": "off",
    "budget": {"max_jobs": 2, "bytes_per_day": 1073741824},
    "rules": {"expire_snapshots": {"max_age": "3d", "options": {"stream_results": True}}},
}
WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"mode": "enforced"}, 'spec.mode: Unsupported value: "enforced"'),
    ({"tables": []}, "spec.tables"),
    ({"target_file_size": "large"}, "spec.target_file_size"),
    ({"rollback_for": "never"}, "spec.rollback_for"),
    ({"budget": {"max_jobs": -1}}, "spec.budget.max_jobs"),
    ({"rule": {}}, 'unknown field "spec.rule"'),
)
# What a release may leave or make; secrets are Helm's own history.
KINDS = {
    "/api/v1": ("configmaps", "pods", "secrets", "serviceaccounts", "services",
                "persistentvolumeclaims", "resourcequotas"),
    "/apis/apps/v1": ("deployments", "replicasets", "statefulsets"),
    "/apis/autoscaling/v2": ("horizontalpodautoscalers",),
    "/apis/batch/v1": ("jobs",),
    "/apis/networking.k8s.io/v1": ("networkpolicies", "ingresses"),
    "/apis/policy/v1": ("poddisruptionbudgets",),
    "/apis/rbac.authorization.k8s.io/v1": ("roles", "rolebindings"),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    with open_real_server(tmp_path_factory.mktemp("cluster")) as server, pretending_nodes(server):
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        metadata = {"name": NAMESPACE, "labels": labels}
        server.ask("POST", "/api/v1/namespaces", {"metadata": metadata})
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
        server.wait_until(lambda: server.ask("GET", account)["items"])  # the default one
        yield server


@contextmanager
def installed(server: RealServer, values: dict[str, Any], chart: Path = CHART) -> Iterator[Config]:
    """A release with these values, whose pods are ready; nothing of it is left at the end."""
    before = everything(server)
    with Config(kubeconfig_path=server.admin, namespace=NAMESPACE) as helm:
        try:
            helm.install(chart, RELEASE, values, wait="watcher", timeout=90)
            yield helm
        finally:
            helm.uninstall(RELEASE, wait="watcher", timeout=60)
        server.wait_until(lambda: everything(server) == before)


def everything(server: RealServer) -> set[str]:
    return {
        f"{path}/{each['metadata']['name']}"
        for api, plurals in KINDS.items()
        for namespace in (NAMESPACE, JOBS, JOBS_NAMESPACE)
        for plural in plurals
        for path in [f"{api}/namespaces/{namespace}/{plural}"]
        for each in server.ask("GET", path)["items"]
    }


def find_pods(server: RealServer) -> dict[str, set[str]]:
    """The names of the pods by component."""
    found: dict[str, set[str]] = {}
    for pod in server.ask("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]:
        if "deletionTimestamp" not in pod["metadata"]:
            component = pod["metadata"]["labels"]["app.kubernetes.io/component"]
            found.setdefault(component, set()).add(pod["metadata"]["name"])
    return found


def count_pods(server: RealServer) -> dict[str, int]:
    return {component: len(names) for component, names in find_pods(server).items()}


def read_configuration(server: RealServer) -> dict[str, Any]:
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{FULLNAME}"
    settings: dict[str, Any] = yaml.safe_load(server.ask("GET", path)["data"]["maintainer.yaml"])
    return settings


def test_a_release_is_installed_tested_changed_and_rolled_back(server: RealServer) -> None:
    with installed(server, CLUSTER) as helm:
        first = find_pods(server)
        assert count_pods(server) == {"api": 2, "worker": 2}
        helm.test(RELEASE, timeout=60)

        policies = {"orders.yaml": "tables: lake.sales.orders\nmode: enforce\n"}
        helm.upgrade(CHART, RELEASE, CLUSTER | {"policies": policies}, wait="watcher", timeout=90)
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{FULLNAME}-policies"
        assert server.ask("GET", path)["data"] == policies
        assert find_pods(server) == first

        config = CLUSTER["config"] | {"drain_timeout": "5m"}
        helm.upgrade(CHART, RELEASE, CLUSTER | {"config": config}, wait="watcher", timeout=90)
        assert read_configuration(server)["drain_timeout"] == "5m"
        server.wait_until(lambda: not find_pods(server)["worker"] & first["worker"])
        assert not find_pods(server)["api"] & first["api"]

        helm.rollback(RELEASE, version=1, wait="watcher", timeout=90)
        assert "drain_timeout" not in read_configuration(server)


def test_a_driver_works_on_while_the_former_chart_is_upgraded_and_rolled_back_to(
    server: RealServer, tmp_path: Path
) -> None:
    with installed(server, CLUSTER, unpack_former_chart(tmp_path)) as helm:
        accounts = find_uids(server)
        with open_launcher(server, tmp_path) as launcher:
            driver = launcher.launch(spec_of("driver", "x"))
            pods = f"/api/v1/namespaces/{JOBS}/pods"
            server.wait_until(lambda: launcher.state(driver).phase is LaunchPhase.RUNNING)
            [pod] = server.ask("GET", pods)["items"]
            for change in (
                lambda: helm.upgrade(CHART, RELEASE, CLUSTER, wait="watcher", timeout=90),
                lambda: helm.rollback(RELEASE, version=1, wait="watcher", timeout=90),
            ):
                change()
                assert accounts.items() <= find_uids(server).items()
                server.wait_until(lambda: count_pods(server) == {"api": 2, "worker": 2})
                assert launcher.state(driver).phase is LaunchPhase.RUNNING
                [found] = server.ask("GET", pods)["items"]
                assert found["metadata"]["uid"] == pod["metadata"]["uid"]
            launcher.end(driver)
            server.wait_until(lambda: launcher.state(driver).phase is LaunchPhase.GONE)


@contextmanager
def open_launcher(server: RealServer, directory: Path) -> Iterator[KubernetesLauncher]:
    """A worker's, with a token of its account."""
    file = issue(server, NAMESPACE, FULLNAME, directory / "daemon")
    options = KubernetesOptions(namespace=JOBS, image="x", kubeconfig=file)
    with closing(KubernetesLauncher(options, "x")) as launcher:
        yield launcher


def find_uids(server: RealServer) -> dict[str, str]:
    """The identities of the accounts of the daemon and of drivers, which running drivers use."""
    return {
        f"{namespace}/{each['metadata']['name']}": each["metadata"]["uid"]
        for namespace in (NAMESPACE, JOBS)
        for each in server.ask("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts")["items"]
        if each["metadata"]["name"].startswith(FULLNAME)
    }


def test_the_daemons_account_has_the_rights_of_its_role_and_no_other(
    server: RealServer, tmp_path: Path
) -> None:
    with installed(server, CLUSTER):
        with open_launcher(server, tmp_path) as launcher:
            found = list(launcher.describe())
        assert found
        assert all(is_there for _, is_there, _ in found), found
        file = tmp_path / "daemon"
        needed = role(KubernetesOptions(namespace=JOBS, image="x"), "x")["rules"]
        assert list_rights(server, file, JOBS) == flatten(needed)
        assert list_rights(server, file, NAMESPACE) == set()
        assert list_rights(server, file, "default") == set()
        for account in ("default", f"{FULLNAME}-api"):
            file = issue(server, NAMESPACE, account, tmp_path / account)
            assert list_rights(server, file, JOBS) == set()
            assert list_rights(server, file, NAMESPACE) == set()


def test_no_account_may_do_anything_where_the_daemon_is(server: RealServer, tmp_path: Path) -> None:
    """Each account is asked what it may do in each namespace, as `kubectl auth can-i --list`."""
    spark = find("cluster", "Role", f"{FULLNAME}-spark", JOBS_NAMESPACE)["rules"]
    allowed = {
        (FULLNAME, JOBS_NAMESPACE): flatten(role(KubernetesOptions("x", "x"), "x")["rules"]),
        (f"{FULLNAME}-spark", JOBS_NAMESPACE): flatten(spark),
    }
    with installed(server, OWN_NAMESPACE):
        accounts = [
            (namespace, each["metadata"]["name"])
            for namespace in (NAMESPACE, JOBS_NAMESPACE)
            for each in server.ask("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts")[
                "items"
            ]
        ]
        assert {name for _, name in accounts} == {
            "default", FULLNAME, f"{FULLNAME}-api", f"{FULLNAME}-spark"
        }  # fmt: skip
        for home, account in accounts:
            file = issue(server, home, account, tmp_path / f"{home}-{account}")
            for place in (NAMESPACE, JOBS_NAMESPACE, JOBS, "default", "kube-system"):
                rights = list_rights(server, file, place)
                assert rights == allowed.get((account, place), set()), (home, account, place)
        file = tmp_path / f"{JOBS_NAMESPACE}-{FULLNAME}-spark"
        for method, path, body in attacks():
            assert refuse_driver(server, file, method, path, body), (method, path)
    server.wait_until(lambda: JOBS_NAMESPACE not in find_namespaces(server))


def attacks() -> Iterator[tuple[str, str, Object | None]]:
    """What code in a driver could try in order to own the daemon."""
    home = f"/api/v1/namespaces/{NAMESPACE}"
    container = {"name": "x", "image": "x", "envFrom": [{"secretRef": {"name": "store"}}]}
    metadata = {"name": "attack"}
    pod = {"serviceAccountName": FULLNAME, "containers": [container]}
    yield "POST", f"{home}/pods", {"metadata": metadata, "spec": pod}
    # in its own namespace, as the account of the daemon, which is not there
    yield "POST", f"/api/v1/namespaces/{JOBS_NAMESPACE}/pods", {"metadata": metadata, "spec": pod}
    yield "GET", f"{home}/secrets/store", None
    yield "GET", f"{home}/configmaps/{FULLNAME}", None
    policies = {"data": {"default.yaml": "tables: lake.*.*\nmode: enforce\n"}}
    yield "PATCH", f"{home}/configmaps/{FULLNAME}-policies", policies
    yield "DELETE", f"{home}/persistentvolumeclaims/{FULLNAME}-data", None
    yield "POST", f"{home}/serviceaccounts/{FULLNAME}/token", {"spec": {}}


def refuse_driver(
    server: RealServer, file: Path, method: str, path: str, body: Object | None
) -> bool:
    """Return whether the server forbids the request to the account of the kubeconfig."""
    token = yaml.safe_load(file.read_text())["users"][0]["user"]["token"]
    with pytest.raises(httpx2.HTTPStatusError) as refused:
        server.ask(method, path, body, token=token)
    return refused.value.response.status_code == httpx2.codes.FORBIDDEN


def find_namespaces(server: RealServer) -> set[str]:
    return {each["metadata"]["name"] for each in server.ask("GET", "/api/v1/namespaces")["items"]}


def read_notes(server: RealServer, revision: int) -> str:
    """The notes that Helm printed, from its own record of the release."""
    path = f"/api/v1/namespaces/{NAMESPACE}/secrets/sh.helm.release.v1.{RELEASE}.v{revision}"
    record = b64decode(b64decode(server.ask("GET", path)["data"]["release"]))
    return str(json.loads(gzip.decompress(record))["info"]["notes"])


def test_an_upgrade_says_that_drivers_move_out_of_the_daemons_namespace(server: RealServer) -> None:
    own = {"jobs": {"inReleaseNamespace": True}}
    with installed(server, OWN_NAMESPACE | own) as helm:
        assert "CHANGED" not in read_notes(server, 1)
        helm.upgrade(CHART, RELEASE, OWN_NAMESPACE, wait="watcher", timeout=90)
        assert f"CHANGED: until this upgrade they ran in {NAMESPACE}" in read_notes(server, 2)
        accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
        names = {each["metadata"]["name"] for each in server.ask("GET", accounts)["items"]}
        assert f"{FULLNAME}-spark" not in names
    server.wait_until(lambda: JOBS_NAMESPACE not in find_namespaces(server))


@pytest.fixture
def policy_values() -> dict[str, Any]:
    policies = {"namespaces": {JOBS: ["lake.sales.*"]}}
    return CLUSTER | {"config": CLUSTER["config"] | {"kubernetes_policies": policies}}


@pytest.fixture
def without_definition(server: RealServer) -> Iterator[None]:
    """The release leaves the definition, with the policies of users."""
    yield
    server.ask("DELETE", DEFINITION)


@pytest.mark.usefixtures("without_definition")
def test_policies_that_are_resources_are_checked_and_read_and_left(
    server: RealServer, policy_values: dict[str, Any], tmp_path: Path
) -> None:
    with installed(server, policy_values):
        found = server.ask("GET", DEFINITION)["status"]["conditions"]
        conditions = {each["type"]: each["status"] for each in found}
        assert conditions["Established"] == "True"
        assert "NonStructuralSchema" not in conditions
        server.ask("POST", RESOURCES, write_resource("orders", SPEC))
        for wrong, words in WRONG:
            assert words in refuse(server, SPEC | wrong), wrong

        file = issue(server, NAMESPACE, FULLNAME, tmp_path / "daemon")
        ours = {("list", POLICY.plural), ("patch", f"{POLICY.plural}/status")}
        rights = list_rights(server, file, JOBS)
        assert {(verb, what) for group, what, verb in rights if group == POLICY.group} == ours
        assert list_rights(server, file, "default") == set()
        api = issue(server, NAMESPACE, f"{FULLNAME}-api", tmp_path / "api")
        assert list_rights(server, api, JOBS) == {(POLICY.group, POLICY.plural, "list")}
        bounds = {JOBS: (TablePattern("lake.sales.*"),)}
        with closing(KubernetesPolicies(KubernetesPolicyOptions(bounds, file))) as policies:
            assert policies.current().problems == ()
            policy = effective(policies.current(), ORDERS, {})
            assert (policy.mode, policy.target_file_size_bytes) == (Mode.ENFORCE, 256 * MIB)
            greedy = SPEC | {"tables": ["lake.hr.*"]}
            server.ask("POST", RESOURCES, write_resource("greedy", greedy))
            policies.refresh()
            [problem] = policies.current().problems
            assert problem.source == f"kubernetes/{JOBS}/greedy"
            now = datetime(2026, 3, 1, 12, tzinfo=UTC)
            status = PolicyStatus(2, Band.DEGRADED, 1.5 * MIB, next_check_at=now)
            statuses = {f"kubernetes/{JOBS}/orders": status}
            assert policies.report(statuses, now) == 2
            policies.refresh()
            assert policies.report(statuses, now) == 0
        greedy, orders = read_table(server)
        assert greedy["Ready"] == "False"
        assert orders | {"Age": ""} == {
            "Name": "orders",
            "Tables": '["lake.sales.orders","lake.sales.items"]',
            "Band": "degraded",
            "Average file size": "1.5 MiB",
            "Last job": None,
            "Next check": "2026-03-01T12:00:00Z",
            "Ready": "True",
            "Age": "",
        }
    assert len(server.ask("GET", RESOURCES)["items"]) == 2


def read_table(server: RealServer) -> list[dict[str, Any]]:
    """The rows that `kubectl get` shows."""
    headers = {
        "Authorization": "Bearer admin",
        "Accept": "application/json;as=Table;g=meta.k8s.io;v=v1",
    }
    with httpx2.Client(verify=False) as client:
        table = client.get(f"{server.url}{RESOURCES}", headers=headers).raise_for_status().json()
    names = [each["name"] for each in table["columnDefinitions"]]
    return [dict(zip(names, row["cells"], strict=True)) for row in table["rows"]]


def refuse(server: RealServer, spec: dict[str, Any]) -> str:
    """The API server's reason, as a strict client such as kubectl asks."""
    with pytest.raises(httpx2.HTTPStatusError) as refused:
        server.ask("POST", f"{RESOURCES}?fieldValidation=Strict", write_resource("wrong", spec))
    return str(refused.value.response.json()["message"])


def issue(server: RealServer, namespace: str, account: str, file: Path) -> Path:
    """A kubeconfig with a token of the account, as a pod of it would have."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    answer = server.ask("POST", path, {"spec": {"expirationSeconds": 3600}})
    document = yaml.safe_load(server.admin.read_text())
    user = document["contexts"][0]["context"]["user"]
    document["users"] = [{"name": user, "user": {"token": answer["status"]["token"]}}]
    file.write_text(yaml.safe_dump(document))
    return file


def list_rights(server: RealServer, kubeconfig: Path, namespace: str) -> set[tuple[str, str, str]]:
    """What the token may do in the namespace; every account may ask about itself."""
    token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    answer = server.ask("POST", path, {"spec": {"namespace": namespace}}, token=token)
    rights = flatten(answer["status"]["resourceRules"])
    return {right for right in rights if not right[0].endswith(".k8s.io")}


def flatten(rules: Any) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_is_accepted_and_its_pods_are_restricted(
    server: RealServer, scenario: str
) -> None:
    expect_acceptance(server, objects(scenario))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_accepted_and_its_pods_are_restricted(
    server: RealServer, name: str
) -> None:
    expect_acceptance(server, render_example(name))


def expect_acceptance(server: RealServer, documents: Sequence[Object]) -> None:
    """Nothing is stored; kinds of other projects are not there."""
    absent = OTHERS | {"CustomResourceDefinition", "ExternalSecret", "Namespace", "Pod"}
    for each in documents:
        if each["kind"] not in absent:
            dry_run(server, each)
    for pod in pods_of(documents):
        dry_run(server, write_pod(pod))
        with pytest.raises(httpx2.HTTPStatusError, match="403"):
            dry_run(server, write_pod(pod, securityContext={"runAsUser": 0}))


def write_pod(pod: PodOf, **changed: Object) -> Object:
    """The pod, without the names of what is not there."""
    absent = {"priorityClassName": None, "runtimeClassName": None}
    spec = {**pod.spec, "serviceAccountName": "default"} | absent | changed
    metadata = {"name": pod.name, "labels": pod.labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def dry_run(server: RealServer, document: Object) -> None:
    """Let a strict server admit an object of the release's namespace."""
    version, kind = document["apiVersion"], document["kind"].lower()
    plurals = {"ingress": "ingresses", "networkpolicy": "networkpolicies"}
    path = f"{version}/namespaces/{NAMESPACE}/{plurals.get(kind, f'{kind}s')}"
    placed = document | {"metadata": document["metadata"] | {"namespace": NAMESPACE}}
    query = "dryRun=All&fieldValidation=Strict"
    server.ask("POST", f"/{'apis' if '/' in version else 'api'}/{path}?{query}", placed)


def test_a_release_without_hooks_is_installed_and_tested(server: RealServer) -> None:
    with installed(server, OWN_NAMESPACE | {"migration": "init"}) as helm:
        jobs = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
        assert server.ask("GET", jobs)["items"] == []
        helm.test(RELEASE, timeout=60)
    server.wait_until(lambda: JOBS_NAMESPACE not in find_namespaces(server))


def test_the_namespace_of_jobs_is_kept_and_used_by_the_next_release(server: RealServer) -> None:
    values = OWN_NAMESPACE | {"jobs": {}}
    path = f"/api/v1/namespaces/{JOBS_NAMESPACE}"
    secret = {"metadata": {"name": "registry"}}
    with Config(kubeconfig_path=server.admin, namespace=NAMESPACE) as helm:
        helm.install(CHART, RELEASE, values)
        server.ask("POST", f"{path}/secrets", secret)
        helm.uninstall(RELEASE, wait="watcher", timeout=60)
        assert server.ask("GET", f"{path}/secrets/registry")
        helm.install(CHART, RELEASE, values)
        roles = server.ask("GET", f"/apis/rbac.authorization.k8s.io/v1/{path[8:]}/roles")["items"]
        assert len(roles) == 2
        helm.uninstall(RELEASE, wait="watcher", timeout=60)
    server.ask("DELETE", path)
    server.wait_until(lambda: JOBS_NAMESPACE not in find_namespaces(server))


def test_mode_simple_keeps_its_volume_only_if_asked(server: RealServer) -> None:
    server.ask("POST", "/api/v1/persistentvolumes", VOLUME)  # no provisioner makes one here
    values = {"config": {"catalogs": CATALOGS}, "persistence": {"keep": False}}
    with installed(server, values):
        assert find_pods(server) == {"all": {f"{FULLNAME}-0"}}
    claims = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"
    with Config(kubeconfig_path=server.admin, namespace=NAMESPACE) as helm:
        helm.install(CHART, RELEASE, {"config": {"catalogs": CATALOGS}})
        helm.uninstall(RELEASE, wait="watcher", timeout=60)
    assert [each["metadata"]["name"] for each in server.ask("GET", claims)["items"]] == [
        f"{FULLNAME}-data"
    ]
    server.ask("DELETE", f"{claims}/{FULLNAME}-data")
