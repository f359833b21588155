from __future__ import annotations

from typing import Any

import pytest

from maintainer.api.application import write_openapi
from tests.api.document import COMMITTED, DOCUMENT, IDS, OPERATIONS
from tests.api.serving import Client

PROMISED = {
    ("GET", "/api/v1/overview/history"), ("GET", "/api/v1/overview/days"),
    ("GET", "/api/v1/inbox"), ("GET", "/api/v1/status"), ("GET", "/api/v1/tables.csv"),
    ("GET", "/api/v1/reports/small-files"), ("GET", "/api/v1/reports/small-files.csv"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/rescue"),
    ("GET", "/api/v1/overview"), ("GET", "/api/v1/tables"), ("GET", "/api/v1/jobs"), ("GET",
    "/api/v1/jobs/{job_id}"), ("GET", "/api/v1/jobs/{job_id}/events"),
    ("GET", "/api/v1/jobs/{job_id}/log"),
    ("POST", "/api/v1/jobs/{job_id}/rollback"),
    ("GET", "/api/v1/session"), ("POST", "/api/v1/session"), ("DELETE", "/api/v1/session"),
    ("GET", "/api/v1/session/sign-in"), ("GET", "/api/v1/session/callback"),
    ("POST", "/api/v1/jobs/{job_id}/cancel"), ("GET", "/api/v1/policies"), ("POST",
    "/api/v1/policies/validate"), ("GET", "/api/v1/catalogs"),
    ("GET", "/api/v1/trends"),
    ("GET", "/api/v1/catalogs/storage"), ("GET", "/api/v1/pools"),
    ("GET", "/api/v1/replicas"),
    ("POST", "/api/v1/events"), ("POST", "/api/v1/metrics-reports"), ("GET", "/api/v1/settings"),
    ("POST", "/api/v1/notifications/test"),
    ("GET", "/api/v1/namespaces"), ("GET", "/api/v1/queue"), ("GET", "/api/v1/audit"),
    ("GET", "/api/v1/pauses"), ("POST", "/api/v1/pauses"), ("DELETE", "/api/v1/pauses"),
    ("GET", "/api/v1/policies/schema"),
    ("GET", "/api/v1/policies/tables"),
    ("GET", "/api/v1/policies/versions"), ("GET", "/api/v1/policies/versions/diff"), ("POST",
    "/api/v1/policies/preview"),
    ("GET", "/api/v1/policies/suggested/{catalog}/{namespace}/{table}"),
    ("GET", "/api/v1/policies/effective/{catalog}/{namespace}/{table}"), ("GET",
    "/api/v1/tables/{catalog}/{namespace}/{table}"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/history"), ("GET",
    "/api/v1/tables/{catalog}/{namespace}/{table}/partitions"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/plan"), ("POST",
    "/api/v1/tables/{catalog}/{namespace}/{table}/plan"),
    ("POST", "/api/v1/tables/{catalog}/{namespace}/{table}/measure"),
    ("POST", "/api/v1/tables/{catalog}/{namespace}/{table}/run"), ("POST",
    "/api/v1/tables/{catalog}/{namespace}/{table}/pause"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/verdicts"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/pins"), ("POST",
    "/api/v1/tables/{catalog}/{namespace}/{table}/pins"),
    ("DELETE", "/api/v1/tables/{catalog}/{namespace}/{table}/pins/{name}"), ("GET",
    "/api/v1/tables/{catalog}/{namespace}/{table}/expiry"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/snapshots"),
    ("GET", "/api/v1/tables/{catalog}/{namespace}/{table}/orphans"), ("GET",
    "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}"),
    ("POST", "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/approve"),
    ("POST", "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/reject"),
    ("POST", "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/restore"),
    ("POST", "/api/v1/tables/{catalog}/{namespace}/{table}/resume"), ("GET", "/livez"), ("GET",
    "/readyz"), ("GET", "/metrics"),
}  # fmt: skip


def find_references(node: object) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(find_references(child) for child in node.values()))
    if isinstance(node, list):
        return set().union(*(find_references(child) for child in node))
    return set()


def test_the_committed_document_is_the_present_one() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == write_openapi()


def test_the_served_document_is_the_committed_one() -> None:
    assert Client().get("/openapi.json").json() == DOCUMENT


def test_the_document_is_openapi_3_1_with_every_promised_operation() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert {(method.upper(), path) for path, method, _ in OPERATIONS} == PROMISED


def test_every_reference_leads_somewhere() -> None:
    schemas = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert find_references(DOCUMENT) <= schemas


def test_operation_ids_are_distinguished() -> None:
    assert len(set(IDS)) == len(IDS)
    assert all(name.isidentifier() and name == name.lower() for name in IDS)


@pytest.mark.parametrize(
    ("path", "method", "operation"),
    OPERATIONS,
    ids=IDS,
)
def test_every_operation_is_described_and_its_errors_are_problems(
    path: str, method: str, operation: dict[str, Any]
) -> None:
    assert operation["summary"]
    assert operation["description"]
    assert len(operation["tags"]) == 1
    errors = {
        status: response for status, response in operation["responses"].items() if status >= "400"
    }
    if path.startswith("/api/"):
        assert {"422", "503"} <= set(errors)
        assert all(
            list(response["content"]) == ["application/problem+json"]
            for response in errors.values()
        )
    assert method in {"get", "post", "delete"}


def test_every_operation_may_be_refused_for_want_of_a_token() -> None:
    assert [
        path
        for path, _, operation in OPERATIONS
        if operation["x-role"] is not None and "401" not in operation["responses"]
    ] == []
