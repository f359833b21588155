from __future__ import annotations

import pytest

from maintainer.api.errors import RETRY_AFTER_SECONDS
from maintainer.api.guard import MAX_BODY_BYTES, MAX_QUERY_BYTES
from maintainer.domain.errors import (
    CatalogUnavailableError,
    ConfigurationError,
    InvalidTransitionError,
    InvalidValueError,
    MaintainerError,
    RunnerUnavailableError,
    StoreUnavailableError,
    UnknownTableError,
)
from tests.api.nouns import ORDERS
from tests.api.serving import HOST, Client, expect_problem, job_of, path_of

RUN = f"{path_of(ORDERS)}/run"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownTableError, 404), (InvalidValueError, 422), (ConfigurationError, 422),
        (InvalidTransitionError, 409), (StoreUnavailableError, 503),
        (CatalogUnavailableError, 503), (RunnerUnavailableError, 503), (MaintainerError, 500),
    ],
)  # fmt: skip
def test_each_of_our_errors_has_its_status(
    client: Client, error: type[MaintainerError], status: int
) -> None:
    client.daemon.refusal = error("the disk is full")
    response = client.post(RUN)
    assert expect_problem(response, status) == "the disk is full"
    assert (response.headers.get("retry-after") == str(RETRY_AFTER_SECONDS)) == (status == 503)


@pytest.mark.parametrize(
    "path", ["/overview", "/tables", "/tables/lake/sales/orders", "/jobs", "/jobs/job-1"]
)
def test_a_store_that_is_down_is_a_503(client: Client, path: str) -> None:
    client.daemon.store.broken = "store sqlite:///maintainer.db cannot be read: disk I/O error"
    assert "disk I/O error" in expect_problem(client.get(f"/api/v1{path}"), 503)


def test_an_unexpected_error_is_a_500_that_gives_nothing_away(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        message = "password=hunter2"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(client.daemon.store, "overview", fail)
    detail = expect_problem(client.get("/api/v1/overview"), 500)
    assert "ZeroDivisionError" in detail
    assert "hunter2" not in detail
    assert "request.failed" in caplog.text


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/tables",
        "/api/v1/tables/",
        "/api/v1/tables/lake",
        "/api/v1/tables/a/b/c/d",
        "/livez/x",
    ],
)
def test_nothing_is_there_is_a_problem_too(client: Client, path: str) -> None:
    if path.startswith("/api"):
        assert path in expect_problem(client.get(path), 404)
    else:
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/v1/tables", "GET, HEAD"),
        ("PATCH", "/api/v1/pauses", "DELETE, GET, HEAD, POST"),
        ("DELETE", f"{path_of(ORDERS)}/plan", "GET, HEAD, POST"),
        ("GET", RUN, "POST"),
        ("PUT", path_of(ORDERS), "GET, HEAD"),
        ("POST", "/livez", "GET, HEAD"),
        ("POST", "/some/page", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_a_405_that_names_the_right_one(
    client: Client, method: str, path: str, allowed: str
) -> None:
    response = client.send(method, path)
    assert f"answers {allowed}, not {method}" in expect_problem(response, 405)
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize(
    "origin",
    [
        "http://elsewhere.test",
        f"http://{HOST}:81",
        f"http://{HOST}.elsewhere.test",
        "null",
        "http://[",
        "",
    ],
)
@pytest.mark.parametrize(
    "path",
    [RUN, "/api/v1/jobs/job-2/cancel", f"{path_of(ORDERS)}/resume", "/api/v1/policies/validate"],
)
def test_a_page_of_another_host_changes_nothing(client: Client, origin: str, path: str) -> None:
    expect_problem(client.post(path, headers={"Origin": origin}), 403)
    assert client.daemon.runs == []
    assert not job_of(client.daemon.store, "job-2").cancel_requested_by


def test_a_cross_site_request_without_an_origin_changes_nothing(client: Client) -> None:
    expect_problem(client.post(RUN, headers={"Sec-Fetch-Site": "cross-site"}), 403)
    assert client.daemon.runs == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": f"http://{HOST}"},
        {"Origin": f"http://{HOST.upper()}:80"},
        {"Sec-Fetch-Site": "same-origin"},
        {},
    ],
)
def test_our_own_page_and_tools_may_ask(client: Client, headers: dict[str, str]) -> None:
    assert client.post(RUN, headers=headers).status_code == 202


def test_other_sites_may_not_frame_the_page_and_reading_needs_no_origin(client: Client) -> None:
    response = client.get("/api/v1/overview", {"Origin": "http://elsewhere.test"})
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers
    policy = response.headers["content-security-policy"].split("; ")
    assert {
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    } <= set(policy)
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_a_body_that_is_not_json_is_refused(client: Client, kind: str) -> None:
    assert "send application/json" in expect_problem(
        client.send("POST", RUN, {"Content-Type": kind}, b'{"rules": []}'), 415
    )
    assert client.daemon.runs == []


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"rules": [', b"NaN", b"[" * 10_000])
def test_a_body_that_is_broken_json_is_a_problem(client: Client, body: bytes) -> None:
    response = client.send("POST", RUN, JSON, body)
    assert response.status_code in {400, 422}
    expect_problem(response, response.status_code)


def test_a_body_over_the_bound_is_refused_whether_it_says_its_length_or_not(client: Client) -> None:
    body = b'{"yaml": "' + b"x" * MAX_BODY_BYTES + b'"}'
    expect_problem(client.send("POST", "/api/v1/policies/validate", JSON, body), 413)
    expect_problem(
        client.send(
            "POST",
            "/api/v1/policies/validate",
            {**JSON, "Transfer-Encoding": "chunked", "Content-Length": "5"},
            body,
        ),
        413,
    )


def test_a_policy_text_over_its_own_bound_is_refused(client: Client) -> None:
    assert "yaml" in expect_problem(
        client.post("/api/v1/policies/validate", {"yaml": "#" * 65_537}), 422
    )


@pytest.mark.parametrize(
    "path",
    ["/api/v1/tables?search=%00", "/api/v1/tables/lake/sales/a%00b", "/api/v1/jobs/%00", "/%00"],
)
def test_a_nul_character_reaches_no_store(client: Client, path: str) -> None:
    assert "NUL" in expect_problem(client.get(path), 422)


def test_a_query_over_the_bound_is_refused(client: Client) -> None:
    expect_problem(client.get(f"/api/v1/tables?x={'y' * MAX_QUERY_BYTES}"), 414)


def test_a_long_detail_is_cut(client: Client) -> None:
    assert (
        len(expect_problem(client.get(f"/api/v1/jobs?table={'x' * 900}&cursor={'y' * 900}"), 422))
        <= 2000
    )
    client.daemon.refusal = CatalogUnavailableError("x" * 5000)
    assert len(expect_problem(client.post(RUN), 503)) == 2000
