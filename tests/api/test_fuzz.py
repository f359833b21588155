from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.document import OPERATIONS
from tests.api.nouns import GRADE, HEALTH, PLAN, finish_job, make_job, run_job
from tests.api.serving import Client

GETS = [(path, operation) for path, method, operation in OPERATIONS if method == "get"]
WORDS = st.sampled_from(
    [
        "",
        "0",
        "1",
        "-1",
        "1e9",
        "9" * 40,
        "null",
        "true",
        "lake",
        "sales",
        "orders",
        "job-1",
        "lake.sales.orders",
        "`",
        "a..b",
        "%",
        "%2F",
        "..",
        "\ud7ff",
        "2026-03-01T00:00:00Z",
        "9999-12-31T23:59:59-23:59",
        "at-1",
        "at-²",
    ]
)
TEXTS = WORDS | st.text(max_size=20)


@st.composite
def requests(draw: st.DrawFn, path: str, operation: dict[str, Any]) -> tuple[str, dict[str, str]]:
    headers = {}
    query = []
    for parameter in operation.get("parameters", []):
        name, schema = parameter["name"], parameter["schema"]
        value = draw(st.sampled_from(schema["enum"]) | TEXTS if "enum" in schema else TEXTS)
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", quote(value, safe="") or "x")
        elif parameter["in"] == "query" and draw(st.booleans()):
            query.append((name, value))
        elif parameter["in"] == "header" and draw(st.booleans()):
            headers[name] = quote(value, safe=" /*")
    return f"{path}?{urlencode(query)}", headers


@pytest.mark.parametrize(
    ("path", "operation"), GETS, ids=[operation["operationId"] for _, operation in GETS]
)
@pytest.mark.slow
@settings(max_examples=30)
@given(data=st.data())
def test_no_parameter_is_ever_our_fault(
    path: str, operation: dict[str, Any], data: st.DataObject
) -> None:
    client = Client()
    client.daemon.stopping.set()
    client.daemon.store.record_health(HEALTH, GRADE)
    client.daemon.store.record_plan(PLAN)
    client.daemon.store.add_job(finish_job(run_job(make_job("job-1"))))
    target, headers = data.draw(requests(path, operation))
    response = client.send("GET", target, headers)
    assert response.status_code < 500, response.text
    if response.status_code >= 400 and response.request.url.path.startswith("/api/"):
        assert response.headers["content-type"] == "application/problem+json"
