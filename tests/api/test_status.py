"""GET /api/v1/status: one sentence, the tables by state, and what needs a person."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

from maintainer.api.deps import Queue
from maintainer.decide.grading.bands import UNREADABLE
from maintainer.domain.access import Role
from maintainer.domain.admission import AdmissionDecision, Wait, WaitCode, find_candidates
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.cost import Benefit, Cost, Score, Worth
from maintainer.domain.health import Band, Finding, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.plan import SkipCode, SkippedRule
from maintainer.domain.policy import RuleName
from maintainer.domain.scan_cost import ScanCost
from maintainer.domain.status import TableState
from maintainer.ports.store.tables import Pause
from tests.api.nouns import GRADE, HEALTH, NOW, PLAN
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem

URL = "/api/v1/status"
SALARIES = TableIdentifier("lake", ("hr",), "salaries")
BADGES = TableIdentifier("lake", ("hr", "doors"), "badges")
STOCK = TableIdentifier("lake", ("sales",), "stock")
DAMAGE = Finding(UNREADABLE, 1, 0, Band.CRITICAL, sentence="m1.avro cannot be read")


def measure(client: Client, table: TableIdentifier, grade: Grade = GRADE) -> None:
    health = replace(HEALTH, table=table, table_uuid=f"uuid of {table}")
    client.daemon.store.record_health(health, grade)


def trouble(client: Client) -> None:
    """Beside the table that has a job: an unreadable one, a damaged one and a paused one."""
    store = client.daemon.store
    store.record_scan_cost(
        ScanCost("lake", NOW - timedelta(minutes=1), 40, 1, 0, 0, 1, 1, 1, is_complete=True)
    )
    store.record_fault(TableFault(SALARIES, FaultKind.METADATA_MISSING, "no metadata", NOW))
    measure(client, BADGES, Grade(Band.CRITICAL, (DAMAGE,), DAMAGE.sentence, NOW))
    measure(client, STOCK)
    store.set_pause(STOCK, Pause(BY_PROOF, NOW, "rows differ"))
    store.record_catalog_faults("ice", [CatalogFault("ice", (), "connection refused", NOW)])


def states(body: dict[str, Any]) -> dict[str, str]:
    return {one["table"]: one["state"] for one in body["items"]}


def subjects(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["kind"], one["subject"]) for one in body["needs"]]


def test_the_status_of_the_fleet_has_its_sentence_its_states_and_its_needs(client: Client) -> None:
    trouble(client)
    body = client.get(URL).json()
    assert body["sentence"] == (
        "1 table cannot be read. 1 table is damaged. 2 tables are degraded: 1 is being "
        "maintained; 1 is paused. Last scan 20 s ago."
    )
    assert (body["is_well"], body["tables"]) == (False, 4)
    assert body["last_scan_at"] == "2026-03-01T11:59:40Z"
    assert list(states(body).items()) == [
        (str(SALARIES), "unreadable"),
        (str(BADGES), "damaged"),
        (str(STOCK), "paused"),
        ("lake.sales.orders", "being_maintained"),
    ]
    assert body["states"] == {
        state.value: Counter(states(body).values())[state.value] for state in TableState
    }
    assert [kind for kind, _ in subjects(body)] == [
        "paused",
        "unreadable",
        "damaged",
        "catalog",
        "policy",
    ]
    assert body["needs"][2] == {
        "kind": "damaged",
        "subject": str(BADGES),
        "table": str(BADGES),
        "sentence": "The table is damaged: m1.avro cannot be read.",
        "since": "2026-03-01T12:00:00Z",
        "reference": "",
        "command": f"maintainer why {BADGES}",
    }


def test_the_lists_are_bounded_and_the_numbers_are_those_of_all(client: Client) -> None:
    trouble(client)
    body = client.get(f"{URL}?limit=1").json()
    assert (len(body["needs"]), body["needs_total"]) == (1, 5)
    assert (len(body["items"]), body["tables"], sum(body["states"].values())) == (1, 4, 4)


def test_a_person_sees_only_the_tables_and_problems_of_their_namespace(client: Client) -> None:
    trouble(client)
    seller = let_in(client, "seller", Role.VIEWER, "lake.sales.")
    body = client.get(URL, seller).json()
    assert states(body) == {str(STOCK): "paused", "lake.sales.orders": "being_maintained"}
    assert subjects(body) == [("paused", str(STOCK))]
    assert (body["tables"], sum(body["states"].values()), body["needs_total"]) == (2, 2, 1)
    assert "hr" not in str(body)
    assert "refused" not in str(body)
    assert body["last_scan_at"] == "2026-03-01T11:59:40Z"
    for place in ("catalog=lake&namespace=hr", "catalog=ice"):
        elsewhere = client.get(f"{URL}?{place}", seller).json()
        assert (elsewhere["items"], elsewhere["needs"], elsewhere["tables"]) == ([], [], 0)
    stranger = let_in(client, "stranger", Role.VIEWER, "ice.sales.")
    assert client.get(URL, stranger).json()["last_scan_at"] is None


def test_what_waits_for_tables_of_others_does_not_name_them(client: Client) -> None:
    action = replace(PLAN.planned[0], cost=Cost(1, 1, 1), worth=Worth(Benefit(value=1.0)))
    plan = replace(PLAN, table=STOCK, table_uuid=f"uuid of {STOCK}", planned=(action,))
    measure(client, STOCK)
    client.daemon.store.record_plan(plan)
    wait = Wait(WaitCode.OVER_BUDGET, "lake.hr.salaries has spent the budget of 9 GiB")
    decisions = [
        AdmissionDecision(one, Score("maintainer", 1.0), wait) for one in find_candidates(plan)
    ]
    client.daemon.queue = Queue(NOW, decisions)
    found = client.get(f"{URL}?catalog=lake").json()
    (stock,) = [one for one in found["items"] if one["table"] == str(STOCK)]
    assert stock["state"] == "waiting"
    assert "lake.hr.salaries" in stock["sentence"]
    seller = let_in(client, "seller", Role.VIEWER, "lake.sales.")
    (stock,) = [
        one for one in client.get(URL, seller).json()["items"] if one["table"] == str(STOCK)
    ]
    assert stock["state"] == "waiting"
    assert "salaries" not in stock["sentence"]
    assert "9 GiB" not in stock["sentence"]


def test_a_place_is_a_catalog_or_a_namespace_with_those_nested_in_it(client: Client) -> None:
    trouble(client)
    body = client.get(f"{URL}?catalog=lake&namespace=hr").json()
    assert states(body) == {str(SALARIES): "unreadable", str(BADGES): "damaged"}
    assert subjects(body) == [("unreadable", str(SALARIES)), ("damaged", str(BADGES))]
    ice = client.get(f"{URL}?catalog=ice").json()
    assert (ice["tables"], subjects(ice)) == (0, [("catalog", "ice")])
    detail = expect_problem(client.get(f"{URL}?namespace=hr"), 422)
    assert detail == "namespace 'hr' needs the parameter catalog"


def test_a_damaged_table_and_a_critical_one_that_may_not_be_compacted_are_in_the_inbox(
    client: Client,
) -> None:
    trouble(client)
    measure(client, BADGES, Grade(Band.CRITICAL, (DAMAGE,), DAMAGE.sentence, NOW))
    measure(client, STOCK, Grade(Band.CRITICAL, (), "files are small", NOW))
    client.daemon.store.set_pause(STOCK, None)
    refused = SkippedRule(RuleName.REWRITE_DATA_FILES, SkipCode.UNSAFE, "a name is unknown")
    idle = replace(PLAN, table=STOCK, table_uuid=f"uuid of {STOCK}", planned=(), skipped=(refused,))
    client.daemon.store.record_plan(idle)
    found = client.get("/api/v1/inbox").json()["items"]
    assert [(one["kind"], one["subject"]) for one in found] == subjects(client.get(URL).json())
    assert ("damaged", str(BADGES)) in subjects(client.get(URL).json())
    assert ("unmaintained", str(STOCK)) in subjects(client.get(URL).json())
    seller = let_in(client, "seller", Role.VIEWER, "lake.sales.")
    (own,) = client.get("/api/v1/inbox", seller).json()["items"]
    assert (own["kind"], own["subject"]) == ("unmaintained", str(STOCK))
