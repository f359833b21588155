"""The status of policy resources: written when it changes, and by nobody else's rights."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.policies import kubernetes
from maintainer.adapters.policies.kubernetes import (
    POLICY,
    KubernetesPolicies,
    KubernetesPolicyOptions,
)
from maintainer.domain.errors import ClusterUnavailableError
from maintainer.domain.health import Band
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy_version import PolicyStatus
from tests.adapters.policies.resources import LIST, REPORT, create, open_policy_server
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer
from tests.adapters.store.values import make_job

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
SALES = "team-sales"
ORDERS = f"kubernetes/{SALES}/orders"
STATUS = PolicyStatus(12, Band.DEGRADED, 1.5 * 1024 * 1024, make_job(), LATER)


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with open_policy_server(SALES) as api:
        api.allow("daemon", REPORT)
        create(api, SALES, "orders", {"tables": ["lake.sales.*"]})
        yield api


@pytest.fixture
def policies(api: ApiServer, tmp_path: Path) -> Iterator[KubernetesPolicies]:
    bounds = {SALES: (TablePattern("lake.sales.*"),)}
    kubeconfig = api.kubeconfig(tmp_path / "daemon", "daemon")
    policies = KubernetesPolicies(KubernetesPolicyOptions(bounds, kubeconfig))
    policies.refresh()
    yield policies
    policies.close()


def status_of(api: ApiServer, name: str = "orders") -> dict[str, Any]:
    found = api.get(POLICY.plural, name, POLICY.group)
    assert found is not None
    status: dict[str, Any] = found["status"]
    return status


def test_the_status_answers_at_a_glance(api: ApiServer, policies: KubernetesPolicies) -> None:
    assert policies.report({ORDERS: STATUS}, NOW) == 1
    job = make_job()
    assert status_of(api) == {
        "observedGeneration": 1,
        "tables": 12,
        "band": "degraded",
        "averageFileSize": "1.5 MiB",
        "averageFileSizeBytes": 1572864,
        "lastJob": {
            "id": job.job_id,
            "table": str(job.table),
            "rule": job.rule.value,
            "state": "pending",
        },
        "nextCheckAt": "2026-03-01T13:00:00Z",
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "InForce",
                "message": "the policy is in force",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-03-01T12:00:00Z",
            }
        ],
    }


def test_a_status_is_written_only_when_it_changes(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    policies.report({ORDERS: STATUS}, NOW)
    assert policies.report({ORDERS: STATUS}, LATER) == 0
    policies.refresh()  # as another replica sees it
    assert policies.report({ORDERS: STATUS}, LATER) == 0
    assert policies.report({ORDERS: PolicyStatus(12, Band.HEALTHY)}, LATER) == 1
    status = status_of(api)
    assert status["band"] == "healthy"
    assert not {"averageFileSize", "nextCheckAt"} & status.keys()
    assert status["lastJob"]["id"] == make_job().job_id, "an old job is no longer looked up"
    assert status["conditions"][0]["lastTransitionTime"] == "2026-03-01T12:00:00Z"


def test_a_refusal_and_a_dispute_are_conditions(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    api.update(
        POLICY.plural,
        "orders",
        {"status": {"conditions": [{"type": "Seen", "status": "True"}]}},
        POLICY.group,
    )
    policies.refresh()
    disputed = PolicyStatus(1, problems=("mode: is enforce here and observe there",))
    policies.report({ORDERS: disputed}, NOW)
    [seen, ready] = status_of(api)["conditions"]
    assert seen == {"type": "Seen", "status": "True"}
    assert (ready["status"], ready["reason"]) == ("False", "Disputed")
    assert ready["message"] == "mode: is enforce here and observe there"

    api.update(POLICY.plural, "orders", {"spec": {"tables": ["lake.hr.*"]}}, POLICY.group)
    policies.refresh()
    policies.report({ORDERS: STATUS}, LATER)
    [_, ready] = status_of(api)["conditions"]
    assert ready == {
        "type": "Ready",
        "status": "False",
        "reason": "OutsideNamespace",
        "message": (
            "tables[1] is lake.hr.*, but the namespace team-sales decides for lake.sales.* only"
        ),
        "observedGeneration": 2,
        "lastTransitionTime": "2026-03-01T12:00:00Z",
    }


def test_writes_are_bounded_and_go_on_with_the_next_report(
    api: ApiServer, policies: KubernetesPolicies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes, "MAXIMUM_WRITES", 2)
    create(api, SALES, "items", {"tables": ["lake.sales.items"]})
    create(api, SALES, "nothing", {})
    policies.refresh()
    assert [policies.report({}, NOW) for _ in range(3)] == [2, 1, 0]
    assert status_of(api, "nothing")["conditions"][0]["reason"] == "Invalid"


def test_a_resource_that_is_gone_meanwhile_is_no_error(
    api: ApiServer, policies: KubernetesPolicies
) -> None:
    api.remove(POLICY.plural, "orders", POLICY.group)
    policies.report({ORDERS: STATUS}, NOW)
    policies.refresh()
    assert policies.report({ORDERS: STATUS}, NOW) == 0


def test_without_the_right_the_step_says_so(api: ApiServer, policies: KubernetesPolicies) -> None:
    api.grants["daemon"] = set()
    api.allow("daemon", LIST)
    with pytest.raises(ClusterUnavailableError, match="may not patch icebergtablepolicies/status"):
        policies.report({ORDERS: STATUS}, NOW)
