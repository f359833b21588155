"""Every route has a role, and who lacks it changes nothing."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from docs.generator.roles import write_reference
from maintainer.adapters.identity import CookieSealer
from maintainer.api.access import need_of
from maintainer.domain.access import Role
from maintainer.domain.audit import AuditQuery
from maintainer.ports.store.jobs import JobQuery
from tests.api.document import COMMITTED, IDS, OPERATIONS
from tests.api.people import bearer, let_in, secret_of
from tests.api.serving import Client, expect_problem

PROTECTED = [each for each in OPERATIONS if each[2]["x-role"] is not None]
PROTECTED_IDS = [operation["operationId"] for _, _, operation in PROTECTED]
LISTS_OF_ALL = {Role.VIEWER}
VALUES = {
    "catalog": "lake", "namespace": "sales", "table": "orders", "job_id": "job-2", "list": "m-1",
    "name": "replica",
}  # fmt: skip


def address(path: str) -> str:
    for name, value in VALUES.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def send(client: Client, path: str, method: str, headers: dict[str, str]) -> Any:
    body = {"Content-Type": "application/json"} if method == "post" else {}
    content = b"{}" if method == "post" else None
    return client.send(method.upper(), address(path), {**headers, **body}, content)


def state_of(client: Client) -> object:
    """All that a request could change."""
    store, daemon = client.daemon.store, client.daemon
    return (
        store.audit(AuditQuery()).items,
        store.jobs(JobQuery()).items,
        store.scope_pauses(),
        store.paused_tables(),
        store.pins("3f0c"),
        daemon.runs.copy(),
        daemon.rollbacks.copy(),
        daemon.previews.copy(),
    )


def test_only_the_probes_and_the_sign_in_ask_nobody_who_they_are() -> None:
    open_to_all = {path for path, _, operation in OPERATIONS if operation["x-role"] is None}
    session = {f"/api/v1/session{part}" for part in ("", "/sign-in", "/callback")}
    assert open_to_all == {"/livez", "/readyz", *session}


def test_a_route_without_a_role_is_no_route_of_this_api() -> None:
    router = APIRouter()

    @router.get("/forgotten")
    def get_forgotten() -> None: ...

    (route,) = router.routes
    assert isinstance(route, APIRoute)
    with pytest.raises(LookupError, match="get_forgotten declares 0 roles"):
        need_of(route)


@pytest.mark.parametrize(("path", "method", "operation"), PROTECTED, ids=PROTECTED_IDS)
def test_without_and_with_a_wrong_token_every_route_refuses(
    client: Client, path: str, method: str, operation: dict[str, Any]
) -> None:
    admin = let_in(client, "root", Role.ADMIN)
    before = state_of(client)
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": admin["Authorization"][7:]},
    )
    for headers in (*wrong, {"Authorization": "Basic cm9vdDpyb290"}, {"Cookie": "x=y"}):
        refused = send(client, path, method, headers)
        assert "token" in expect_problem(refused, 401)
        assert refused.headers["www-authenticate"] == "Bearer"
    assert state_of(client) == before
    assert "401" in operation["responses"]


@pytest.mark.parametrize(("path", "method", "operation"), PROTECTED, ids=PROTECTED_IDS)
def test_with_a_lesser_role_every_route_refuses(
    client: Client, path: str, method: str, operation: dict[str, Any]
) -> None:
    needed, on = Role(operation["x-role"]["role"]), operation["x-role"]["on"]
    lesser = [role for role in Role if not role.includes(needed)]
    headers = [let_in(client, role, role) for role in lesser]
    if on == "all tables":
        headers.append(let_in(client, "part", Role.ADMIN, "lake.sales."))
    before = state_of(client)
    for sent in headers:
        assert f"needs the role {needed}" in expect_problem(send(client, path, method, sent), 403)
    # Where no role is lesser, the route at least answers whoever has the role.
    if not headers:
        let_in(client, "reader", Role.VIEWER)
        answer = send(client, path, method, bearer("reader") | {"Accept": "application/json"})
        assert answer.status_code not in {401, 403}
    assert state_of(client) == before


@pytest.mark.parametrize(("path", "method", "operation"), PROTECTED, ids=PROTECTED_IDS)
def test_on_tables_of_others_every_route_refuses(
    client: Client, path: str, method: str, operation: dict[str, Any]
) -> None:
    stranger = let_in(client, "stranger", Role.ADMIN, "lake.hr.")
    before = state_of(client)
    answer = send(client, path, method, stranger | {"Accept": "application/json"})
    expected = {
        "the table": 404, "the job's table": 404, "all tables": 403, "the scope": 403,
    }.get(operation["x-role"]["on"])  # fmt: skip
    if expected is not None:
        expect_problem(answer, expected)
    assert "orders" not in answer.text.replace(address(path), "").replace("lake.sales.orders", "")
    assert state_of(client) == before


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=IDS)
def test_no_route_writes_a_secret_into_its_answer_or_the_log(
    client: Client,
    path: str,
    method: str,
    operation: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    right, key = let_in(client, "root", Role.ADMIN), "sign-me-0123456789-0123456789-01"
    client.daemon.sealer = CookieSealer(key)
    for headers in (right, {"Authorization": "Bearer nearly-a-secret"}):
        answer = send(client, path, method, headers | {"Accept": "application/json"})
        shown = f"{answer.text} {answer.headers} {caplog.text}"
        for secret in (secret_of("root"), "nearly-a-secret", key):
            assert secret not in shown, operation["operationId"]


def test_a_machine_acts_in_its_own_name_with_its_role(client: Client) -> None:
    operator = let_in(client, "night", Role.OPERATOR, "lake.sales.")
    paused = client.post("/api/v1/pauses", {"scope": "lake.sales"}, operator)
    assert (paused.status_code, paused.json()["by"]) == (201, "token night")
    for scope in ("lake", "*", "lake.hr", "lake.sales*", "lake.s"):
        message = expect_problem(client.post("/api/v1/pauses", {"scope": scope}, operator), 403)
        assert "token night has no role there" in message
    gone = client.send("DELETE", "/api/v1/pauses", operator, query={"scope": "lake.sales"})
    assert gone.status_code == 204


def test_a_drain_is_for_an_admin_of_all_tables(client: Client) -> None:
    drain = {"drain": True}
    expect_problem(client.post("/api/v1/pauses", drain, let_in(client, "a", Role.APPROVER)), 403)
    expect_problem(
        client.post("/api/v1/pauses", drain, let_in(client, "b", Role.ADMIN, "lake.")), 403
    )
    done = client.post("/api/v1/pauses", drain, let_in(client, "c", Role.ADMIN))
    assert done.status_code == 201


def test_metrics_need_the_role_viewer_on_all_tables_unless_they_are_open(client: Client) -> None:
    let_in(client, "prometheus", Role.VIEWER)
    expect_problem(client.get("/metrics"), 401)
    assert client.get("/metrics", bearer("prometheus")).status_code == 200
    client.daemon.open_metrics = True
    open_to_all = Client(client.daemon)
    assert open_to_all.get("/metrics").status_code == 200
    expect_problem(open_to_all.get("/api/v1/overview"), 401)


def test_the_table_of_roles_is_the_one_in_the_document() -> None:
    reference = write_reference()
    assert (COMMITTED.parent / "roles.md").read_text() == reference
    assert len([line for line in reference.splitlines() if line.startswith("| `")]) == len(IDS)
    assert json.dumps(OPERATIONS[0][2]["x-role"])
