from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.access import Role
from maintainer.domain.cost import Cost, CostBasis, Score
from maintainer.domain.plan import RuleVerdict, key_while_waiting
from maintainer.domain.policy import RuleName
from tests.api.nouns import ESTIMATE, FINDING, NOW, ORDERS, PLAN
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem, path_of

VERDICTS = f"{path_of(ORDERS)}/verdicts"
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


def test_who_sees_a_part_reads_no_figures_of_others_in_the_history(client: Client) -> None:
    sentence = "Compacting waits: 9 of 10 GB-hours of the fleet are spent today; 600 files."
    verdict = RuleVerdict(
        RuleName.REWRITE_DATA_FILES,
        "over_budget",
        key_while_waiting("planned", "GB-hours of the fleet"),
        sentence,
        NOW,
        None,
        None,
        "v1",
    )
    client.daemon.store.record_plan(replace(PLAN, made_at=NOW), (verdict,))
    for prefixes, told in (((), sentence), (("lake.sales.",), "Compacting data files waits: ")):
        name = let_in(client, f"reader-{len(prefixes)}", Role.VIEWER, *prefixes)
        (item,) = client.get(VERDICTS, name).json()["items"]
        assert item["sentence"].startswith(told)
        assert ("spent" in item["sentence"]) == (not prefixes)


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
        == "Expiring snapshots is due and waits for the end of its cooldown: ran 1 h ago."
    )
    assert plan["skipped"][0]["cost"] is None


def test_an_unknown_table_has_no_activity(client: Client) -> None:
    unknown = path_of(replace(ORDERS, name="nothing"))
    assert "nothing" in expect_problem(client.get(f"{unknown}/verdicts"), 404)
