"""Long lists and rows of jobs are kept in portions, until the job is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.job import JobState
from maintainer.ports.store import Store
from maintainer.ports.store.portions import (
    MAX_PORTION_BYTES,
    MAX_PORTIONS,
    Portion,
    PortionKind,
    PortionSet,
)
from tests.adapters.store.values import make_job

ROWS = PortionSet("m-1", PortionKind.ROWS)
MINE = PortionSet("m-1", PortionKind.LIST, "process-1")
THEIRS = replace(MINE, preparer="process-2")
OWN = replace(MINE, preparer="")
FIRST, LAST = Portion(3, b"\x00\xff one"), Portion(0, b"", is_last=True)


def test_portions_are_read_back_one_by_one(store: Store) -> None:
    assert store.add_portion(ROWS, 0, FIRST)
    assert store.add_portion(ROWS, 1, LAST)
    assert (store.portion(ROWS, 0), store.portion(ROWS, 1)) == (FIRST, LAST)
    assert store.portion(ROWS, 2) is None
    assert store.portion(replace(ROWS, job_id="m-2"), 0) is None
    assert store.portion(replace(ROWS, kind=PortionKind.LIST), 0) is None


def test_a_portion_is_stored_once_and_never_changes(store: Store) -> None:
    assert store.add_portion(ROWS, 0, FIRST)
    assert not store.add_portion(ROWS, 0, LAST)
    assert store.portion(ROWS, 0) == FIRST


def test_a_set_is_complete_with_every_portion_up_to_its_last(store: Store) -> None:
    assert store.count_lines(ROWS) is None
    store.add_portion(ROWS, 2, LAST)
    store.add_portion(ROWS, 0, FIRST)
    assert store.count_lines(ROWS) is None, "the second one has not come"
    store.add_portion(ROWS, 1, FIRST)
    assert store.count_lines(ROWS) == (3, 3, 0)
    store.add_portion(OWN, 0, FIRST)
    assert store.count_lines(OWN) is None, "nobody knows whether more will come"


def test_bounds_are_refused_with_the_value(store: Store) -> None:
    with pytest.raises(InvalidValueError, match=r"portion 0 of the rows of job m-1 has 1,048,577"):
        store.add_portion(ROWS, 0, Portion(1, b"x" * (MAX_PORTION_BYTES + 1)))
    for number in (-1, MAX_PORTIONS):
        with pytest.raises(InvalidValueError, match="a set has at most 100,000 portions"):
            store.add_portion(ROWS, number, FIRST)
    assert store.add_portion(ROWS, MAX_PORTIONS - 1, Portion(1, b"x" * MAX_PORTION_BYTES))


def test_who_submits_the_job_claims_what_it_has_prepared(store: Store) -> None:
    for portions, portion in ((MINE, FIRST), (THEIRS, LAST), (OWN, LAST), (ROWS, LAST)):
        store.add_portion(portions, 0, portion)
    store.claim_portions("m-1", "process-1")
    assert store.portion(OWN, 0) == FIRST
    assert (store.portion(MINE, 0), store.portion(THEIRS, 0)) == (None, None)
    assert store.portion(ROWS, 0) == LAST, "a set of another kind stays"
    store.claim_portions("m-1", "process-1")
    assert store.portion(OWN, 0) == FIRST, "the second time there is nothing to claim"


def test_a_process_can_forget_what_it_has_prepared_and_nothing_else(store: Store) -> None:
    for portions in (MINE, THEIRS, OWN, replace(MINE, job_id="m-2")):
        store.add_portion(portions, 0, FIRST)
    store.forget_portions("m-1", "process-1")
    assert store.portion(MINE, 0) is None
    assert (store.portion(THEIRS, 0), store.portion(OWN, 0)) == (FIRST, FIRST)
    store.forget_portions("m-1")
    assert (store.portion(THEIRS, 0), store.portion(OWN, 0)) == (None, None)
    assert store.portion(replace(MINE, job_id="m-2"), 0) == FIRST


def test_portions_of_jobs_that_are_over_or_unknown_are_pruned(store: Store) -> None:
    over = make_job("m-2", table_uuid="another").advance(JobState.CANCELLED)
    assert store.add_job(make_job("m-1"))
    assert store.add_job(make_job("m-2", table_uuid="another"))
    for job_id in ("m-1", "m-2", "m-3"):
        store.add_portion(replace(MINE, job_id=job_id), 0, FIRST)
    assert store.prune_portions() == 1
    assert store.update_job(over, JobState.PENDING)
    assert store.prune_portions() == 1
    assert store.portion(MINE, 0) == FIRST


def test_portions_survive_a_restart(store_url: str) -> None:
    first = open_store(store_url)
    first.add_portion(ROWS, 0, LAST)
    first.close()
    second = open_store(store_url)
    assert second.portion(ROWS, 0) == LAST
    assert second.count_lines(ROWS) == (0,)
    second.close()
