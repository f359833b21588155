from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer import __version__
from maintainer.api.wire import write_overview
from maintainer.domain.access import Role
from maintainer.domain.driver import SparkFacts
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault
from maintainer.domain.job import JobState
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.replica import Duty, DutyKind
from maintainer.domain.units import MIB
from tests.api.nouns import GRADE, HEALTH, NOW, ORDERS
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem, path_of


def test_the_overview_names_every_band_and_every_state(client: Client) -> None:
    overview = client.get("/api/v1/overview").json()
    assert overview["bands"] == {"healthy": 0, "watch": 0, "degraded": 1, "critical": 0}
    assert overview["jobs"] == {
        "pending": 0,
        "submitted": 0,
        "running": 1,
        "succeeded": 1,
        "failed": 0,
        "cancelled": 0,
        "unknown": 0,
    }
    assert overview["average_file_size_bytes"] == 1.5 * MIB
    assert overview["live_file_ratio"] is None
    assert overview["version"] == __version__


def test_a_store_that_leaves_out_empty_bands_and_states_is_filled_up() -> None:
    sparse = replace(Client().daemon.store.overview(), bands={Band.WATCH: 2}, jobs={})
    overview = write_overview(sparse)
    assert overview.bands == {Band.HEALTHY: 0, Band.WATCH: 2, Band.DEGRADED: 0, Band.CRITICAL: 0}
    assert overview.jobs == dict.fromkeys(JobState, 0)


def test_an_empty_fleet_has_no_average() -> None:
    overview = Client().get("/api/v1/overview").json()
    assert (
        overview["tables"],
        overview["average_file_size_bytes"],
        overview["last_measured_at"],
    ) == (0, None, None)


def test_catalogs_come_with_what_could_not_be_listed(client: Client) -> None:
    client.daemon.store.record_catalog_faults(
        "ice", [CatalogFault("ice", ("a", "b.c"), "connection refused", NOW)]
    )
    ice, lake = client.get("/api/v1/catalogs").json()
    assert (ice["name"], ice["type"]) == ("ice", "rest")
    assert ice["faults"] == [
        {"namespace": "a.`b.c`", "reason": "connection refused", "seen_at": "2026-03-01T12:00:00Z"}
    ]
    assert (lake["name"], lake["type"], lake["faults"]) == ("lake", "sql", [])


def test_catalogs_come_with_the_sums_of_their_tables_alone(client: Client) -> None:
    table = client.get("/api/v1/tables").json()["items"][0]
    client.daemon.store.record_health(
        replace(
            HEALTH,
            table=TableIdentifier("ice", ("a",), "t"),
            table_uuid="u-ice",
            data_files=3,
            data_bytes=3 * MIB,
        ),
        GRADE,
    )
    ice, lake = client.get("/api/v1/catalogs").json()
    assert (lake["tables"], lake["data_files"], lake["small_files"], lake["manifests"]) == (
        1,
        table["data_files"],
        table["small_files"],
        table["manifests"],
    )
    assert (lake["data_bytes"], lake["average_file_size_bytes"]) == (table["data_bytes"], 1.5 * MIB)
    assert lake["bands"] == {"healthy": 0, "watch": 0, "degraded": 1, "critical": 0}
    assert (
        ice["tables"],
        ice["data_files"],
        ice["data_bytes"],
        ice["average_file_size_bytes"],
    ) == (1, 3, 3 * MIB, MIB)


def test_a_catalog_without_files_has_no_average(client: Client) -> None:
    ice = client.get("/api/v1/catalogs").json()[0]
    assert (ice["tables"], ice["data_files"], ice["average_file_size_bytes"]) == (0, 0, None)
    assert ice["bands"] == {"healthy": 0, "watch": 0, "degraded": 0, "critical": 0}


def test_namespaces_come_with_their_sums_page_by_page(client: Client) -> None:
    page = client.get("/api/v1/namespaces?catalog=lake").json()
    table = client.get("/api/v1/tables").json()["items"][0]
    (namespace,) = page["items"]
    assert (namespace["catalog"], namespace["namespace"], namespace["tables"]) == (
        "lake",
        table["namespace"],
        1,
    )
    assert (namespace["data_files"], namespace["average_file_size_bytes"]) == (
        table["data_files"],
        1.5 * MIB,
    )
    assert namespace["bands"] == {"healthy": 0, "watch": 0, "degraded": 1, "critical": 0}
    assert (page["total"], page["next_cursor"]) == (1, None)
    assert client.get("/api/v1/namespaces?catalog=ice").json() == {
        "items": [],
        "next_cursor": None,
        "total": 0,
    }
    expect_problem(client.get("/api/v1/namespaces?cursor=foreign"), 422)


def test_the_policy_files_are_listed_with_lines_and_problems(client: Client) -> None:
    policies = client.get("/api/v1/policies").json()
    assert policies["version"] == "v1"
    assert [layer["name"] for layer in policies["layers"]] == [
        "default.yaml",
        "wide.yaml",
        "cold.yaml",
    ], "in the order in which they are laid"
    assert policies["layers"][0]["tables"] == ["*"]
    assert {
        "path": "target_file_size",
        "value": "256MiB",
        "source": "policies/default.yaml:2",
        "is_built_in": False,
        "built_in": None,
    } in policies["layers"][0]["values"]
    assert policies["problems"][0]["source"] == "policies/bad.yaml:3"


def test_the_effective_policy_of_a_table_is_that_of_its_page(client: Client) -> None:
    policy = client.get(path_of(ORDERS).replace("/tables/", "/policies/effective/")).json()
    assert policy == client.get(path_of(ORDERS)).json()["policy"]
    assert policy["mode"] == "observe"
    expect_problem(client.get("/api/v1/policies/effective/lake/sales/nothing"), 404)


def test_a_suggested_policy_is_a_valid_file_for_its_table(client: Client) -> None:
    suggested = client.get(path_of(ORDERS).replace("/tables/", "/policies/suggested/")).json()
    assert suggested["table"] == str(ORDERS)
    assert all(value["reason"] for value in suggested["values"])
    assert client.post("/api/v1/policies/validate", {"yaml": suggested["yaml"]}).json() == {
        "is_valid": True,
        "problems": [],
    }
    expect_problem(client.get("/api/v1/policies/suggested/lake/sales/nothing"), 404)


def test_a_policy_text_is_checked_line_by_line(client: Client) -> None:
    assert client.post("/api/v1/policies/validate", {"yaml": "tables: lake.*\n"}).json() == {
        "is_valid": True,
        "problems": [],
    }
    verdict = client.post(
        "/api/v1/policies/validate", {"yaml": "tables: lake.*\npriority: 101\nmod: enforce\n"}
    ).json()
    assert verdict["is_valid"] is False
    assert [problem["source"] for problem in verdict["problems"]] == [
        "candidate.yaml:2",
        "candidate.yaml:3",
    ]


@pytest.mark.parametrize(
    "yaml",
    ["", "a: [", "\t", "&a [*a]", "tables: lake.*\ntables: x", "- 1", "tables: " + "[" * 500],
)
def test_any_text_gets_a_verdict(client: Client, yaml: str) -> None:
    response = client.post("/api/v1/policies/validate", {"yaml": yaml})
    assert response.status_code == 200
    assert response.json()["problems"]


def test_the_probes_say_alive_and_ready(client: Client) -> None:
    assert client.get("/livez").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {
        "is_ready": True,
        "checks": [{"name": "store", "is_ok": True, "message": "SQLite, schema 1"}],
    }


def test_readiness_tells_only_those_who_see_all_tables_why(client: Client) -> None:
    client.daemon.checks.append(("catalogs", False, "lake: refused 12,000 tables"))
    whole, part = (
        let_in(client, "whole", Role.VIEWER),
        let_in(client, "part", Role.ADMIN, "lake.sales."),
    )
    for headers, words in (
        (whole, ["SQLite, schema 1", "lake: refused 12,000 tables"]),
        ({}, ["it works", "it does not work; sign in to read why"]),
        (part, ["it works", "it does not work; sign in to read why"]),
        ({"Authorization": "Bearer wrong"}, ["it works", "it does not work; sign in to read why"]),
    ):
        answer = client.get("/readyz", headers)
        assert answer.status_code == 503
        assert [check["message"] for check in answer.json()["checks"]] == words


def test_what_does_not_work_makes_it_not_ready_but_alive(client: Client) -> None:
    client.daemon.checks.append(("catalog ice", False, "connection refused"))
    client.daemon.store.broken = "disk I/O error"
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["is_ready"] is False
    assert client.get("/livez").status_code == 200


def test_metrics_are_passed_through_with_their_content_type(client: Client) -> None:
    response = client.get("/metrics")
    assert response.content == b"maintainer_tables 1.0\n"
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"


def test_the_documentation_names_every_operation_and_loads_nothing_from_elsewhere(
    client: Client,
) -> None:
    page = client.get("/docs").text
    document = client.get("/openapi.json").json()
    reported = {html.unescape(title) for title in re.findall(r"<summary><code>(.*?)</code>", page)}
    assert reported >= {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert reported >= set(document["components"]["schemas"])
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=['\"]?(?:https?:)?//", page)


def test_each_replica_comes_with_its_duties(client: Client) -> None:
    assert client.get("/api/v1/replicas").json() == []
    for name, others in (("b", [Duty(DutyKind.SCAN, "lake"), Duty(DutyKind.PRUNE)]), ("a", [])):
        duties = [Duty(DutyKind.WORK, name), *others]
        client.daemon.store.hold_duties(name, duties, timedelta(minutes=2))
    assert client.get("/api/v1/replicas").json() == [
        {"name": "a", "duties": []},
        {
            "name": "b",
            "duties": [{"kind": "prune", "catalog": None}, {"kind": "scan", "catalog": "lake"}],
        },
    ]


def test_a_pool_comes_with_what_its_newest_driver_reported(client: Client) -> None:
    (pool,) = client.get("/api/v1/pools").json()
    assert (pool["name"], pool["spark"], pool["reported_at"]) == (DEFAULT_POOL, None, None)
    assert (pool["catalogs"], pool["obstacles"], pool["restrictions"]) == ([], [], [])
    client.daemon.store.record_spark_facts(
        SparkFacts(NOW, "s", "3.4.4", "2.12.17", "17.0.15", "1.9.2", {"lake": "", "ice": "refused"})
    )
    (pool,) = client.get("/api/v1/pools").json()
    assert (pool["spark"], pool["scala"], pool["java"], pool["iceberg"]) == (
        "3.4.4",
        "2.12.17",
        "17.0.15",
        "1.9.2",
    )
    assert pool["reported_at"] == "2026-03-01T12:00:00Z"
    assert pool["catalogs"] == [
        {"name": "ice", "error": "refused"},
        {"name": "lake", "error": None},
    ]
    assert pool["obstacles"] == ["Spark's driver runs Spark 3.4.4; jobs need 3.5 or newer"]
    assert "rewrite_data_files: before Iceberg 1.10 a rewrite loses" in str(pool["restrictions"])
