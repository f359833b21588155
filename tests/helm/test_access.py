"""Rights and network: the daemon's Role is the launcher's own, in the namespace of the jobs."""

from __future__ import annotations

from typing import Any

import pytest

from helm.generator.definition import policy_definition
from maintainer.adapters.policies.kubernetes import POLICY
from maintainer.adapters.spark.launcher.kubernetes.kinds import role
from maintainer.adapters.spark.launcher.kubernetes.options import (
    INSTALLATION,
    KubernetesOptions,
    Operator,
)
from maintainer.api.server import STOP_SECONDS
from maintainer.scheduler import CANCEL_GRACE, STOP_GRACE
from tests.adapters.spark.launcher.kubernetes.test_documentation import documents
from tests.helm.charts import (
    FULLNAME,
    JOBS_NAMESPACE,
    NAMESPACE,
    SCENARIOS,
    Object,
    find,
    objects,
    pods,
    read_values,
    render,
)

LIST = ("list", POLICY.plural)
PODS = [
    ("simple-pods", Operator.NONE, "spark-jobs"),
    ("cluster", Operator.NONE, JOBS_NAMESPACE),
    ("cluster-operator", Operator.KUBEFLOW, "spark-jobs"),
    ("cluster-operator", Operator.NONE, "spark-large"),
]


@pytest.mark.parametrize(("scenario", "operator", "namespace"), PODS)
def test_the_role_is_that_of_the_launcher(
    scenario: str, operator: Operator, namespace: str
) -> None:
    options = KubernetesOptions(namespace=namespace, image="x", operator=operator)
    found = find(scenario, "Role", FULLNAME, namespace)
    assert found["rules"] == role(options, FULLNAME)["rules"]
    binding = find(scenario, "RoleBinding", FULLNAME, namespace)
    account = "daemon" if scenario == "cluster-operator" else FULLNAME
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}
    ]


def test_the_role_for_apaches_operator_is_that_of_the_launcher() -> None:
    config = {
        "catalogs": {"lake": {"type": "rest"}},
        "spark": {"runner": "kubernetes", "kubernetes": {"operator": "apache"}},
    }
    rules = [
        each["rules"]
        for each in render({"config": config, "link": {"secretName": "link"}})
        if each["kind"] == "Role" and each["metadata"]["name"] == FULLNAME
    ]
    options = KubernetesOptions(namespace=NAMESPACE, image="x", operator=Operator.APACHE)
    assert rules == [role(options, FULLNAME)["rules"]]


@pytest.mark.parametrize(("scenario", "namespace"), [(each[0], each[2]) for each in PODS])
def test_drivers_have_the_role_that_the_guide_shows(scenario: str, namespace: str) -> None:
    [shown] = [
        each
        for each in documents()
        if each["kind"] == "Role" and each["metadata"]["name"] == "maintainer-spark"
    ]
    found = find(scenario, "Role", f"{FULLNAME}-spark", namespace)
    assert found["rules"] == shown["rules"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_cluster_wide(scenario: str) -> None:
    assert [each["kind"] for each in objects(scenario) if each["kind"].startswith("Cluster")] == []
    placeless = [each["kind"] for each in objects(scenario) if "namespace" not in each["metadata"]]
    # what a user adds, and what Kubernetes has for the whole cluster only
    expected = {
        "simple-full": ["ConfigMap"],
        "cluster": ["Namespace"],
        "cluster-full": ["Namespace", "CustomResourceDefinition"],
        "cluster-git": ["Namespace"],
        "cluster-openshift": ["Namespace"],
    }
    assert sorted(placeless) == sorted(expected.get(scenario, []))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_account_of_the_chart_has_rights_where_the_daemon_is(scenario: str) -> None:
    """Else code in a driver could read the daemon's Secrets, or run as the daemon."""
    kinds = ("Role", "RoleBinding")
    there = [each for kind in kinds for each in objects(scenario, kind)]
    assert [each for each in there if each["metadata"]["namespace"] == NAMESPACE] == []


def find_namespaces(values: Object) -> dict[str, Object]:
    return {
        each["metadata"]["name"]: each["metadata"]
        for each in render(values)
        if each["kind"] == "Namespace"
    }


def test_the_namespace_of_jobs_is_restricted_and_outlives_the_release() -> None:
    values = read_values("cluster")
    [metadata] = find_namespaces(values).values()
    assert metadata["name"] == JOBS_NAMESPACE
    assert metadata["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert metadata["annotations"] == {"helm.sh/resource-policy": "keep"}
    changed = {"name": "spark", "keep": False, "labels": {"team": "data"}}
    [metadata] = find_namespaces(values | {"jobs": {"namespace": changed}}).values()
    assert (metadata["name"], "annotations" in metadata) == ("spark", False)
    assert metadata["labels"]["team"] == "data"


@pytest.mark.parametrize(
    ("jobs", "spark"),
    [
        ({"namespace": {"create": False}}, {}),
        ({"inReleaseNamespace": True}, {}),
        ({}, {"namespace": "spark-jobs"}),
    ],
)
def test_only_the_namespace_that_no_pool_names_is_created(jobs: Object, spark: Object) -> None:
    config = read_values("cluster")["config"] | {"spark": {"kubernetes": spark}}
    assert find_namespaces(read_values("cluster") | {"config": config, "jobs": jobs}) == {}


def test_drivers_share_the_daemons_namespace_if_a_value_says_so() -> None:
    values = read_values("cluster") | {"jobs": {"inReleaseNamespace": True}}
    accounts = {
        each["metadata"]["name"]: each["metadata"]["namespace"]
        for each in render(values)
        if each["kind"] == "ServiceAccount"
    }
    assert accounts[f"{FULLNAME}-spark"] == NAMESPACE


def test_each_namespace_of_jobs_may_have_a_quota() -> None:
    hard = {"pods": "50", "requests.memory": "200Gi"}
    quotas = {
        each["metadata"]["namespace"]: each["spec"]["hard"]
        for each in render(read_values("cluster-operator") | {"jobs": {"quota": hard}})
        if each["kind"] == "ResourceQuota"
    }
    assert quotas == {"spark-jobs": hard, "spark-large": hard}
    assert objects("cluster-operator", "ResourceQuota") == []


@pytest.mark.parametrize(
    ("account", "name", "rights"),
    [
        ("upkeep", "upkeep-policies", {LIST, ("patch", f"{POLICY.plural}/status")}),
        ("upkeep-api", "upkeep-policies-api", {LIST}),
    ],
)
def test_workers_write_the_status_of_policies_that_the_api_lists_in_their_namespaces_alone(
    account: str, name: str, rights: set[tuple[str, str]]
) -> None:
    for namespace in ("platform", "team-sales"):
        rules = find("cluster-full", "Role", name, namespace)["rules"]
        assert {
            (verb, resource)
            for rule in rules
            for resource in rule["resources"]
            for verb in rule["verbs"]
        } == rights
        assert {group for rule in rules for group in rule["apiGroups"]} == {POLICY.group}
        [subject] = find("cluster-full", "RoleBinding", name, namespace)["subjects"]
        assert (subject["name"], subject["namespace"]) == (account, NAMESPACE)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_api_has_an_account_of_its_own_without_any_right_but_to_list_policies(
    scenario: str,
) -> None:
    accounts = {
        pod.labels["app.kubernetes.io/component"]: pod.spec["serviceAccountName"]
        for pod in pods(scenario)
        if pod.kind == "Deployment"
    }
    assert ("api" in accounts) is scenario.startswith("cluster")
    if accounts:
        assert accounts["api"] != accounts["worker"]
    bound = {
        each["metadata"]["name"]
        for each in objects(scenario, "RoleBinding")
        if accounts.get("api") in {subject["name"] for subject in each["subjects"]}
    }
    assert bound == ({"upkeep-policies-api"} if scenario == "cluster-full" else set())


def test_the_definition_is_left_unless_the_user_says_otherwise() -> None:
    [definition] = objects("cluster-full", "CustomResourceDefinition")
    assert definition["spec"] == policy_definition()["spec"]
    assert definition["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    values = read_values("cluster-full")
    [definition] = [
        each
        for each in render(values | {"policyDefinition": {"keep": False}})
        if each["kind"] == "CustomResourceDefinition"
    ]
    assert "helm.sh/resource-policy" not in definition["metadata"]["annotations"]
    assert objects("simple-full", "CustomResourceDefinition") == []


def test_accounts_have_their_annotations() -> None:
    annotations = {
        each["metadata"]["name"]: each["metadata"]["annotations"].get("example/role")
        for each in objects("cluster-full", "ServiceAccount")
    }
    assert annotations == {
        "upkeep": "reader",
        "upkeep-api": "shower",
        "upkeep-migrate": "migrator",
        "writer": "writer",
    }


def find_ports(rules: list[Object]) -> list[Any]:
    return [port["port"] for rule in rules for port in rule.get("ports", ())]


def test_the_network_policies_open_the_ports_that_are_used() -> None:
    common = find("cluster-full", "NetworkPolicy", "upkeep")["spec"]
    drivers = find("cluster-full", "NetworkPolicy", "upkeep-drivers")["spec"]
    assert find_ports(common["ingress"]) == ["http", "probes"]
    assert find_ports(common["egress"]) == [53, 53, 443, 9083, 5432, 6443]
    assert find_ports(drivers["ingress"]) == ["link"]
    assert find_ports(drivers["egress"]) == [443, 6443]
    [peer] = drivers["ingress"][0]["from"]
    [where] = peer["namespaceSelector"]["matchExpressions"]
    assert (where["key"], where["values"]) == ("kubernetes.io/metadata.name", [JOBS_NAMESPACE])
    [edge, test] = common["ingress"][0]["from"]
    assert "namespaceSelector" in edge
    assert test["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "test"


def test_jobs_reach_each_other_the_link_and_what_they_work_on() -> None:
    policy = find("cluster-full", "NetworkPolicy", "upkeep-jobs", JOBS_NAMESPACE)["spec"]
    jobs = {"matchExpressions": [{"key": INSTALLATION, "operator": "Exists"}]}
    assert policy["podSelector"] == jobs
    assert policy["ingress"] == [{"from": [{"podSelector": jobs}]}]
    among, link, dns, outside, further = policy["egress"]
    assert among == {"to": [{"podSelector": jobs}]}
    [daemon] = link["to"]
    assert find_ports([link]) == [8090]
    assert daemon["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] == NAMESPACE
    [worker] = [pod for pod in pods("cluster-full") if pod.name == "upkeep-worker"]
    assert daemon["podSelector"]["matchLabels"].items() <= worker.labels.items()
    assert find_ports([dns, outside]) == [53, 53, 443, 9083, 6443]
    assert further["to"] == [{"ipBlock": {"cidr": "10.0.0.0/8"}}]


CONFIG = {
    "catalogs": {
        "lake": {
            "type": "rest",
            "uri": "http://catalog.example:8181/api",
            "s3.endpoint": "http://minio.example:9000",
        },
        "old": {"type": "hive", "uri": "thrift://one.example,thrift://two.example:9084"},
        "sql": {"type": "sql", "uri": "postgresql+psycopg://me@db.example/lake"},
    },
    "auth": {
        "oidc": {"issuer": "https://sso.example:8443/realm", "client_id": "a"},
        "session_key": "${KEY}",
    },
    "server": {"hosts": ["https://page.example:7777"]},
    "spark": {"conf": {"spark.hadoop.fs.defaultFS": "hdfs://nodes.example/"}},
}


@pytest.mark.parametrize(("openshift", "dns"), [(False, [53, 53]), (True, [53, 53, 5353, 5353])])
def test_the_ports_of_the_configurations_addresses_are_open(
    openshift: bool, dns: list[int]
) -> None:
    values = read_values("cluster") | {
        "config": CONFIG,
        "secretEnv": {"KEY": {"secretName": "lake", "key": "key"}},
        "networkPolicy": {"enabled": True, "apiServerPorts": [6443]},
        "openshift": openshift,
    }
    found = {
        each["metadata"]["name"]: sorted(find_ports(each["spec"]["egress"]))
        for each in render(values)
        if each["kind"] == "NetworkPolicy"
    }
    catalogs = [8181, 9000, 9083, 9084, 5432]
    daemon = [*dns, 443, 8443, *catalogs, 8020]
    assert found[FULLNAME] == sorted(daemon)
    assert found[f"{FULLNAME}-test"] == sorted([8080, *daemon, 6443])
    assert found[f"{FULLNAME}-jobs"] == sorted([8090, *dns, 443, *catalogs, 8020, 6443])
    assert found[f"{FULLNAME}-migrate"] == sorted([*dns, 5432]), "the store alone"


def test_the_migration_may_connect_before_the_release_exists() -> None:
    """In a namespace where all that is not allowed is denied, the first one would fail."""
    policy, job = (
        find("cluster-full", kind, "upkeep-migrate") for kind in ("NetworkPolicy", "Job")
    )
    weights = [
        int(each["metadata"]["annotations"].get("helm.sh/hook-weight", 0)) for each in (policy, job)
    ]
    assert weights[0] < weights[1]
    hooks = {each["metadata"]["annotations"]["helm.sh/hook"] for each in (policy, job)}
    assert hooks == {"pre-install,pre-upgrade"}


def test_the_grace_period_has_room_for_the_end_of_the_daemon() -> None:
    needed = CANCEL_GRACE.total_seconds() + STOP_GRACE.total_seconds() + STOP_SECONDS + 1
    assert needed <= 45


def test_a_pod_of_the_api_answers_until_proxies_know_of_its_end() -> None:
    hooks = {
        pod.spec["containers"][0]["args"][-1]: "lifecycle" in pod.spec["containers"][0]
        for scenario in ("simple", "cluster")
        for pod in pods(scenario)
        if pod.kind in {"Deployment", "StatefulSet"}
    }
    assert hooks == {"all": False, "api": True, "worker": False}
