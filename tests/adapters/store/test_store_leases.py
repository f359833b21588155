"""Leases: one per table, tokens that only grow, and jobs that nobody else moves."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.job import Job, JobState
from maintainer.domain.replica import Lease
from maintainer.ports.store import Store
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS_UUID,
    make_grade,
    make_health,
    make_job,
    succeeded,
)


def submit(
    store: Store, job_id: str = "job-a", owner: str = "one", table_uuid: str = ORDERS_UUID
) -> tuple[Job, Lease]:
    job = make_job(job_id, table_uuid=table_uuid)
    store.add_job(job)
    submitted = replace(job, state=JobState.SUBMITTED, owner=owner, submitted_at=NOW)
    lease = store.submit_job(submitted, NOW + MINUTE)
    assert lease is not None
    return submitted, lease


def test_submission_gives_the_owner_the_tables_lease(store: Store) -> None:
    submitted, lease = submit(store)
    assert lease == Lease(ORDERS_UUID, "job-a", "one", 1, NOW + MINUTE)
    assert store.job("job-a") == submitted
    assert list(store.leases()) == [lease]


def test_of_two_that_submit_a_job_one_is_first(store: Store) -> None:
    submitted, lease = submit(store)
    assert store.submit_job(replace(submitted, owner="two"), NOW + MINUTE) is None
    assert store.job("job-a") == submitted
    assert list(store.leases()) == [lease]


def test_a_job_moves_only_with_the_present_token(store: Store) -> None:
    submitted, lease = submit(store)
    running = replace(submitted, state=JobState.RUNNING)
    assert not store.update_job(running, JobState.SUBMITTED)
    assert not store.update_job(running, submitted, lease.token + 1)
    taken = store.take_lease(submitted, lease, "two", NOW + 2 * MINUTE)
    assert taken == Lease(ORDERS_UUID, "job-a", "two", 2, NOW + 2 * MINUTE)
    assert not store.update_job(running, submitted, lease.token), "the earlier holder has lost it"
    assert store.update_job(running, submitted, taken.token)
    assert store.update_job(replace(running, cancel_requested_by="ada"), running), (
        "what does not move it needs no token"
    )


def test_a_lease_ends_with_its_job_and_the_next_has_a_greater_token(store: Store) -> None:
    submitted, lease = submit(store)
    assert store.update_job(succeeded(submitted, NOW), submitted, lease.token)
    assert list(store.leases()) == []
    assert store.renew_lease(lease, NOW + 9 * MINUTE) is None
    assert store.take_lease(submitted, None, "two", NOW + MINUTE) is None, "the job is over"
    _, following = submit(store, "job-b", "two")
    assert following == Lease(ORDERS_UUID, "job-b", "two", 2, NOW + MINUTE)
    assert store.renew_lease(lease, NOW + 9 * MINUTE) is None
    assert list(store.leases()) == [following]


def test_only_the_holder_renews(store: Store) -> None:
    submitted, lease = submit(store)
    renewed = store.renew_lease(lease, NOW + 3 * MINUTE)
    assert renewed == replace(lease, expires_at=NOW + 3 * MINUTE)
    assert store.take_lease(submitted, lease, "two", NOW + 5 * MINUTE) is None, (
        "it was renewed since"
    )
    assert store.renew_lease(replace(lease, holder="two"), NOW + 9 * MINUTE) is None
    taken = store.take_lease(submitted, renewed, "two", NOW + 5 * MINUTE)
    assert store.renew_lease(lease, NOW + 9 * MINUTE) is None
    assert list(store.leases()) == [taken]


def test_a_lease_that_was_lost_and_won_back_is_renewed_by_its_new_token_alone(store: Store) -> None:
    submitted, lease = submit(store)
    lost = store.take_lease(submitted, lease, "two", NOW + 2 * MINUTE)
    regained = store.take_lease(submitted, lost, lease.holder, NOW + 3 * MINUTE)
    assert regained == replace(lease, token=lease.token + 2, expires_at=NOW + 3 * MINUTE)
    assert store.renew_lease(lease, NOW + 9 * MINUTE) is None, (
        "the same holder, with the token of before"
    )
    assert regained is not None
    assert list(store.leases()) == [regained]
    assert store.renew_lease(regained, NOW + 9 * MINUTE) == replace(
        regained, expires_at=NOW + 9 * MINUTE
    )


def test_a_job_that_was_handed_over_without_a_lease_can_be_taken(store: Store) -> None:
    job = make_job()
    store.add_job(job)
    submitted = replace(job, state=JobState.SUBMITTED)
    store.update_job(submitted, JobState.PENDING)
    taken = store.take_lease(submitted, None, "two", NOW + MINUTE)
    assert taken == Lease(ORDERS_UUID, "job-a", "two", 1, NOW + MINUTE)
    assert store.take_lease(submitted, None, "three", NOW + MINUTE) is None
    assert (
        store.take_lease(replace(submitted, job_id="nobody"), taken, "three", NOW + MINUTE) is None
    )


def test_leases_that_are_laid_down_are_out_at_once_and_still_known(store: Store) -> None:
    _, lease = submit(store)
    _, others = submit(store, "job-b", "two", "uuid-b")
    assert store.lay_down_leases("one", NOW - MINUTE) == 1
    assert list(store.leases()) == sorted(
        [replace(lease, expires_at=NOW - MINUTE), others], key=lambda entry: entry.table_uuid
    )
    assert store.lay_down_leases("one", NOW) == 0, "what is out earlier stays out"


def test_the_token_of_a_table_that_is_known_outlives_its_jobs(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    submitted, lease = submit(store)
    store.update_job(succeeded(submitted, NOW), submitted, lease.token)
    of_a_stranger, other = submit(store, "job-x", table_uuid="stranger")
    store.update_job(succeeded(of_a_stranger, NOW), of_a_stranger, other.token)
    store.prune(NOW, NOW + timedelta(days=1))
    assert submit(store, "job-b")[1].token == 2
    assert submit(store, "job-y", table_uuid="stranger")[1].token >= 1


@pytest.fixture
def stores(store_url: str) -> Iterator[list[Store]]:
    """Four processes on one database, as far as connections go."""
    opened = [open_store(store_url) for _ in range(4)]
    yield list(opened)
    for one in opened:
        one.close()


def test_of_many_that_take_a_lease_at_once_one_gets_it(stores: list[Store]) -> None:
    submitted, lease = submit(stores[0])
    together = Barrier(len(stores))

    def take(number: int) -> Lease | None:
        together.wait(timeout=60)
        return stores[number].take_lease(submitted, lease, f"process-{number}", NOW + 2 * MINUTE)

    with ThreadPoolExecutor(len(stores)) as pool:
        taken = [found for found in pool.map(take, range(len(stores))) if found is not None]
    assert [found.token for found in taken] == [2]
    assert list(stores[0].leases()) == taken


def test_of_many_that_submit_a_job_at_once_one_does(stores: list[Store]) -> None:
    job = make_job()
    stores[0].add_job(job)
    together = Barrier(len(stores))

    def hand_over(number: int) -> Lease | None:
        together.wait(timeout=60)
        return stores[number].submit_job(
            replace(job, state=JobState.SUBMITTED, owner=f"process-{number}", submitted_at=NOW),
            NOW + MINUTE,
        )

    with ThreadPoolExecutor(len(stores)) as pool:
        given = [found for found in pool.map(hand_over, range(len(stores))) if found is not None]
    assert len(given) == 1
    stored = stores[0].job("job-a")
    assert stored is not None
    assert stored.owner == given[0].holder
