"""The table list as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from maintainer.api import table_export
from maintainer.domain.health import Band, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from tests.api.nouns import NOW, ORDERS, measure
from tests.api.serving import Client, expect_problem

PATH = "/api/v1/tables.csv"


def add_tables(client: Client, *names: str, catalog: str = "lake") -> None:
    for name in names:
        table = replace(ORDERS, catalog=catalog, name=name)
        client.daemon.store.record_health(measure(table), Grade(Band.CRITICAL, (), "=1+1"))


def read_rows(client: Client, **query: object) -> list[dict[str, str]]:
    answer = client.get(PATH, **query)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def test_the_answer_is_a_file_in_utf_8_with_a_head(client: Client) -> None:
    answer = client.get(PATH)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="tables.csv"'
    assert answer.text.splitlines()[0] == ",".join(table_export.COLUMNS)


def test_a_row_has_plain_numbers_and_nothing_for_the_unknown(client: Client) -> None:
    unknown = TableIdentifier("lake", ("sales",), "größe")
    fault = TableFault(unknown, FaultKind.ACCESS_DENIED, 'no right to read "x",\nasked twice', NOW)
    client.daemon.store.record_fault(fault)
    other, row = read_rows(client, sort="-name")[::-1]
    assert (row["table"], row["data_files"], row["average_file_size_bytes"]) == (
        "lake.sales.orders",
        "100",
        "1572864.0",
    )
    assert row["measured_at"] == "2026-03-01T11:57:00Z"
    assert (other["table"], other["data_files"], other["fault"]) == (
        "lake.sales.größe",
        "",
        'no right to read "x",\nasked twice',
    )


def test_a_row_has_the_state_by_which_the_list_is_filtered(client: Client) -> None:
    unknown = TableIdentifier("lake", ("sales",), "zero")
    client.daemon.store.record_fault(TableFault(unknown, FaultKind.ACCESS_DENIED, "no right", NOW))
    assert [row["state"] for row in read_rows(client)] == ["being_maintained", "unreadable"]
    assert [row["name"] for row in read_rows(client, state="unreadable")] == ["zero"]


def test_the_list_is_written_whole_in_several_pages(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_tables(client, "a", "b", "c", "d")
    monkeypatch.setattr(table_export, "MAX_PAGE", 2)
    names = [row["name"] for row in read_rows(client, sort="-name")]
    assert names == ["orders", "d", "c", "b", "a"]


def test_the_filters_are_those_of_the_list(client: Client) -> None:
    add_tables(client, "a", "b")
    add_tables(client, "a", catalog="ice")
    for query in (
        {"search": "LAKE.sales.A"},
        {"catalog": "ice"},
        {"namespace": "sales", "band": "critical"},
    ):
        listed = client.get("/api/v1/tables", **query).json()["items"]
        assert [row["table"] for row in read_rows(client, **query)] == [
            row["table"] for row in listed
        ]
        assert 0 < len(listed) < 4


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_is_never_a_formula(client: Client, start: str) -> None:
    add_tables(client, f"{start}cmd|' /C calc'!A0")
    row = next(row for row in read_rows(client) if "calc" in row["name"])
    assert row["name"] == f"'{start}cmd|' /C calc'!A0"
    assert row["reason"] == "'=1+1"
    assert row["data_files"] == "100"


def test_a_bad_parameter_is_a_problem_that_names_it(client: Client) -> None:
    assert "color" in expect_problem(client.get(PATH, sort="color"), 422)
    assert "band" in expect_problem(client.get(PATH, band="purple"), 422)
