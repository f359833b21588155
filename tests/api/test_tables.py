from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.api import tables
from maintainer.domain.health import Band, Disagreement, Grade, RefRetention, WriterRate
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.policy import RuleName, day_of
from maintainer.domain.units import MIB
from maintainer.ports.store.tables import Pause
from maintainer.steps.scan import scan
from tests.api.nouns import BIG_ID, GRADE, HEALTH, NOW, ORDERS, PLAN, measure
from tests.api.serving import Client, expect_problem, path_of
from tests.steps.world import World

NASTY = [
    TableIdentifier("lake", ("a/b",), "c/d"),
    TableIdentifier("lake", ("a.b", "c"), "d.e"),
    TableIdentifier("lake", ("größe",), "таблица 🧊"),
    TableIdentifier("lake", ("it's",), 'say "hi"'),
    TableIdentifier("lake", ("back`tick",), "100%25"),
    TableIdentifier("lake", ("%2F",), "a?b#c&d=e;f"),
    TableIdentifier("lake", ("plus+minus",), "a b\\c"),
]


def add_tables(client: Client, *names: str) -> None:
    for name in names:
        client.daemon.store.record_health(measure(replace(ORDERS, name=name)), GRADE)


def test_the_list_has_a_row_a_table_with_ids_as_text(client: Client) -> None:
    page = client.get("/api/v1/tables").json()
    assert page["total"] == 1
    assert page["next_cursor"] is None
    row = page["items"][0]
    assert (row["table"], row["catalog"], row["namespace"], row["name"]) == (
        "lake.sales.orders",
        "lake",
        "sales",
        "orders",
    )
    assert row["snapshot_id"] == str(BIG_ID)
    assert row["measured_at"] == "2026-03-01T11:57:00Z"
    assert row["average_file_size_bytes"] == 1.5 * MIB
    assert row["findings"][0]["sentence"] == "files are 1.5 MiB on average, under 32 MiB"


def test_a_row_and_the_table_itself_say_the_one_state(client: Client) -> None:
    add_tables(client, "stock")
    client.daemon.store.set_pause(replace(ORDERS, name="stock"), Pause("person", NOW, "audit"))
    rows = client.get("/api/v1/tables").json()["items"]
    found = {row["name"]: row["status"] for row in rows}
    assert {name: status["state"] for name, status in found.items()} == {
        "orders": "being_maintained",
        "stock": "paused",
    }
    assert "audit" in found["stock"]["sentence"]
    assert found["stock"]["command"] == "maintainer resume lake.sales.stock"
    for name, status in found.items():
        assert client.get(f"/api/v1/tables/lake/sales/{name}").json()["status"] == status


def test_the_list_is_filtered_by_state_and_counted(client: Client) -> None:
    add_tables(client, "stock", "stores")
    for name in ("stock", "stores"):
        client.daemon.store.set_pause(replace(ORDERS, name=name), Pause("person", NOW))
    paused = client.get("/api/v1/tables", state="paused", limit=1).json()
    assert ([row["name"] for row in paused["items"]], paused["total"]) == (["stock"], 2)
    rest = client.get("/api/v1/tables", state="paused", cursor=paused["next_cursor"]).json()
    assert [row["name"] for row in rest["items"]] == ["stores"]
    found = client.get("/api/v1/tables", state="paused", search="ores").json()
    assert ([row["name"] for row in found["items"]], found["total"]) == (["stores"], 1)
    assert client.get("/api/v1/tables", state="damaged").json()["items"] == []
    expect_problem(client.get("/api/v1/tables", state="ill"), 422)


def test_a_row_says_since_when_a_table_is_in_its_band(client: Client) -> None:
    client.daemon.store.record_health(
        HEALTH, Grade(Band.WATCH, (), "files are small", entered_at=NOW, came_from=Band.CRITICAL)
    )
    row = client.get("/api/v1/tables").json()["items"][0]
    assert (row["band"], row["band_since"], row["previous_band"]) == (
        "watch",
        "2026-03-01T12:00:00Z",
        "critical",
    )


def test_the_list_is_read_page_by_page(client: Client) -> None:
    add_tables(client, "a", "b", "c", "d")
    names, cursor = [], None
    for _ in range(3):
        page = client.get(
            "/api/v1/tables", limit=2, **({"cursor": cursor} if cursor else {})
        ).json()
        names += [row["name"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert names == ["a", "b", "c", "d", "orders"]
    assert cursor is None


def test_a_minus_before_the_sort_means_descending(client: Client) -> None:
    add_tables(client, "a", "z")
    assert [row["name"] for row in client.get("/api/v1/tables", sort="-name").json()["items"]] == [
        "z",
        "orders",
        "a",
    ]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"search": "ORD"}, ["orders"]),
        ({"catalog": "ice"}, []),
        ({"namespace": "sales"}, ["a", "orders"]),
        ({"band": "critical"}, ["a"]),
    ],
)
def test_the_list_is_filtered(client: Client, query: dict[str, str], names: list[str]) -> None:
    client.daemon.store.record_health(measure(replace(ORDERS, name="a")), Grade(Band.CRITICAL))
    assert [row["name"] for row in client.get("/api/v1/tables", **query).json()["items"]] == names


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"limit": 0}, "limit"), ({"limit": 1001}, "limit"), ({"limit": "many"}, "limit"),
        ({"sort": "color"}, "color"), ({"sort": "--name"}, "--name"),
        ({"band": "purple"}, "band"), ({"cursor": "stolen"}, "stolen"), ({"search": "x" * 1001},
        "search"),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_a_problem_that_names_it(
    client: Client, query: dict[str, object], word: str
) -> None:
    assert word in expect_problem(client.get("/api/v1/tables", **query), 422)


def test_a_table_has_the_reads_a_day_that_engines_reported(client: Client) -> None:
    assert client.get(path_of(ORDERS)).json()["reads_per_day"] is None
    client.daemon.store.add_reads(day_of(NOW - timedelta(days=8)), {ORDERS: 10**6})
    client.daemon.store.add_reads(day_of(NOW), {ORDERS: 12})
    assert client.get(path_of(ORDERS)).json()["reads_per_day"] == 12


def test_a_histogram_with_the_bins_of_an_older_version_is_not_shown(client: Client) -> None:
    older = replace(measure(ORDERS), histogram=(100,) + (0,) * 12, histogram_bytes=())
    client.daemon.store.record_health(older, GRADE)
    assert client.get(path_of(ORDERS)).json()["histogram"] == []


def test_a_table_shows_its_health_and_its_policy_with_sources(client: Client) -> None:
    table = client.get(path_of(ORDERS)).json()
    assert table["partitions"] == 3
    assert table["histogram"][0] == {"from_bytes": 0, "to_bytes": 16384, "files": 0, "bytes": 0}
    assert table["histogram"][-1]["to_bytes"] is None
    assert sum(part["files"] for part in table["histogram"]) == 100
    assert sum(part["bytes"] for part in table["histogram"]) == table["data_bytes"]
    assert {"from_bytes": 4194304, "to_bytes": 10485760, "files": 0, "bytes": 0} in (
        table["histogram"]
    )
    assert table["refs"][0] == {"name": "main", "snapshot_id": str(BIG_ID), "is_branch": True}
    assert table["manifest_groups"][1] == {
        "spec_id": 0,
        "content": "deletes",
        "count": 1,
        "bytes": 10_000,
        "ideal": None,
    }
    assert {
        "path": "target_file_size",
        "value": "256MiB",
        "source": "policies/default.yaml:2",
        "is_built_in": False,
        "built_in": None,
    } in table["policy"]["values"]
    mode, priority = table["policy"]["values"][:2]
    assert (mode["is_built_in"], mode["built_in"]) == (False, "observe")
    assert (priority["is_built_in"], priority["built_in"]) == (True, "50")
    of_iceberg = [one for one in table["policy"]["values"] if one["source"] == "Iceberg's default"]
    assert of_iceberg, "values that a table property could set"
    assert all(one["is_built_in"] for one in of_iceberg)


@pytest.mark.parametrize(
    ("name", "is_branch", "is_ours"),
    [
        ("maintainer-before-m-1", False, True),
        ("maintainer-before-m-1", True, False),
        ("v1", False, False),
    ],
)
def test_tags_of_ours_are_distinguished_from_everybody_elses(
    client: Client, name: str, is_branch: bool, is_ours: bool
) -> None:
    hold = RefRetention(
        name,
        is_branch=is_branch,
        snapshot_id=BIG_ID,
        snapshot_at=NOW,
        retained_snapshots=1,
        oldest_retained_at=NOW,
    )
    client.daemon.store.record_health(measure(ORDERS, ref_retention=(hold,)), GRADE)
    assert [shown["is_ours"] for shown in client.get(path_of(ORDERS)).json()["ref_retention"]] == [
        is_ours
    ]


def test_a_tables_history_and_its_disagreements_are_shown(client: Client) -> None:
    hold = RefRetention(
        "v1",
        is_branch=False,
        snapshot_id=BIG_ID,
        snapshot_at=NOW,
        retained_snapshots=1,
        oldest_retained_at=NOW,
    )
    reported = Disagreement("data files", "snapshot summary", 99, 100)
    figures = {
        "live_file_ratio": 0.25,
        "kept_data_files": 400,
        "commits_per_hour": 1.5,
        "manifest_excess": 5,
        "storage_files": 412,
        "metadata_files": 3,
    }
    found = measure(
        ORDERS,
        ref_retention=(hold,),
        writers=(WriterRate("ingest", 36, 1.5),),
        disagreements=(reported,),
        **figures,
    )
    client.daemon.store.record_health(found, GRADE)
    table = client.get(path_of(ORDERS)).json()
    assert {name: table[name] for name in figures} == figures
    assert table["writers"] == [{"writer": "ingest", "commits": 36, "commits_per_hour": 1.5}]
    assert table["disagreements"] == [
        {"figure": "data files", "source": "snapshot summary", "claimed": 99, "counted": 100}
    ]
    [shown] = table["ref_retention"]
    assert (shown["name"], shown["snapshot_id"], shown["retained_snapshots"], shown["is_ours"]) == (
        "v1",
        str(BIG_ID),
        1,
        False,
    )


def test_the_impact_is_an_estimate_with_its_range_and_source(client: Client) -> None:
    impact = client.get(path_of(ORDERS)).json()["impact"]
    assert impact["profile"] == "object_store"
    assert 1.8 < impact["slowdown_low"] < impact["slowdown_high"] == 9.12
    assert impact["requests_per_scan"] == 100 + 10 + 7 + 2
    assert impact["request_cost_per_scan"] is None
    assert impact["source"].startswith("Estimate from published measurements")


def test_a_table_that_could_not_be_measured_shows_its_fault_and_no_figures(client: Client) -> None:
    broken = replace(ORDERS, name="broken")
    client.daemon.store.record_fault(
        TableFault(broken, FaultKind.METADATA_MISSING, "9.json is not there", NOW)
    )
    table = client.get(path_of(broken)).json()
    assert table["fault"]["reason"] == "9.json is not there"
    assert table["data_files"] is None
    assert table["impact"] is None
    assert table["writers"] == table["ref_retention"] == table["disagreements"] == []
    assert table["partitions"] is None
    assert client.get(f"{path_of(broken)}/partitions").json() == {
        "items": [],
        "next_cursor": None,
        "total": 0,
    }


@pytest.mark.parametrize("table", NASTY, ids=str)
@pytest.mark.parametrize("page", ["", "/history", "/partitions"])
def test_any_name_works_when_it_is_url_encoded(
    client: Client, table: TableIdentifier, page: str
) -> None:
    client.daemon.store.record_health(measure(table), GRADE)
    response = client.get(path_of(table) + page)
    assert response.status_code == 200, response.text
    if page != "/partitions":
        assert response.json()["table"] == str(table)


def test_nested_levels_are_distinguished_from_a_dot_inside_a_level(client: Client) -> None:
    for namespace in (("a", "b"), ("a.b",)):
        client.daemon.store.record_health(measure(TableIdentifier("lake", namespace, "t")), GRADE)
    assert client.get("/api/v1/tables/lake/a.b/t").json()["table"] == "lake.a.b.t"
    assert client.get("/api/v1/tables/lake/%60a.b%60/t").json()["table"] == "lake.`a.b`.t"


def test_an_unknown_table_is_answered_with_near_names(client: Client) -> None:
    assert "did you mean lake.sales.orders?" in expect_problem(
        client.get("/api/v1/tables/lake/sales/order"), 404
    )
    assert "there are: ice, lake" in expect_problem(
        client.get("/api/v1/tables/lakes/sales/orders"), 404
    )


@pytest.mark.parametrize("namespace", ["%60open", "a..b", "."])
def test_a_malformed_namespace_names_no_table(client: Client, namespace: str) -> None:
    expect_problem(
        client.get(
            f"/api/v1/tables/lake/x{namespace}/t"
            if namespace == "."
            else f"/api/v1/tables/lake/{namespace}/t"
        ),
        404,
    )


@pytest.mark.parametrize("page", ["", "/history", "/partitions", "/plan"])
def test_every_page_of_an_unknown_table_is_a_404(client: Client, page: str) -> None:
    expect_problem(client.get(f"/api/v1/tables/lake/sales/nothing{page}"), 404)


def test_history_has_samples_oldest_first_within_its_bounds(client: Client) -> None:
    for hours in (5, 1, 3):
        client.daemon.store.record_health(
            replace(HEALTH, measured_at=NOW - timedelta(hours=hours), data_files=hours), GRADE
        )
    history = client.get(
        f"{path_of(ORDERS)}/history",
        metric="data_files",
        **{"from": "2026-03-01T08:30:00Z", "to": "2026-03-01T11:30:00Z"},
    ).json()
    assert history == {
        "table": "lake.sales.orders",
        "metric": "data_files",
        "samples": [
            {"at": "2026-03-01T09:00:00Z", "value": 3.0},
            {"at": "2026-03-01T11:00:00Z", "value": 1.0},
        ],
    }


@pytest.mark.slow
def test_a_long_history_is_thinned_and_keeps_the_latest_sample(client: Client) -> None:
    for minute in range(5000, 0, -1):
        client.daemon.store.record_health(
            replace(HEALTH, measured_at=NOW - timedelta(minutes=minute)), GRADE
        )
    samples = client.get(f"{path_of(ORDERS)}/history").json()["samples"]
    assert len(samples) == 1667
    assert samples[-1]["at"] == "2026-03-01T11:59:00Z"


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"metric": "color"}, "color"),
        ({"from": "yesterday"}, "from"), ({"from": "2026-01-01T00:00:00"}, "from"),
        ({"to": "0001-01-01T00:00:00+14:00"}, "0001"),
        ({"from": "2026-03-02T00:00:00Z", "to": "2026-03-01T00:00:00Z"}, "after"),
    ],
)  # fmt: skip
def test_a_bad_history_query_is_a_problem(client: Client, query: dict[str, str], word: str) -> None:
    assert word in expect_problem(client.get(f"{path_of(ORDERS)}/history", **query), 422)


def test_history_can_end_at_the_beginning_of_time(client: Client) -> None:
    assert (
        client.get(f"{path_of(ORDERS)}/history", to="0001-01-01T00:00:00Z").json()["samples"] == []
    )


@pytest.mark.parametrize(
    ("sort", "worst"),
    [
        ("small_files", ["day=2", "day=1", "day=3"]), ("data_files", ["day=2", "day=1", "day=3"]),
        ("average_file_size_bytes", ["day=1", "day=2", "day=3"]),
        ("data_bytes", ["day=2", "day=1", "day=3"]), ("delete_files", ["day=3", "day=1", "day=2"]),
    ],
)  # fmt: skip
def test_partitions_come_worst_first(client: Client, sort: str, worst: list[str]) -> None:
    page = client.get(f"{path_of(ORDERS)}/partitions", sort=sort, limit=2).json()
    assert [row["partition"] for row in page["items"]] == worst[:2]
    assert page["total"] == 3


def test_a_partition_has_the_band_of_its_average_file_size(client: Client) -> None:
    sizes = [0, 4 * MIB - 1, 4 * MIB, 12 * MIB, 32 * MIB]
    health = replace(
        HEALTH,
        partitions=tuple(
            replace(
                HEALTH.partitions[0],
                partition=str(index),
                data_files=1 if size else 0,
                data_bytes=size,
            )
            for index, size in enumerate(sizes)
        ),
    )
    client.daemon.store.record_health(health, GRADE)
    rows = client.get(f"{path_of(ORDERS)}/partitions").json()["items"]
    bands = {row["partition"]: row["band"] for row in rows}
    assert bands == {"0": None, "1": "critical", "2": "degraded", "3": "watch", "4": "healthy"}


def test_the_stored_plan_says_what_why_and_when_next(client: Client) -> None:
    plan = client.get(f"{path_of(ORDERS)}/plan").json()
    assert plan["planned"][0]["action"].startswith("CALL `lake`.system.rewrite_data_files(")
    assert plan["planned"][0]["estimate"]["items_removed"] == 98
    assert [(skipped["code"], skipped["next_at"]) for skipped in plan["skipped"]] == [
        ("cooling_down", "2026-03-01T17:00:00Z"),
        ("below_threshold", None),
    ]


def test_a_table_without_a_plan_says_so(client: Client) -> None:
    add_tables(client, "fresh")
    assert "no plan has been made for lake.sales.fresh" in expect_problem(
        client.get(f"{path_of(replace(ORDERS, name='fresh'))}/plan"), 404
    )


def test_a_dry_run_needs_no_body_and_stores_nothing(client: Client) -> None:
    fresh = replace(ORDERS, name="fresh")
    client.daemon.store.record_health(measure(fresh), GRADE)
    assert client.post(f"{path_of(fresh)}/plan").json()[
        "made_at"
    ] == PLAN.made_at.isoformat().replace("+00:00", "Z")
    assert client.daemon.previews == [(fresh, None)]
    expect_problem(client.get(f"{path_of(fresh)}/plan"), 404)


def test_a_dry_run_of_a_table_that_cannot_be_measured_is_a_404(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = TableFault(ORDERS, FaultKind.METADATA_MISSING, "the metadata file is gone", NOW)
    monkeypatch.setattr(tables, "preview", lambda *_: fault)
    assert "cannot be measured (metadata_missing): the metadata file is gone" in expect_problem(
        client.post(f"{path_of(ORDERS)}/plan"), 404
    )


def test_a_dry_run_takes_a_candidate_policy(client: Client) -> None:
    assert (
        client.post(
            f"{path_of(ORDERS)}/plan", {"yaml": "tables: lake.sales.*\nmode: enforce\n"}
        ).status_code
        == 200
    )
    layer = client.daemon.previews[0][1]
    assert layer is not None
    assert layer.settings["mode"].value == "enforce"


def test_a_candidate_policy_that_is_wrong_or_for_others_is_refused(client: Client) -> None:
    path = f"{path_of(ORDERS)}/plan"
    assert "candidate.yaml:2" in expect_problem(
        client.post(path, {"yaml": "tables: lake.sales.*\nmod: enforce\n"}), 422
    )
    assert "does not match lake.sales.orders" in expect_problem(
        client.post(path, {"yaml": "tables: lake.hr.*\n"}), 422
    )
    assert client.daemon.previews == []


def test_a_table_is_measured_when_a_person_asks(client: Client) -> None:
    world = World()
    table = world.put("orders", small_files=60)
    scan(world.ports)
    client.daemon.ports = world.ports
    world.put("orders", small_files=90)
    assert client.get(path_of(table)).json()["data_files"] == 60
    assert client.post(f"{path_of(table)}/measure").json()["data_files"] == 90
    assert client.get(path_of(table)).json()["data_files"] == 90


def test_a_table_that_cannot_be_measured_says_why_and_keeps_the_fault(client: Client) -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    client.daemon.ports = world.ports
    reason = "the metadata file is gone"
    world.catalog.put(TableFault(table, FaultKind.METADATA_MISSING, reason, NOW))
    said = expect_problem(client.post(f"{path_of(table)}/measure"), 404)
    assert f"{table} cannot be measured (metadata_missing): {reason}" in said
    assert client.get(path_of(table)).json()["fault"]["reason"] == reason


def test_a_run_names_its_rules_once_each_and_is_accepted(client: Client) -> None:
    response = client.post(
        f"{path_of(ORDERS)}/run",
        {"rules": ["rewrite_data_files", "expire_snapshots", "rewrite_data_files"]},
    )
    assert response.status_code == 202
    assert response.json()["jobs"][0]["state"] == "pending"
    assert response.json()["plan"]["policy"] == "abc123"
    assert client.daemon.runs == [
        (ORDERS, (RuleName.REWRITE_DATA_FILES, RuleName.EXPIRE_SNAPSHOTS), "person")
    ]


def test_a_run_without_a_body_is_what_the_plan_would_do(client: Client) -> None:
    assert client.post(f"{path_of(ORDERS)}/run").status_code == 202
    assert client.daemon.runs == [(ORDERS, (), "person")]


@pytest.mark.parametrize("body", [{"rules": ["drop_table"]}, {"rule": []}, [], "x", 7])
def test_a_run_of_nonsense_is_refused(client: Client, body: object) -> None:
    expect_problem(client.post(f"{path_of(ORDERS)}/run", body), 422)
    assert client.daemon.runs == []


def test_a_pause_holds_until_it_is_resumed(client: Client) -> None:
    paused = client.post(f"{path_of(ORDERS)}/pause", {"reason": "month-end close"}).json()
    assert paused == {"by": "person", "at": "2026-03-01T12:00:00Z", "reason": "month-end close"}
    assert client.get(path_of(ORDERS)).json()["pause"] == paused
    response = client.post(f"{path_of(ORDERS)}/resume")
    assert (response.status_code, response.content) == (204, b"")
    assert client.get(path_of(ORDERS)).json()["pause"] is None
    assert client.post(f"{path_of(ORDERS)}/pause").json()["reason"] == ""


@pytest.mark.parametrize("verb", ["plan", "measure", "run", "pause", "resume"])
def test_nothing_can_be_asked_of_an_unknown_table(client: Client, verb: str) -> None:
    expect_problem(client.post(f"/api/v1/tables/lake/sales/nothing/{verb}"), 404)
