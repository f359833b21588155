from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.api.deps import Queue
from maintainer.domain.access import Role
from maintainer.domain.admission import AdmissionDecision, Candidate, Wait, WaitCode
from maintainer.domain.cost import Benefit, Cost, Score, Worth
from maintainer.domain.policy import RuleName
from tests.api.nouns import HEALTH, NOW, ORDERS, finish_job
from tests.api.people import let_in
from tests.api.serving import Client, job_of, path_of

REWRITE = RuleName.REWRITE_DATA_FILES
QUEUED = Wait(WaitCode.QUEUED, "no free slot; 1 ahead in the queue", ahead=1)
SPENT = Wait(
    WaitCode.OVER_BUDGET,
    "9 of 10 GB-hours of the fleet are spent today, and this needs up to 2",
    NOW + timedelta(hours=12),
)


def verdict(
    name: str = "orders", wait: Wait | None = None, rule: RuleName = REWRITE
) -> AdmissionDecision:
    uuid = HEALTH.table_uuid if name == "orders" else name
    candidate = Candidate(
        replace(ORDERS, name=name),
        uuid,
        rule,
        Cost(0.5, 0.8, 90.0),
        Worth(Benefit(98)),
        1000,
        NOW - timedelta(hours=1),
    )
    return AdmissionDecision(
        candidate, Score("maintainer", 12.5, (("chance", 0.9),), "chance 0.9"), wait
    )


def put(client: Client, *verdicts: AdmissionDecision) -> None:
    client.daemon.queue = Queue(NOW, verdicts)


def test_the_queue_tells_who_starts_and_why_the_others_wait(client: Client) -> None:
    put(client, verdict("a"), verdict("b", QUEUED), verdict("orders", SPENT))
    queue = client.get("/api/v1/queue").json()
    assert [(item["table"], item["admission"]["is_admitted"],
    item["admission"]["code"]) for item in queue["items"]] == [
        ("lake.sales.a", True, None), ("lake.sales.b", False, "queued"), ("lake.sales.orders",
        False, "over_budget"),
    ]  # fmt: skip
    assert [item["admission"]["sentence"] for item in queue["items"]] == [
        "Compacting data files starts next.",
        "Compacting data files waits: no free slot; 1 ahead in the queue.",
        (
            "Compacting data files waits, until 2026-03-02 00:00 UTC at the earliest: 9 of 10 "
            "GB-hours of the fleet are spent today, and this needs up to 2."
        ),
    ]
    assert queue["items"][1]["admission"]["ahead"] == 1
    assert (
        queue["total"],
        queue["starting"],
        queue["waiting"]["queued"],
        queue["waiting"]["blackout"],
    ) == (3, 1, 1, 0)


def test_the_first_of_the_queue_are_served(client: Client) -> None:
    put(client, *(verdict(f"t{number}") for number in range(5)))
    queue = client.get("/api/v1/queue", limit=2).json()
    assert ([item["table"] for item in queue["items"]], queue["total"]) == (
        ["lake.sales.t0", "lake.sales.t1"],
        5,
    )


def test_an_idle_fleet_has_an_empty_queue(client: Client) -> None:
    queue = client.get("/api/v1/queue").json()
    assert (queue["items"], queue["total"], queue["starting"]) == ([], 0, 0)


def test_a_plan_says_why_its_actions_wait(client: Client) -> None:
    put(client, verdict("a"), verdict("orders", SPENT))
    planned = client.get(f"{path_of(ORDERS)}/plan").json()["planned"][0]
    assert planned["admission"]["code"] == "over_budget"
    assert planned["admission"]["next_at"] == "2026-03-02T00:00:00Z"
    assert planned["admission"]["waiting_since"] == "2026-03-01T11:00:00Z"


def test_what_is_said_of_another_table_of_the_same_name_is_not_shown(client: Client) -> None:
    stranger = verdict("orders", SPENT)
    put(client, replace(stranger, candidate=replace(stranger.candidate, table_uuid="another")))
    assert client.get(f"{path_of(ORDERS)}/plan").json()["planned"][0]["admission"] is None


def test_who_sees_a_part_reads_no_figures_of_others(client: Client) -> None:
    reserved = replace(SPENT, code=WaitCode.RESERVED)
    put(client, verdict("b", QUEUED), verdict("orders", SPENT), verdict("c", reserved))
    store = client.daemon.store
    job = job_of(store, "job-2")
    assert store.update_job(finish_job(job), job)
    part = let_in(client, "part", Role.VIEWER, "lake.sales.")
    queue = client.get("/api/v1/queue", part).json()
    detail, plan = (client.get(f"{path_of(ORDERS)}{path}", part).json() for path in ("", "/plan"))
    assert [item["admission"]["ahead"] for item in queue["items"]] == [None] * 3
    told = [item["admission"]["sentence"] for item in queue["items"]]
    assert told[0] == "Compacting data files waits: no free slot."
    assert told[1].endswith("at the earliest: a budget that it shares has too little left.")
    assert told[2].endswith("what is left of a budget that it shares is reserved for others.")
    assert plan["planned"][0]["admission"]["sentence"] == told[1]
    assert detail["outlook"]["sentence"] == told[1]
    whole = client.get("/api/v1/queue", let_in(client, "whole", Role.VIEWER)).json()
    assert whole["items"][0]["admission"]["ahead"] == 1
    assert "9 of 10 GB-hours" in whole["items"][1]["admission"]["sentence"]
