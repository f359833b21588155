from __future__ import annotations

from datetime import timedelta

from tests.api.nouns import NOW
from tests.api.serving import Client, expect_problem

URL = "/api/v1/overview/days"


def test_each_day_has_what_its_jobs_cost_and_saved(client: Client) -> None:
    finished = client.daemon.store.job("job-1")
    assert finished is not None
    assert finished.effect is not None
    body = client.get(URL).json()
    assert (body["catalog"], body["namespace"]) == (None, None)
    (today,) = body["days"]
    assert today["day"] == f"{finished.created_at:%Y-%m-%d}"
    assert today["files_removed"] == finished.effect.files_removed > 0
    assert today["requests_saved"] == finished.effect.requests_saved
    running = client.daemon.store.job("job-2")
    assert running is not None
    assert today["bytes_rewritten"] == finished.charge.bytes + running.charge.bytes
    assert today["gb_hours"] == finished.charge.gb_hours + running.charge.gb_hours

    assert client.get(f"{URL}?catalog=lake&namespace=sales").json()["days"] == [today]
    assert client.get(f"{URL}?catalog=nowhere").json()["days"] == []


def test_a_day_outside_the_range_is_left_out(client: Client) -> None:
    later = (NOW + timedelta(days=40)).isoformat().replace("+00:00", "Z")
    after = (NOW + timedelta(days=50)).isoformat().replace("+00:00", "Z")
    assert client.get(f"{URL}?from={later}&to={after}").json()["days"] == []


def test_a_namespace_needs_its_catalog(client: Client) -> None:
    problem = expect_problem(client.get(f"{URL}?namespace=sales"), 422)
    assert "namespace 'sales' needs the parameter catalog" in problem
