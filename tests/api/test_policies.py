"""Versions of the policies, and which verdicts a policy in a request would change."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from maintainer.adapters.policies.model import write_policy_schema
from maintainer.api import policies
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PolicySet, Setting
from maintainer.domain.policy_version import PolicyVersion
from maintainer.policy.effective import effective
from maintainer.ports.store.pages import MAX_PAGE
from tests.api import serving
from tests.api.nouns import GRADE, NOW, ORDERS, measure
from tests.api.serving import Client, expect_problem, path_of

PREVIEW = "/api/v1/policies/preview"
ENFORCE = "tables: lake.sales.*\nmode: enforce\n"


def test_versions_are_listed_from_the_one_in_force(client: Client) -> None:
    for minute, name in enumerate(["aaa", "bbb", "ccc"]):
        at = NOW + timedelta(minutes=minute)
        client.daemon.store.record_policies(
            PolicyVersion(name, at, at, 0, (PolicyProblem("x.yaml:1", "wrong"),))
        )
    page = client.get("/api/v1/policies/versions", limit=2).json()
    assert [one["version"] for one in page["items"]] == ["ccc", "bbb"]
    assert page["items"][0] == {
        "version": "ccc",
        "first_seen_at": "2026-03-01T12:02:00Z",
        "last_seen_at": "2026-03-01T12:02:00Z",
        "layer_count": 0,
        "problems": [{"source": "x.yaml:1", "message": "wrong"}],
    }
    rest = client.get("/api/v1/policies/versions", limit=2, cursor=page["next_cursor"]).json()
    assert ([one["version"] for one in rest["items"]], rest["next_cursor"], rest["total"]) == (
        ["aaa"],
        None,
        3,
    )


def test_two_versions_are_compared_the_second_being_the_one_in_force_when_none_is_named(
    client: Client,
) -> None:
    change = {
        "layer": "cold.yaml",
        "path": "priority",
        "source_before": "policies/cold.yaml:2",
        "source_after": None,
    }
    assert client.get("/api/v1/policies/versions/diff", before="aaa", after="bbb").json() == {
        "before": "aaa",
        "after": "bbb",
        "changes": [{**change, "before": "aaa", "after": "bbb"}],
    }
    assert client.get("/api/v1/policies/versions/diff", before="aaa").json()["after"] == "current"
    client.daemon.refusal = InvalidValueError("no policy version 'x' is kept")
    assert "no policy version 'x' is kept" in expect_problem(
        client.get("/api/v1/policies/versions/diff", before="x"), 422
    )


def test_a_preview_tells_the_tables_whose_verdicts_would_change(client: Client) -> None:
    reported = client.post(PREVIEW, {"yaml": ENFORCE}).json()
    assert reported == {
        "items": [
            {
                "table": str(ORDERS),
                "changes": [
                    {
                        "rule": "rewrite_data_files",
                        "before": "observe_only",
                        "after": "planned",
                        "why_before": "observed",
                        "why_after": "600 files would become 1",
                        "gb_hours": 0.25,
                    }
                ],
            }
        ],
        "looked_at": 1,
        "unmeasured": 0,
        "gb_hours": 0.25,
        "next_cursor": None,
        "total": 1,
    }


def test_a_preview_is_a_bounded_page_of_the_tables_that_the_policy_can_concern(
    client: Client,
) -> None:
    for name in ("a", "b", "new"):
        client.daemon.store.record_health(
            measure(ORDERS.__class__("lake", ("sales",), name)), GRADE
        )
    client.daemon.store.record_health(measure(ORDERS.__class__("lake", ("hr",), "people")), GRADE)
    first = client.send(
        "POST",
        PREVIEW,
        {"Content-Type": "application/json"},
        b'{"yaml": "tables: lake.sales.*"}',
        {"limit": 3},
    ).json()
    assert (first["looked_at"], first["total"], first["unmeasured"], first["next_cursor"]) == (
        3,
        4,
        1,
        "lake.sales.new",
    )
    query = {"limit": 3, "cursor": first["next_cursor"]}
    rest = client.send(
        "POST",
        PREVIEW,
        {"Content-Type": "application/json"},
        b'{"yaml": "tables: lake.sales.*"}',
        query,
    ).json()
    assert ([one["table"] for one in rest["items"]], rest["looked_at"], rest["next_cursor"]) == (
        [str(ORDERS)],
        1,
        None,
    )
    expect_problem(
        client.send(
            "POST",
            PREVIEW,
            {"Content-Type": "application/json"},
            b'{"yaml": "tables: x.*"}',
            {"limit": MAX_PAGE + 1},
        ),
        422,
    )


def test_a_preview_that_takes_long_ends_early_and_says_where_to_go_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        client.daemon.store.record_health(
            measure(ORDERS.__class__("lake", ("sales",), name)), GRADE
        )
    monkeypatch.setattr(policies, "LONGEST_PREVIEW", timedelta(0))
    first = client.post(PREVIEW, {"yaml": "tables: lake.sales.*"}).json()
    assert (first["looked_at"], first["total"], first["next_cursor"]) == (1, 3, "lake.sales.a")


def test_the_tables_of_a_policy_file_are_listed_page_by_page(client: Client) -> None:
    for name in ("a", "b"):
        client.daemon.store.record_health(
            measure(ORDERS.__class__("lake", ("sales",), name)), GRADE
        )
    name = client.get("/api/v1/policies").json()["layers"][0]["name"]
    first = client.get("/api/v1/policies/tables", name=name, limit=2).json()
    assert (first["items"], first["total"]) == (["lake.sales.a", "lake.sales.b"], 3)
    rest = client.get(
        "/api/v1/policies/tables", name=name, limit=2, cursor=first["next_cursor"]
    ).json()
    assert (rest["items"], rest["next_cursor"]) == ([str(ORDERS)], None)
    assert "no policy file 'x.yaml'" in expect_problem(
        client.get("/api/v1/policies/tables", name="x.yaml"), 404
    )


def test_the_schema_of_policies_is_that_of_the_command_line(client: Client) -> None:
    assert client.get("/api/v1/policies/schema").json() == json.loads(write_policy_schema())


def test_a_policy_with_the_name_of_a_file_takes_its_place_and_else_lies_over_it(
    client: Client,
) -> None:
    client.post(PREVIEW, {"yaml": ENFORCE, "name": "wide.yaml"})
    client.post(PREVIEW, {"yaml": ENFORCE})
    replaced, laid = client.daemon.candidates
    assert [layer.name for layer in replaced.layers] == ["cold.yaml", "default.yaml", "wide.yaml"]
    assert [(layer.name, layer.precedence) for layer in laid.layers][-1] == ("candidate.yaml", 1)
    expect_problem(client.post(PREVIEW, {"yaml": ENFORCE, "name": "../wide.yaml"}), 422)


def test_a_policy_that_cannot_be_used_is_refused_with_its_lines(client: Client) -> None:
    assert "candidate.yaml:2: priority is 101" in expect_problem(
        client.post(PREVIEW, {"yaml": "tables: lake.*\npriority: 101"}), 422
    )


def test_files_that_disagree_are_reported_with_the_files_and_with_the_table(
    client: Client, monkeypatch: object
) -> None:
    layers = tuple(
        PolicyLayer(name, (TablePattern("lake.*"),), {"priority": Setting(number, f"{name}:1")})
        for number, name in enumerate(("a.yaml", "b.yaml"))
    )
    # Pytest's MonkeyPatch.
    monkeypatch.setattr(serving, "LAYERS", PolicySet(layers, (), "v2"))  # type: ignore[attr-defined]
    (problem,) = client.get("/api/v1/policies").json()["problems"]
    assert problem["source"] == "a.yaml:1"
    assert problem["message"].startswith("priority is 0 here and 1 at b.yaml:1")
    assert effective(layers, ORDERS, {}).ambiguities
    (problem,) = client.get(path_of(ORDERS).replace("/tables/", "/policies/effective/")).json()[
        "problems"
    ]
    assert "lake.sales.orders gets no action until then" in problem["message"]


def test_a_file_whose_name_matches_no_table_is_reported(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = PolicyLayer("a.yaml", (TablePattern("nowhere.sales.orders"),), {})
    monkeypatch.setattr(serving, "LAYERS", PolicySet((layer,), (), "v2"))
    (problem,) = client.get("/api/v1/policies").json()["problems"]
    assert problem["source"] == "a.yaml"
    assert "no catalog 'nowhere' is configured" in problem["message"]
