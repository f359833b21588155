from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.api.overview import MAX_SAMPLES
from tests.api.nouns import GRADE, HEALTH, NOW
from tests.api.serving import Client, expect_problem

URL = "/api/v1/overview/history"
MINUTE = timedelta(minutes=1)


def record(client: Client, minutes: int) -> None:
    store, at = client.daemon.store, NOW - timedelta(days=2) + minutes * MINUTE
    store.record_health(replace(HEALTH, measured_at=at, data_files=10 + minutes), GRADE)
    store.record_fleet(at)


def test_the_history_of_the_fleet_has_its_sums_at_each_time(client: Client) -> None:
    record(client, 0)
    record(client, 5)
    body = client.get(URL).json()
    assert (body["catalog"], body["namespace"]) == (None, None)
    first, last = body["samples"]
    assert (first["data_files"], last["data_files"]) == (10, 15)
    assert (last["tables"], last["bands"]["degraded"]) == (1, 1)
    assert last["average_file_size_bytes"] == last["data_bytes"] / 15
    assert last["at"] > first["at"]

    of_namespace = client.get(f"{URL}?catalog=lake&namespace=sales").json()
    assert [one["data_files"] for one in of_namespace["samples"]] == [15]
    assert client.get(f"{URL}?catalog=nowhere").json()["samples"] == []


def test_a_long_history_is_thinned_and_keeps_its_last_sample(client: Client) -> None:
    for minutes in range(MAX_SAMPLES + 10):
        record(client, minutes)
    samples = client.get(URL).json()["samples"]
    assert MAX_SAMPLES / 2 <= len(samples) <= MAX_SAMPLES
    assert samples[-1]["data_files"] == 10 + MAX_SAMPLES + 9


def test_a_wrong_range_or_a_namespace_without_its_catalog_is_refused(client: Client) -> None:
    problem = expect_problem(client.get(f"{URL}?namespace=sales"), 422)
    assert "namespace 'sales' needs the parameter catalog" in problem
    backwards = f"{URL}?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z"
    assert "is after to" in expect_problem(client.get(backwards), 422)
