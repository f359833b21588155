from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.cost import Cost, CostBasis, Score
from maintainer.domain.policy import RuleName
from maintainer.domain.timing import QueryTiming
from maintainer.domain.units import KIB, MIB
from maintainer.domain.verdict import RuleVerdict
from tests.api.nouns import ESTIMATE, FINDING, GRADE, HEALTH, NOW, ORDERS, PLAN
from tests.api.serving import Client, expect_problem, path_of

VERDICTS = f"{path_of(ORDERS)}/verdicts"
MEASUREMENTS = f"{path_of(ORDERS)}/measurements"
COST = Cost(0.5, 0.8, 90.0, CostBasis.TABLE, 7)
SCORE = Score("ours", 12.5, (("chance", 0.9), ("benefit", 98.0)), "chance 0.9 x benefit 98")


def decide(client: Client, *codes: str) -> None:
    for hour, code in enumerate(codes):
        at = NOW + timedelta(hours=hour)
        verdict = RuleVerdict(
            RuleName.REWRITE_DATA_FILES,
            code,
            "",
            f"Compacting is {code}.",
            at,
            None,
            None,
            "v1",
            (FINDING,),
            ESTIMATE,
            COST,
            SCORE,
        )
        client.daemon.store.record_plan(replace(PLAN, made_at=at), (verdict,))


def test_the_history_of_verdicts_is_read_newest_first_with_what_each_rested_on(
    client: Client,
) -> None:
    decide(client, "planned", "cooling_down")
    page = client.get(VERDICTS).json()
    assert [(item["code"], item["at"], item["until"]) for item in page["items"]] == [
        ("cooling_down", "2026-03-01T13:00:00Z", None),
        ("planned", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"),
    ]
    newest = page["items"][0]
    assert newest["sentence"] == "Compacting is cooling_down."
    assert (
        newest["cost"]["gb_hours_p90"],
        newest["cost"]["basis"],
        newest["estimate"]["items_removed"],
    ) == (0.8, "table", 98)
    assert newest["score"]["terms"] == [
        {"name": "chance", "value": 0.9},
        {"name": "benefit", "value": 98.0},
    ]
    assert page["total"] == 2


def test_the_history_of_verdicts_is_paged(client: Client) -> None:
    decide(client, "a", "b", "c")
    first = client.get(VERDICTS, limit=2).json()
    second = client.get(VERDICTS, limit=2, cursor=first["next_cursor"]).json()
    assert [item["code"] for item in first["items"] + second["items"]] == ["c", "b", "a"]
    assert second["next_cursor"] is None


def test_a_plan_says_each_verdict_in_a_sentence_with_its_cost_and_its_terms(client: Client) -> None:
    planned = replace(PLAN.planned[0], cost=COST, score=SCORE)
    client.daemon.store.record_plan(replace(PLAN, planned=(planned,)))
    plan = client.get(f"{path_of(ORDERS)}/plan").json()
    assert (
        plan["planned"][0]["sentence"]
        == "Compacting data files is worth doing: 100 files become 2."
    )
    assert plan["planned"][0]["cost"] == {
        "gb_hours": 0.5,
        "gb_hours_p90": 0.8,
        "duration_seconds": 90.0,
        "basis": "table",
        "samples": 7,
    }
    assert plan["planned"][0]["score"]["sentence"] == "chance 0.9 x benefit 98"
    assert (
        plan["skipped"][0]["sentence"]
        == "Expiring snapshots is due and waits for its cool-down to end: ran 1 h ago."
    )
    assert plan["skipped"][0]["cost"] is None


def test_a_measurement_is_kept_with_the_files_of_that_time(client: Client) -> None:
    at = HEALTH.measured_at
    earlier = replace(
        HEALTH,
        measured_at=at - timedelta(days=2),
        data_files=5000,
        average_file_size_bytes=30.0 * KIB,
    )
    client.daemon.store.record_health(earlier, GRADE)
    client.daemon.store.record_health(HEALTH, GRADE)
    response = client.post(
        MEASUREMENTS,
        {"name": "q1", "seconds": 30.0, "at": "2026-02-28T10:00:00+02:00", "cost": 0.25},
    )
    assert response.status_code == 201
    assert response.json() == {
        "name": "q1", "seconds": 30.0, "at": "2026-02-28T08:00:00Z", "data_files": 5000,
        "average_file_size_bytes": 30.0 * KIB, "cost": 0.25,
    }  # fmt: skip
    now = client.post(MEASUREMENTS, {"query": "q1", "seconds": 10.0}).json()
    assert (now["at"], now["data_files"], now["average_file_size_bytes"]) == (
        "2026-03-01T12:00:00Z",
        100,
        1.5 * MIB,
    )
    assert [item["seconds"] for item in client.get(MEASUREMENTS).json()["items"]] == [10.0, 30.0]


@pytest.mark.parametrize("at", ["2020-01-01T00:00:00Z", "0001-01-02T00:00:00Z"])
def test_what_was_measured_before_the_history_began_has_no_files(client: Client, at: str) -> None:
    told = client.post(MEASUREMENTS, {"name": "q1", "seconds": 30.0, "at": at}).json()
    assert (told["data_files"], told["average_file_size_bytes"]) == (None, None)


def test_own_measurements_replace_the_estimate_on_the_tables_page(client: Client) -> None:
    before = client.get(path_of(ORDERS)).json()["impact"]
    assert before["comparisons"] == []
    assert before["reference_file_size_bytes"] == 130_000_000
    for seconds, average in ((24.0, 1.5 * MIB), (8.0, 128.0 * MIB)):
        client.daemon.store.record_timing(
            ORDERS, QueryTiming("q1", seconds, NOW - timedelta(hours=seconds), 10, average)
        )
    after = client.get(path_of(ORDERS)).json()["impact"]
    assert after["slowdown_high"] == pytest.approx(3.0)
    assert after["source"].startswith("Measured by you on this table: 2 runs of 1 query")
    assert after["comparisons"][0]["name"] == "q1"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"seconds": 1.0}, "name"), ({"name": "", "seconds": 1.0}, "name"), ({"name": " ",
        "seconds": 1.0}, "name"), ({"name": "q", "seconds": 0}, "seconds"),
        ({"name": "q", "seconds": 1.0, "at": "2026-03-01T12:00:00"}, "at"), ({"name": "q",
        "seconds": 1.0, "at": "2026-03-02T12:00:00Z"}, "future"),
        ({"name": "q", "seconds": 1.0, "files": 3}, "files"), ({"name": "q", "seconds": 1.0,
        "cost": -1}, "cost"),
        ({"name": "q", "seconds": 1.0, "at": "0001-01-01T00:00:00+14:00"}, "years"),
    ],
)  # fmt: skip
def test_a_bad_measurement_is_a_problem_that_names_what_is_wrong(
    client: Client, body: dict[str, object], word: str
) -> None:
    assert word in expect_problem(client.post(MEASUREMENTS, body), 422)


def test_an_unknown_table_has_neither_story_nor_measurements(client: Client) -> None:
    unknown = path_of(replace(ORDERS, name="nothing"))
    for path in ("verdicts", "measurements"):
        assert "nothing" in expect_problem(client.get(f"{unknown}/{path}"), 404)
    expect_problem(client.post(f"{unknown}/measurements", {"name": "q", "seconds": 1.0}), 404)
