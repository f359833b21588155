"""Answers to lists that are repeated for a moment: fresh enough, and of nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from maintainer.api import recent
from maintainer.api.guard import Limits
from maintainer.domain.access import Role
from maintainer.domain.identifier import TableIdentifier
from tests.api.nouns import GRADE, HEALTH, ORDERS
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem, path_of

TABLES = "/api/v1/tables"
PEOPLE = TableIdentifier("lake", ("hr",), "people")


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by the clock of what is kept; answers are repeated for a second."""
    now = [100.0]
    init = recent.RecentAnswers.__init__

    def begin(self: Any, app: Any, context: Any) -> None:
        init(self, app, replace(context, answers_seconds=1.0), lambda: now[0])

    monkeypatch.setattr(recent.RecentAnswers, "__init__", begin)
    return now


def add_table(client: Client, table: TableIdentifier, uuid: str) -> None:
    client.daemon.store.record_health(replace(HEALTH, table=table, table_uuid=uuid), GRADE)


def names(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["table"] for item in answer.json()["items"]]


def test_an_answer_is_repeated_for_a_moment(client: Client, moment: list[float]) -> None:
    first = client.get(TABLES)
    add_table(client, PEOPLE, "9a")
    again = client.get(TABLES)
    assert (again.content, again.headers) == (first.content, first.headers)
    assert again.headers["x-content-type-options"] == "nosniff"
    assert client.send("HEAD", TABLES).content == b""
    assert names(client.get(TABLES, limit=50)) == [str(PEOPLE), str(ORDERS)], "another question"
    moment[0] += 1
    assert names(client.get(TABLES)) == [str(PEOPLE), str(ORDERS)]


def test_a_change_through_this_process_is_seen_at_once(client: Client, moment: list[float]) -> None:
    assert client.get(TABLES).json()["items"][0]["pause"] is None
    moment[0] += 0.1
    assert client.post(f"{path_of(ORDERS)}/pause").status_code == 200
    moment[0] += 0.1
    assert client.get(TABLES).json()["items"][0]["pause"] is not None


@pytest.mark.usefixtures("moment")
def test_only_who_sees_the_same_tables_gets_it(client: Client) -> None:
    add_table(client, PEOPLE, "9a")
    whole, part = (
        let_in(client, "whole", Role.VIEWER),
        let_in(client, "part", Role.ADMIN, "lake.hr."),
    )
    other = let_in(client, "other", Role.ADMIN)
    assert len(names(client.get(TABLES, whole))) == 2
    assert names(client.get(TABLES, part)) == [str(PEOPLE)]
    add_table(client, replace(PEOPLE, name="pay"), "9b")
    assert len(names(client.get(TABLES, other))) == 2, "repeated"
    assert names(client.get(TABLES, part)) == [str(PEOPLE)], "repeated"
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}):
        expect_problem(client.get(TABLES, headers), 401)
    client.daemon.tokens.pop("whole")
    expect_problem(client.get(TABLES, whole), 401)


def test_a_repeated_answer_counts_as_a_request(client: Client, moment: list[float]) -> None:
    client.daemon.limits = Limits(2, lambda: moment[0])
    client.daemon.failures = Limits(1, lambda: moment[0])
    reader = let_in(client, "reader", Role.VIEWER)
    assert [client.get(TABLES, reader).status_code for _ in range(3)] == [200, 200, 429]
    moment[0] += 60
    expect_problem(client.get(TABLES, {"Authorization": "Bearer wrong"}), 401)
    client.get(TABLES)
    assert "failed to sign in" in expect_problem(client.get(TABLES, reader), 429)


@pytest.mark.usefixtures("moment")
def test_only_whole_answers_of_a_bounded_size_and_number_are_kept(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.daemon.store.broken = "disk I/O error"
    assert client.get(TABLES).status_code == 503
    client.daemon.store.broken = ""
    assert names(client.get(TABLES)) == [str(ORDERS)], "a refusal is not repeated"
    monkeypatch.setattr(recent, "MAX_ANSWERS", 1)
    client.get(TABLES, limit=7)
    add_table(client, PEOPLE, "9a")
    assert len(names(client.get(TABLES, limit=7))) == 1, "the newest is kept"
    assert len(names(client.get(TABLES))) == 2, "the oldest is not"
    monkeypatch.setattr(recent, "MAX_BYTES", 10)
    client.get(TABLES, limit=8)
    add_table(client, replace(PEOPLE, name="pay"), "9b")
    assert len(names(client.get(TABLES, limit=8))) == 3
