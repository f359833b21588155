"""API tokens: under which name its bearer stands in the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.access import Role
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.health import SnapshotStamp
from maintainer.domain.job import JobState
from tests.api.nouns import GRADE, HEALTH, NOW, ORDERS
from tests.api.people import bearer, let_in, secret_of
from tests.api.serving import Client, job_of, path_of

BEARER = bearer("ci")
TABLE = path_of(ORDERS)


@pytest.fixture
def guarded(client: Client) -> Client:
    """The same API, with one token."""
    let_in(client, "ci", Role.APPROVER)
    return client


def actors(client: Client, deed: Deed) -> list[str]:
    return [
        entry.actor for entry in client.daemon.store.audit(AuditQuery()).items if entry.deed is deed
    ]


def test_the_audit_log_names_the_token(guarded: Client) -> None:
    assert (
        guarded.post(f"{TABLE}/pause", {"reason": "a migration"}, BEARER).json()["by"] == "token ci"
    )
    assert guarded.post(f"{TABLE}/resume", None, BEARER).status_code == 204
    assert guarded.post("/api/v1/jobs/job-2/cancel", None, BEARER).status_code == 202
    assert (actors(guarded, Deed.WORK_PAUSED), actors(guarded, Deed.WORK_RESUMED)) == (
        ["token ci"],
        ["token ci"],
    )
    log = guarded.get("/api/v1/audit", BEARER).text
    assert secret_of("ci") not in log
    assert job_of(guarded.daemon.store, "job-2").cancel_requested_by == "token ci"


def test_a_request_with_a_token_cannot_name_another_person(guarded: Client) -> None:
    stamp = SnapshotStamp(5, None, NOW)
    guarded.daemon.store.record_health(replace(HEALTH, history=(stamp,)), GRADE)
    pin = {"name": "replica", "snapshot_id": "5", "by": "ada"}
    assert guarded.post(f"{TABLE}/pins", pin, BEARER).json()["by"] == "ada", (
        "who needs it, not who asks"
    )
    assert actors(guarded, Deed.SNAPSHOT_PINNED) == ["token ci"]
    assert guarded.send("DELETE", f"{TABLE}/pins/replica", BEARER).status_code == 204
    assert actors(guarded, Deed.SNAPSHOT_UNPINNED) == ["token ci"]


def test_without_tokens_nobody_is_asked_for_one(client: Client) -> None:
    assert client.post(f"{TABLE}/pause", {"reason": "x"}, BEARER).json()["by"] == "person"
    assert client.post(f"{TABLE}/resume").status_code == 204
    assert client.post(f"{TABLE}/resume").status_code == 204
    assert actors(client, Deed.WORK_RESUMED) == ["person"], (
        "a table that is not paused has nothing to resume"
    )
    assert job_of(client.daemon.store, "job-2").state is JobState.RUNNING
