from __future__ import annotations

from datetime import timedelta

from maintainer.domain.audit import AuditEntry, Deed
from tests.api.nouns import NOW, ORDERS
from tests.api.serving import Client, expect_problem


def paused(client: Client, actor: str = "person ada") -> None:
    client.daemon.store.record_audit(
        [
            AuditEntry(
                NOW + timedelta(hours=1),
                actor,
                Deed.WORK_PAUSED,
                ORDERS,
                fields={"reason": "migration"},
            )
        ]
    )


def test_the_log_says_who_asked_and_what_came_of_it(client: Client) -> None:
    paused(client)
    page = client.get("/api/v1/audit").json()
    assert page["total"] == len(page["items"])
    assert page["items"][0] == {
        "sequence": page["total"],
        "at": "2026-03-01T13:00:00Z",
        "actor": "person ada",
        "deed": "work.paused",
        "table": str(ORDERS),
        "table_uuid": "",
        "job_id": "",
        "fields": {"reason": "migration"},
    }
    assert {"job.requested", "job.ended"} <= {item["deed"] for item in page["items"]}


def test_the_log_is_sifted_and_paged(client: Client) -> None:
    for number in range(3):
        paused(client, f"person {number}")
    assert [
        item["actor"] for item in client.get("/api/v1/audit", actor="person 1").json()["items"]
    ] == ["person 1"]
    assert client.get("/api/v1/audit", job="no-such").json()["items"] == []
    assert (
        client.get("/api/v1/audit", since="2026-03-01T12:30:00Z", table=str(ORDERS)).json()["total"]
        == 3
    )
    first = client.get("/api/v1/audit", limit=2).json()
    second = client.get("/api/v1/audit", limit=2, cursor=first["next_cursor"]).json()
    assert [item["sequence"] for item in first["items"] + second["items"]] == sorted(
        (item["sequence"] for item in first["items"] + second["items"]), reverse=True
    )


def test_a_question_that_makes_no_sense_is_a_problem(client: Client) -> None:
    expect_problem(client.get("/api/v1/audit", table="orders"), 422)
    expect_problem(client.get("/api/v1/audit", cursor="x"), 422)
