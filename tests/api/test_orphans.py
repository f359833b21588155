from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.access import Role
from maintainer.domain.audit import AuditQuery
from maintainer.domain.orphan import FoundFile, OrphanList, OrphanListState, hash_files
from tests.api.nouns import HEALTH, NOW, ORDERS
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem, path_of

LISTS = f"{path_of(ORDERS)}/orphans"
FILES = tuple(
    FoundFile(f"s3://lake/orders/data/{n}.parquet", n or None, NOW if n else None) for n in range(5)
)
DAY = timedelta(days=1)
WAITING = OrphanList(
    "m-1",
    ORDERS,
    HEALTH.table_uuid,
    "s3://lake/orders",
    NOW - 7 * DAY,
    NOW,
    5,
    10,
    hash_files(FILES),
    OrphanListState.WAITING,
    NOW + 7 * DAY,
)


@pytest.fixture(autouse=True)
def with_a_list(client: Client) -> None:
    client.daemon.store.add_orphan_list(WAITING, FILES)


def test_lists_are_reported_and_their_files_in_pages(client: Client) -> None:
    (reported,) = client.get(LISTS).json()["items"]
    assert (
        reported["list_id"],
        reported["state"],
        reported["files"],
        reported["bytes"],
        reported["sha256"],
    ) == (
        "m-1",
        "waiting",
        5,
        10,
        WAITING.sha256,
    )
    assert (reported["is_expired"], reported["decided_at"]) == (False, None)
    first = client.get(f"{LISTS}/m-1", limit=3).json()
    assert first["files"][0] == {"path": FILES[0].path, "size_bytes": None, "modified_at": None}
    assert first["next_after"] == 3
    last = client.get(f"{LISTS}/m-1", limit=3, after=3).json()
    assert ([file["path"] for file in last["files"]], last["next_after"]) == (
        [file.path for file in FILES[3:]],
        None,
    )
    assert client.get(f"{LISTS}/m-1", after=9).json()["next_after"] is None


def test_a_list_that_waits_too_long_is_reported_as_such(client: Client) -> None:
    late = replace(WAITING, expires_at=NOW)
    client.daemon.store.update_orphan_list(late, WAITING)
    assert client.get(LISTS).json()["items"][0]["is_expired"] is True
    assert "could be approved until" in expect_problem(
        client.post(f"{LISTS}/m-1/approve", {"by": "ada"}), 409
    )


def test_guard_5_an_approval_is_for_the_list_that_was_seen_and_says_who(client: Client) -> None:
    assert "for another list" in expect_problem(
        client.post(f"{LISTS}/m-1/approve", {"by": "ada", "sha256": "0" * 64}), 409
    )
    done = client.post(f"{LISTS}/m-1/approve", {"by": "ada", "sha256": WAITING.sha256})
    assert done.status_code == 200
    assert (done.json()["state"], done.json()["decided_by"], done.json()["decided_at"]) == (
        "approved",
        "ada",
        "2026-03-01T12:00:00Z",
    )
    assert client.daemon.store.audit(AuditQuery()).items[0].actor == "person ada"
    assert "is approved already" in expect_problem(
        client.post(f"{LISTS}/m-1/approve", {"by": "bob"}), 409
    )
    assert client.post(f"{LISTS}/m-1/reject", {"by": "bob"}).json()["state"] == "rejected"
    assert "is rejected already" in expect_problem(client.post(f"{LISTS}/m-1/reject", {}), 409)


@pytest.mark.parametrize("body", [{"by": ""}, {"sha256": "abc"}, {"by": "x" * 201}, {"who": "ada"}])
def test_what_is_no_decision_is_refused(client: Client, body: dict[str, object]) -> None:
    expect_problem(client.post(f"{LISTS}/m-1/approve", body), 422)


def test_what_is_in_quarantine_is_wanted_back_and_nothing_else(client: Client) -> None:
    assert "is waiting, not in quarantine" in expect_problem(
        client.post(f"{LISTS}/m-1/restore", {"by": "bob"}), 409
    )
    aside = replace(WAITING, state=OrphanListState.QUARANTINED, expires_at=NOW)
    client.daemon.store.update_orphan_list(aside, WAITING)
    assert client.get(LISTS).json()["items"][0]["is_expired"] is False, (
        "of its quarantine nothing expires"
    )
    done = client.post(f"{LISTS}/m-1/restore", {"by": "bob"}).json()
    assert (done["state"], done["decided_by"]) == ("restoring", "bob")
    assert client.daemon.store.audit(AuditQuery()).items[0].deed == "orphans.restore_requested"


def test_lists_of_nobody_and_of_others_are_not_found(client: Client) -> None:
    for path in (f"{LISTS}/m-9", f"{path_of(replace(ORDERS, name='other'))}/orphans/m-1"):
        assert "has no list" in expect_problem(client.get(path), 404)
        for verb in ("approve", "reject", "restore"):
            assert "has no list" in expect_problem(client.post(f"{path}/{verb}", {}), 404)


def test_a_decision_of_a_machine_has_its_name(client: Client) -> None:
    approver = let_in(client, "night-shift", Role.APPROVER)
    done = client.post(f"{LISTS}/m-1/approve", {"by": "ada"}, approver)
    assert done.json()["decided_by"] == "token night-shift"
