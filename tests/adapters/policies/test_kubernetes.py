"""Policy resources as layers: their bounds, their faults, and an API server that is away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.policies.kubernetes import (
    POLICY,
    KubernetesPolicies,
    KubernetesPolicyOptions,
)
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import Mode
from maintainer.policy.effective import effective
from tests.adapters.policies.resources import LIST, create, open_policy_server
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server

SALES, PLATFORM = "team-sales", "platform"
ORDERS = TableIdentifier("lake", ("sales",), "orders")


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with open_policy_server(SALES, PLATFORM) as api:
        api.allow("daemon", LIST)
        yield api


@pytest.fixture
def policies(api: ApiServer, tmp_path: Path) -> Iterator[KubernetesPolicies]:
    with_rights = api.kubeconfig(tmp_path / "daemon", "daemon")
    source = make_source(with_rights)
    yield source
    source.close()


def make_source(kubeconfig: Path) -> KubernetesPolicies:
    bounds = {SALES: (TablePattern("lake.sales.*"),), PLATFORM: (TablePattern("*"),)}
    return KubernetesPolicies(KubernetesPolicyOptions(bounds, kubeconfig), ["attic", "lake"])


def change(api: ApiServer, name: str, spec: dict[str, Any]) -> None:
    api.update(POLICY.plural, name, {"spec": spec}, POLICY.group)


def problems_of(policies: KubernetesPolicies) -> list[tuple[str, str]]:
    return [(each.source, each.message) for each in policies.current().problems]


def test_resources_are_layers_like_files(api: ApiServer, policies: KubernetesPolicies) -> None:
    create(api, PLATFORM, "all", {"tables": ["*"], "mode": "observe"})
    create(
        api,
        SALES,
        "orders",
        {"tables": ["lake.sales.*"], "mode": "enforce", "budget": {"max_jobs": 2}},
    )
    policy = effective(policies.current(), ORDERS, {})
    assert policy.mode is Mode.ENFORCE
    assert policy.sources["mode"] == "kubernetes/team-sales/orders:mode"
    assert policy.budget is not None
    assert policy.budget.name == "kubernetes/team-sales/orders"
    assert problems_of(policies) == []


def test_a_change_and_a_deletion_are_seen_when_the_resources_are_listed_again(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    create(api, SALES, "orders", {"tables": ["lake.sales.*"], "mode": "enforce"})
    first = policies.current()
    policies.refresh()
    assert policies.current() is first
    change(api, "orders", {"mode": "observe"})
    assert policies.current() is first
    policies.refresh()
    assert effective(policies.current(), ORDERS, {}).mode is Mode.OBSERVE
    assert policies.current().version != first.version
    api.remove(POLICY.plural, "orders", POLICY.group)
    policies.refresh()
    assert policies.current().layers == ()


def test_a_resource_that_claims_a_table_outside_its_map_is_refused(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    create(api, SALES, "greedy", {"tables": ["lake.sales.orders", "lake.hr.*"], "mode": "enforce"})
    assert policies.current().layers == ()
    assert problems_of(policies) == [
        (
            "kubernetes/team-sales/greedy",
            "tables[2] is lake.hr.*, but the namespace team-sales decides for lake.sales.* only",
        )
    ]


def test_a_bad_resource_counts_with_its_last_good_version(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    create(api, SALES, "orders", {"tables": ["lake.sales.*"], "mode": "enforce"})
    create(api, SALES, "others", {"tables": ["lake.sales.items"], "mode": "enforce"})
    create(api, SALES, "nothing", {"mode": "enforce"})
    policies.refresh()
    change(api, "orders", {"rules": {"expire_snapshots": {"keep": 1}}, "windows": {}})
    policies.refresh()
    assert [layer.name for layer in policies.current().layers] == [
        "kubernetes/team-sales/orders",
        "kubernetes/team-sales/others",
    ]
    assert effective(policies.current(), ORDERS, {}).mode is Mode.ENFORCE
    problems = problems_of(policies)
    assert [source.rpartition("/")[2] for source, _ in problems] == ["nothing", "orders", "orders"]
    assert "tables is missing" in problems[0][1]
    assert any("keep is 1" in message and "2" in message for _, message in problems)
    assert any("windows" in message for _, message in problems)


def test_while_the_api_server_is_away_the_last_policies_stay(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    create(api, SALES, "orders", {"tables": ["lake.sales.*"], "mode": "enforce"})
    policies.refresh()
    api.failing = 500
    policies.refresh()
    assert effective(policies.current(), ORDERS, {}).mode is Mode.ENFORCE
    assert policies.current().unread == ()
    [platform, sales] = problems_of(policies)
    assert platform[0] == "kubernetes_policies.namespaces.platform"
    assert sales[1].startswith("the Kubernetes API server failed (500)")
    assert sales[1].endswith("; its last good policies stay in force")
    api.failing = 0
    policies.refresh()
    assert problems_of(policies) == []


def test_until_a_namespace_was_read_once_its_catalogs_are_only_observed(
    api: ApiServer, tmp_path: Path
) -> None:
    create(api, SALES, "orders", {"tables": ["lake.sales.*"], "mode": "enforce"})
    source = make_source(api.kubeconfig(tmp_path / "stranger", "stranger"))
    assert source.current().unread == ("attic", "lake")  # platform decides for every table
    assert "credentials" in problems_of(source)[0][1]
    api.grants["stranger"] = {("list", POLICY.group, "pods")}
    source.refresh()
    assert problems_of(source)[0] == (
        "kubernetes_policies.namespaces.platform",
        (
            "the daemon may not list icebergtablepolicies in the namespace platform: its Role "
            "does not allow it; its tables are only observed until it was read once"
        ),
    )
    api.allow("stranger", LIST)
    source.refresh()
    assert source.current().unread == ()
    assert effective(source.current(), ORDERS, {}).mode is Mode.ENFORCE
    source.close()


def test_a_cluster_without_the_definition_says_so(tmp_path: Path) -> None:
    with open_api_server((SALES, PLATFORM), ()) as api:
        api.allow("daemon", LIST)
        source = make_source(api.kubeconfig(tmp_path / "daemon", "daemon"))
        assert problems_of(source)[0][1].startswith(
            "the cluster has no IcebergTablePolicy of iceberg-maintainer.io/v1alpha1: is its "
            "CustomResourceDefinition installed?"
        )
        source.close()
