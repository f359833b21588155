"""The report on small files through the API."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from maintainer.api import reports
from maintainer.app.api import MAX_AGE
from maintainer.domain.health import Band, Compaction, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, FaultKind, TableFault
from maintainer.domain.units import MIB
from tests.api.nouns import NOW, ORDERS, measure
from tests.api.serving import Client, expect_problem, path_of

PATH = "/api/v1/reports/small-files"


@pytest.fixture
def filled(client: Client) -> Client:
    """Two namespaces: 97 files of 1 MiB, and one large file."""
    _record(client, "raw", "events", 97, 97 * MIB, index=4)
    _record(client, "cold", "=archive", 1, 600 * MIB, index=9)
    return client


def _record(
    client: Client, namespace: str, name: str, files: int, size: int, *, index: int
) -> None:
    table = replace(ORDERS, namespace=(namespace,), name=name)
    histogram = tuple(
        files if each == index else 0 for each in range(len(HISTOGRAM_BOUNDS_BYTES) + 1)
    )
    health = replace(
        measure(table),
        data_files=files,
        data_bytes=size,
        average_file_size_bytes=size / files,
        histogram=histogram,
    )
    grade = Grade(Band.CRITICAL, compaction=Compaction(files - 1, applies_deletes=False))
    client.daemon.store.record_health(health, grade)


def read(client: Client, **query: object) -> dict[str, Any]:
    answer = client.get(PATH, **query)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_the_report_has_shares_requests_and_round_trips_by_namespace(filled: Client) -> None:
    found = read(filled, scans_per_day=10)
    raw = next(line for line in found["namespaces"] if line["name"] == "lake.raw")
    assert [(one["below_bytes"], one["files"]) for one in raw["small"]] == [
        (65536, 0),
        (1048576, 0),
        (10485760, 97),
    ]
    assert raw["requests_per_day"] == 10 * raw["requests"]
    assert raw["requests_saved_per_day"] == 10 * raw["requests_saved"] > 0
    assert [one["parallel"] for one in raw["round_trips"]] == [1, 64]
    assert found["first"][0]["name"] in {"lake.raw.events", "lake.sales.orders"}
    assert found["sentences"][0].startswith("Requests a day (scans of each table a day: 10): ")


def test_the_tables_are_read_once_a_minute(filled: Client) -> None:
    before = read(filled)["total"]["files"]
    _record(filled, "raw", "more", 5, 5 * MIB, index=4)
    assert read(filled)["total"]["files"] == before
    filled.daemon.clock.advance(MAX_AGE)
    assert read(filled)["total"]["files"] == before + 5


def test_another_storage_has_another_slowdown(filled: Client) -> None:
    of_store, of_hdfs = (read(filled, storage=name) for name in ("object_store", "hdfs"))
    assert (of_store["storages"], of_hdfs["storages"]) == (["object_store"], ["hdfs"])
    assert of_store["total"]["slowdown_high"] > of_hdfs["total"]["slowdown_high"] > 1


def test_impossible_choices_are_refused(filled: Client) -> None:
    for query in ({"storage": "tape"}, {"scans_per_day": 0}, {"scans_per_day": 1_000_001}):
        expect_problem(filled.get(PATH, **query), 422)


def test_a_fleet_without_measured_tables_has_no_total() -> None:
    client = Client()
    found = read(client)
    assert (found["total"], found["namespaces"], found["sentences"]) == (None, [], [])
    assert client.get(f"{PATH}.csv").text.splitlines() == [",".join(reports.COLUMNS)]


def test_the_csv_has_a_line_for_the_fleet_each_namespace_and_each_first_table(
    filled: Client,
) -> None:
    answer = filled.get(f"{PATH}.csv", storage="hdfs")
    assert answer.headers["content-disposition"] == 'attachment; filename="small-files.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["of"] for row in rows[:4]] == ["fleet", "namespace", "namespace", "namespace"]
    raw = next(row for row in rows if row["name"] == "lake.raw")
    assert (raw["files"], raw["share_below_10485760_bytes"], raw["cost_per_day"]) == (
        "97",
        "1.0",
        "",
    )


def test_a_table_has_the_way_back_to_health(client: Client) -> None:
    found = client.get(f"{path_of(ORDERS)}/rescue").json()
    assert (found["table"], found["band"]) == (str(ORDERS), "critical")
    assert [step["rule"] for step in found["steps"]] == []
    assert found["sentence"].startswith("no rule of the policy improves it further.")


def test_a_table_that_was_never_measured_has_no_way_back_yet(client: Client) -> None:
    unknown = TableIdentifier("lake", ("sales",), "new")
    client.daemon.store.record_fault(TableFault(unknown, FaultKind.ACCESS_DENIED, "no", NOW))
    expect_problem(client.get(f"{path_of(unknown)}/rescue"), 404)
