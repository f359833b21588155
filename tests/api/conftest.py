from __future__ import annotations

import pytest

from tests.api.nouns import GRADE, HEALTH, PLAN, finish_job, make_job, run_job
from tests.api.serving import Client


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    """An API on a store with one measured and planned table, a finished and a running job."""
    client = Client()
    client.daemon.stand_in(monkeypatch)
    store = client.daemon.store
    store.record_health(HEALTH, GRADE)
    store.record_plan(PLAN)
    for job in (finish_job(run_job(make_job("job-1"))), run_job(make_job("job-2"))):
        assert store.add_job(job)
    return client
