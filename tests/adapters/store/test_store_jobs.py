from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given

from maintainer.adapters.store import open_store
from maintainer.adapters.store.paging import Position, write_cursor
from maintainer.compare.rule_history import learn_from_job
from maintainer.domain.action import ExpireSnapshots, Repair, RewriteDataFiles
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobEvent, JobState
from maintainer.domain.plan import FailureStreak, RuleHistory, name_state
from maintainer.domain.policy import RuleName
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery
from tests.adapters.store.test_store import on_one_store
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    ORDERS_UUID,
    any_job,
    failed,
    make_effect,
    make_grade,
    make_health,
    make_job,
    succeeded,
)


def finish(store: Store, *jobs: Job) -> None:
    """Each in its turn from pending to its final state."""
    for job in jobs:
        assert store.add_job(replace(job, state=JobState.PENDING))
        assert store.update_job(job, JobState.PENDING, learnt=learn(store, job))


def learn(store: Store, job: Job) -> RuleHistory | None:
    known = store.rule_history(job.table_uuid)
    return learn_from_job(known.get(RuleName(job.rule)), job)


def pages(store: Store, query: JobQuery) -> list[str]:
    found: list[str] = []
    while True:
        page = store.jobs(query)
        found += [job.job_id for job in page.items]
        if page.next_cursor is None:
            assert len(found) == page.total
            return found
        query = replace(query, cursor=page.next_cursor)


@on_one_store
@given(job=any_job())
def test_any_job_comes_out_as_it_went_in(store: Store, job: Job) -> None:
    assert store.add_job(job)

    assert store.job(job.job_id) == job


def test_an_action_comes_back_as_what_it_was(store: Store) -> None:
    action = ExpireSnapshots(NOW, 5)
    store.add_job(make_job(rule=RuleName.EXPIRE_SNAPSHOTS, action=action))

    found = store.job("job-a")
    assert found is not None
    assert type(found.action) is ExpireSnapshots
    assert found.action == action


def test_a_table_has_at_most_one_unfinished_job(store: Store) -> None:
    assert store.add_job(make_job("job-a"))
    assert not store.add_job(make_job("job-b"))
    assert store.job("job-b") is None
    assert store.add_job(make_job("job-c", table_uuid="other"))

    assert store.update_job(succeeded(make_job("job-a"), NOW), JobState.PENDING)
    assert store.add_job(make_job("job-b"))


@pytest.mark.parametrize("state", [state for state in JobState if not state.is_final])
def test_every_unfinished_state_keeps_a_second_job_out(store: Store, state: JobState) -> None:
    store.add_job(make_job("job-a"))
    store.update_job(make_job("job-a", state=state), JobState.PENDING)

    assert not store.add_job(make_job("job-b"))


def test_an_id_is_given_once(store: Store) -> None:
    assert store.add_job(make_job("job-a"))
    assert not store.add_job(make_job("job-a", table_uuid="other"))
    assert store.job("job-a") == make_job("job-a")


def test_a_job_moves_only_from_the_state_it_is_expected_in(store: Store) -> None:
    submitted = make_job(state=JobState.SUBMITTED, owner="one")
    assert not store.update_job(submitted, JobState.PENDING)
    store.add_job(make_job())
    assert store.update_job(submitted, JobState.PENDING)
    assert not store.update_job(make_job(state=JobState.CANCELLED, owner="two"), JobState.PENDING)

    assert store.job("job-a") == submitted
    assert store.update_job(replace(submitted, owner="three"), JobState.SUBMITTED)


@on_one_store
@given(job=any_job())
def test_a_job_moves_only_from_the_expected_state(store: Store, job: Job) -> None:
    store.add_job(job)
    changed = replace(job, cancel_requested_by=f"{job.cancel_requested_by} and ada")

    assert store.update_job(changed, job)
    assert not store.update_job(replace(job, owner="another"), job), (
        "it has changed since, in the same state"
    )
    assert store.job(job.job_id) == changed
    assert not store.update_job(replace(job, job_id="nobody"), job)


def test_jobs_are_listed_newest_first_page_by_page(store: Store) -> None:
    for number in range(7):
        finish(store, succeeded(make_job(f"job-{number}", at=NOW + (number // 2) * MINUTE), NOW))

    expected = [f"job-{number}" for number in range(6, -1, -1)]
    assert pages(store, JobQuery()) == expected
    for limit in (1, 2, 3):
        assert pages(store, JobQuery(limit=limit)) == expected


def test_jobs_are_filtered_by_state_and_table(store: Store) -> None:
    elsewhere = TableIdentifier("lake", ("sales",), "other")
    finish(store, succeeded(make_job("a"), NOW), failed(make_job("b"), NOW))
    store.add_job(make_job("c"))
    store.add_job(make_job("d", table_uuid="other", table=elsewhere))

    assert set(pages(store, JobQuery(states=(JobState.FAILED, JobState.PENDING), limit=1))) == {
        "b",
        "c",
        "d",
    }
    assert pages(store, JobQuery(table=elsewhere)) == ["d"]
    assert pages(store, JobQuery(table=elsewhere, states=(JobState.FAILED,))) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (JobQuery(rule=RuleName.EXPIRE_SNAPSHOTS), ["b"]),
        (JobQuery(rule=Repair.ROLL_BACK), []),
        (JobQuery(requested_by="person ada"), ["c"]),
        (JobQuery(requested_by="person ada", states=(JobState.FAILED,)), []),
        (JobQuery(since=NOW + MINUTE), ["c", "b"]),
        (JobQuery(until=NOW + MINUTE), ["a"]),
        (JobQuery(since=NOW + MINUTE, until=NOW + 2 * MINUTE, limit=1), ["b"]),
    ],
)
def test_jobs_are_filtered_by_rule_person_and_time(
    store: Store, query: JobQuery, found: list[str]
) -> None:
    expiry = make_job(
        "b", at=NOW + MINUTE, rule=RuleName.EXPIRE_SNAPSHOTS, action=ExpireSnapshots(NOW, 5)
    )
    asked = replace(make_job("c", at=NOW + 2 * MINUTE), requested_by="person ada")
    finish(store, *(succeeded(job, NOW) for job in (make_job("a"), expiry, asked)))

    assert pages(store, query) == found


@pytest.mark.parametrize(
    "query",
    [
        JobQuery(limit=0),
        JobQuery(limit=1001),
        JobQuery(cursor="nonsense"),
        JobQuery(cursor="WzEsMiwzXQ"),
    ],
)
def test_a_foreign_job_cursor_or_limit_is_refused(store: Store, query: JobQuery) -> None:
    with pytest.raises(InvalidValueError):
        store.jobs(query)


def test_unfinished_jobs_come_oldest_first(store: Store) -> None:
    finish(store, succeeded(make_job("done"), NOW))
    for name, minutes in (("a", 3), ("b", 1), ("c", 2)):
        store.add_job(make_job(name, table_uuid=name, at=NOW + minutes * MINUTE))

    assert [job.job_id for job in store.unfinished_jobs()] == ["b", "c", "a"]


def test_events_are_numbered_per_job_in_the_order_of_arrival(store: Store) -> None:
    store.add_job(make_job("a"))
    store.add_job(make_job("b", table_uuid="other"))
    first = JobEvent(
        "a",
        NOW,
        "job.submitted",
        {"pid": 7, "text": "ü\0", "none": None, "list": [1, 2.5], "nested": {"x": True}},
    )
    store.append_events(
        [first, JobEvent("b", NOW, "job.submitted"), JobEvent("a", NOW - MINUTE, "spark.started")]
    )
    store.append_events([JobEvent("a", NOW, "job.proved"), JobEvent("nobody", NOW, "job.lost")])

    assert [(event.name, event.sequence) for event in store.events("a")] == [
        ("job.submitted", 1),
        ("spark.started", 2),
        ("job.proved", 3),
    ]
    assert store.events("a")[0] == replace(first, sequence=1)
    assert [event.sequence for event in store.events("a", after=2)] == [3]
    assert [event.sequence for event in store.events("b")] == [1]
    assert store.events("nobody") == ()


def test_an_events_field_that_json_does_not_know_becomes_text(store: Store) -> None:
    store.add_job(make_job("a"))
    store.append_events([JobEvent("a", NOW, "x.y", {"table": ORDERS_UUID, "span": complex(1, 2)})])

    assert store.events("a")[0].fields == {"table": ORDERS_UUID, "span": "(1+2j)"}


def test_hundreds_of_events_arrive_at_once(store: Store) -> None:
    store.add_job(make_job("a"))
    store.append_events(
        JobEvent("a", NOW, "spark.progress", {"n": number}) for number in range(1200)
    )

    assert [event.fields["n"] for event in store.events("a")] == list(range(1200))


def test_a_rule_that_never_ran_has_no_history(store: Store) -> None:
    store.add_job(make_job())

    assert store.rule_history(ORDERS_UUID) == {}


def test_failures_are_counted_since_the_last_success(store: Store) -> None:
    finish(
        store,
        failed(make_job("a"), NOW),
        succeeded(make_job("b"), NOW + MINUTE),
        failed(make_job("c"), NOW + 2 * MINUTE, FailureReason.CONFLICT),
        failed(make_job("d"), NOW + 3 * MINUTE, FailureReason.TIMEOUT),
    )

    assert store.rule_history(ORDERS_UUID) == {
        RuleName.REWRITE_DATA_FILES: RuleHistory(
            RuleName.REWRITE_DATA_FILES,
            last_finished_at=NOW + 3 * MINUTE,
            last_success_at=NOW + MINUTE,
            consecutive_failures=2,
            last_failure_at=NOW + 3 * MINUTE,
            last_failure_reason="timeout",
            recent_conflicts=1,
            streak=FailureStreak("timeout", 2, NOW + 3 * MINUTE, "d", "state-d", "v1"),
            recent_overloads=1,
        )
    }
    finish(store, succeeded(make_job("e"), NOW + 4 * MINUTE))
    forgiven = store.rule_history(ORDERS_UUID)[RuleName.REWRITE_DATA_FILES]
    assert (forgiven.consecutive_failures, forgiven.streak, forgiven.recent_overloads) == (
        0,
        None,
        0,
    )


def test_a_cancelled_or_lost_job_counts_neither_way(store: Store) -> None:
    finish(
        store,
        failed(make_job("a"), NOW),
        replace(make_job("b"), state=JobState.CANCELLED, finished_at=NOW + MINUTE),
        failed(make_job("c"), NOW + 2 * MINUTE, FailureReason.LOST_RUNNER),
    )
    only_cancelled = replace(
        make_job("d", table_uuid="other"), state=JobState.CANCELLED, finished_at=NOW
    )
    finish(store, only_cancelled)

    history = store.rule_history(ORDERS_UUID)[RuleName.REWRITE_DATA_FILES]
    assert (history.consecutive_failures, history.last_failure_at, history.last_failure_reason) == (
        1,
        NOW,
        "conflict",
    )
    assert (history.last_finished_at, history.last_success_at) == (NOW + 2 * MINUTE, None)
    passing = FailureStreak("lost_runner", 1, NOW + 2 * MINUTE, "c", "state-c", "v1")
    assert history.streak == FailureStreak("conflict", 1, NOW, "a", "state-a", "v1", passing), (
        "but it is waited for"
    )
    assert store.rule_history("other")[RuleName.REWRITE_DATA_FILES] == RuleHistory(
        RuleName.REWRITE_DATA_FILES, last_finished_at=NOW
    )


def test_an_idle_success_remembers_the_state_and_the_policy_that_it_ran_on(store: Store) -> None:
    idle = make_effect(own_commits=0, files_removed=0)

    def idle_at() -> str | None:
        return store.rule_history(ORDERS_UUID)[RuleName.REWRITE_DATA_FILES].idle_at_state

    finish(store, succeeded(make_job("a"), NOW, idle))
    assert idle_at() == name_state("state-a", "v1", RewriteDataFiles())
    finish(store, failed(make_job("b"), NOW))
    assert idle_at() == name_state("state-a", "v1", RewriteDataFiles())
    finish(store, succeeded(make_job("c"), NOW))
    assert idle_at() is None
    finish(store, succeeded(make_job("d", baseline=None), NOW, idle))
    assert idle_at() is None


def test_rules_have_histories_of_their_own(store: Store) -> None:
    finish(
        store,
        succeeded(make_job("a"), NOW),
        failed(make_job("b", rule=RuleName.REWRITE_MANIFESTS), NOW),
    )

    history = store.rule_history(ORDERS_UUID)
    assert {rule: entry.consecutive_failures for rule, entry in history.items()} == {
        RuleName.REWRITE_DATA_FILES: 0,
        RuleName.REWRITE_MANIFESTS: 1,
    }


def test_a_finished_job_is_counted_once(store: Store) -> None:
    done = failed(make_job("a", effect=make_effect(files_removed=4)), NOW)
    finish(store, done)
    reworded = replace(done, failure_message="more words")
    assert store.update_job(reworded, JobState.FAILED, learnt=learn(store, reworded))

    assert store.rule_history(ORDERS_UUID)[RuleName.REWRITE_DATA_FILES].consecutive_failures == 1
    assert store.overview().files_removed == 4


def test_what_a_job_teaches_is_stored_with_its_end_or_not_at_all(store: Store) -> None:
    done = failed(make_job("a"), NOW)
    store.add_job(replace(done, state=JobState.PENDING))
    assert not store.update_job(done, JobState.RUNNING, learnt=learn(store, done))
    running = replace(done, state=JobState.RUNNING)
    assert store.update_job(running, JobState.PENDING, learnt=learn(store, done))
    assert store.rule_history(ORDERS_UUID) == {}

    assert store.update_job(done, JobState.RUNNING, learnt=learn(store, done))
    assert store.rule_history(ORDERS_UUID)[RuleName.REWRITE_DATA_FILES].consecutive_failures == 1


def test_prune_keeps_unfinished_jobs_and_the_latest_of_each_table_but_not_what_they_taught(
    store: Store,
) -> None:
    store.record_health(make_health(), make_grade())
    gone = TableIdentifier("lake", ("sales",), "gone")
    finish(
        store,
        *(
            succeeded(make_job(name, at=NOW + n * MINUTE), NOW + n * MINUTE)
            for n, name in enumerate("abc")
        ),
    )
    finish(store, succeeded(make_job("of-gone", table_uuid="gone", table=gone), NOW))
    store.add_job(make_job("waiting", at=NOW - MINUTE))
    store.append_events(
        [JobEvent("a", NOW, "x.y"), JobEvent("a", NOW, "x.y"), JobEvent("c", NOW, "x.y")]
    )
    before = store.overview().files_removed, store.rule_history(ORDERS_UUID)

    assert store.prune(NOW, NOW + timedelta(days=1)) == {
        "samples": 0,
        "fleet_samples": 0,
        "jobs": 3,
        "events": 2,
        "verdicts": 0,
        "thinned": 0,
    }

    assert set(pages(store, JobQuery())) == {"c", "waiting"}
    assert (store.events("a"), len(store.events("c"))) == ((), 1)
    assert (store.overview().files_removed, store.rule_history(ORDERS_UUID)) == before
    assert store.prune(NOW, NOW + timedelta(days=1)) == {
        "samples": 0,
        "fleet_samples": 0,
        "jobs": 0,
        "events": 0,
        "verdicts": 0,
        "thinned": 0,
    }


def test_prune_keeps_jobs_that_finished_later(store: Store) -> None:
    finish(
        store,
        *(
            succeeded(make_job(name, at=NOW + n * MINUTE), NOW + n * MINUTE)
            for n, name in enumerate("abc")
        ),
    )

    assert store.prune(NOW, NOW + MINUTE)["jobs"] == 1
    assert pages(store, JobQuery()) == ["c", "b"]


def test_the_table_of_a_job_is_found_by_its_name(store: Store) -> None:
    store.add_job(make_job())

    assert pages(store, JobQuery(table=ORDERS)) == ["job-a"]


def test_a_cursor_of_a_time_that_no_calendar_has_is_a_place_in_the_list(store_url: str) -> None:
    with closing(open_store(store_url)) as opened:
        opened.add_job(make_job())
        for number, found in ((2**63 - 1, ("job-a",)), (-(2**63), ())):
            cursor = write_cursor("jobs:created_at:desc", Position(number, ""))
            assert tuple(job.job_id for job in opened.jobs(JobQuery(cursor=cursor)).items) == found
