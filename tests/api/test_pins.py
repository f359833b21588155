from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.health import SnapshotStamp
from maintainer.domain.inventory import FaultKind, Ref, TableFault
from tests.api.nouns import GRADE, HEALTH, NOW, ORDERS
from tests.api.serving import Client, expect_problem, path_of

PINS = f"{path_of(ORDERS)}/pins"
EXPIRY = f"{path_of(ORDERS)}/expiry"


@pytest.fixture(autouse=True)
def with_twenty_snapshots(client: Client) -> None:
    history = tuple(
        SnapshotStamp(n, n - 1 or None, NOW - timedelta(days=20 - n), 1000) for n in range(1, 21)
    )
    client.daemon.store.record_health(
        replace(
            HEALTH,
            snapshot_id=20,
            history=history,
            snapshots=20,
            refs=(Ref("main", 20, is_branch=True),),
        ),
        GRADE,
    )


def test_a_pin_is_set_listed_replaced_and_taken_away(client: Client) -> None:
    assert client.get(PINS).json() == {"pins": [], "keepers": []}
    made = client.post(
        PINS, {"name": "replica", "snapshot_id": "7", "by": "ada", "until": "2026-03-08T12:00:00Z"}
    )
    assert made.status_code == 201
    assert made.json()["is_held"] is True
    client.post(PINS, {"name": "replica", "snapshot_id": "5"})
    listed = client.get(PINS).json()
    assert [
        (pin["name"], pin["snapshot_id"], pin["by"], pin["until"]) for pin in listed["pins"]
    ] == [("replica", "5", "person", None)]
    assert [(keeper["snapshot_id"], keeper["reason"]) for keeper in listed["keepers"]] == [
        ("5", "pin replica of person")
    ]
    assert client.send("DELETE", f"{PINS}/replica").status_code == 204
    assert "no pin 'replica'" in expect_problem(client.send("DELETE", f"{PINS}/replica"), 404)


def test_the_preview_of_expiry_says_what_would_go_and_who_holds_the_rest(client: Client) -> None:
    before = client.get(EXPIRY).json()
    assert before["snapshots"] == 10, "the policy keeps ten"
    assert before["snapshot_ids"][0] == "1"
    assert (before["bytes_freed"], before["keeper"], before["refusal"]) == (11_000, None, None)
    client.post(PINS, {"name": "replica", "snapshot_id": "4"})
    after = client.get(EXPIRY).json()
    assert after["snapshot_ids"] == ["1", "2", "3"]
    assert after["keeper"]["reason"] == "pin replica of person"


def test_a_snapshot_that_the_table_does_not_have_cannot_be_pinned(client: Client) -> None:
    assert "has no snapshot 999" in expect_problem(
        client.post(PINS, {"name": "x", "snapshot_id": "999"}), 409
    )


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a b", "snapshot_id": "7"},
        {"name": "x", "snapshot_id": "-7"},
        {"name": "x", "snapshot_id": "9" * 19},
        {"name": "x"},
    ],
)
def test_what_is_no_pin_is_refused(client: Client, body: dict[str, object]) -> None:
    expect_problem(client.post(PINS, body), 422)


def test_a_table_that_was_never_measured_has_no_snapshots_to_pin(client: Client) -> None:
    table = replace(ORDERS, name="broken")
    client.daemon.store.record_fault(TableFault(table, FaultKind.METADATA_CORRUPT, "torn", NOW))
    assert "has not been measured yet" in expect_problem(client.get(f"{path_of(table)}/pins"), 409)


def test_snapshots_are_listed_with_what_holds_them_and_what_expiry_would_take(
    client: Client,
) -> None:
    client.post(PINS, {"name": "replica", "snapshot_id": "4"})
    listed = client.get(f"{path_of(ORDERS)}/snapshots").json()
    assert listed["total"] == 20
    assert [item["snapshot_id"] for item in listed["items"]] == [str(n) for n in range(20, 0, -1)]
    assert listed["items"][0]["refs"] == ["main"]
    held = [item for item in listed["items"] if item["pins"]]
    assert [(item["snapshot_id"], item["pins"]) for item in held] == [("4", ["replica"])]
    assert [item["snapshot_id"] for item in listed["items"] if item["expires"]] == ["3", "2", "1"]
    assert client.get(EXPIRY).json()["sentence"].startswith("3 of 20 snapshots are older than")
