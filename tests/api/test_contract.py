"""What the OpenAPI document promises of every operation, and the methods and values that are
taken.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.document import IDS, OPERATIONS
from tests.api.listening import listening
from tests.api.nouns import ORDERS
from tests.api.serving import Client, expect_problem, path_of

TABLE = path_of(ORDERS)


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=IDS)
def test_every_operation_declares_what_the_guard_answers(
    path: str, method: str, operation: dict[str, Any]
) -> None:
    assert {"414", "421", "422"} <= operation["responses"].keys()
    assert ({"413", "415"} <= operation["responses"].keys()) == (method != "get")
    assert ("403" in operation["responses"]) == (operation["x-role"] is not None or method != "get")
    assert ("400" in operation["responses"]) == ("requestBody" in operation)
    assert ("security" in operation) == path.startswith("/api/")
    assert operation.get("security", [{}, {"token": []}, {"session": []}]) == [
        {},
        {"token": []},
        {"session": []},
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/livez",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/docs",
        "/api/v1/overview",
        "/api/v1/jobs",
        "/api/v1/jobs/job-1",
        TABLE,
    ],
)
def test_head_answers_as_get_without_the_body(client: Client, path: str) -> None:
    got, headed = client.get(path), client.send("HEAD", path)
    assert (headed.status_code, headed.content) == (200, b"")
    assert {name: value for name, value in headed.headers.items() if name != "date"} == {
        name: value for name, value in got.headers.items() if name != "date"
    }


def test_head_of_a_stream_ends_at_once(client: Client) -> None:
    with listening(client.api, client.daemon.stopping) as served:
        answer = httpx.head(f"{served.address}/api/v1/jobs/job-2/events", timeout=20)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_head_of_nothing_is_a_404_without_a_body(client: Client) -> None:
    answer = client.send("HEAD", "/api/v1/nothing")
    assert (answer.status_code, answer.content) == (404, b"")


@pytest.mark.parametrize("value", ["yes", "true", 1, 0, None, "on"])
@pytest.mark.parametrize("key", ["cancel", "drain"])
def test_a_switch_is_true_or_false_and_nothing_else(
    client: Client, key: str, value: object
) -> None:
    assert key in expect_problem(
        client.post("/api/v1/pauses", {"scope": "lake.sales.orders", key: value}), 422
    )
    assert (
        client.post("/api/v1/pauses", {"scope": "lake.sales.orders", key: False}).status_code == 201
    )


@pytest.mark.parametrize(
    "time",
    [
        "0",
        "1772323200",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00:00Z",
        "2026-03-01T12:00Z",
        "now",
        "20260301T120000Z",
        "²026-03-01T12:00:00Z",
    ],
)
def test_a_time_is_rfc_3339_with_an_offset_and_nothing_else(client: Client, time: str) -> None:
    for path in (f"{TABLE}/history", "/api/v1/audit"):
        name = "from" if path.endswith("history") else "since"
        assert "RFC 3339" in expect_problem(client.get(path, **{name: time}), 422)
    assert "RFC 3339" in expect_problem(
        client.post(f"{TABLE}/pins", {"name": "q", "snapshot_id": "1", "until": time}), 422
    )


@pytest.mark.parametrize(
    "time", ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.123456+02:00", "2026-03-01t12:00:00z"]
)
def test_times_with_an_offset_are_read(client: Client, time: str) -> None:
    assert client.get("/api/v1/audit", since=time).status_code == 200
