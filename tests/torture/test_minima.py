from __future__ import annotations

from typing import Any

import pytest

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.procedures.registry import call_statement
from tests.torture.chaos import Event
from tests.torture.check import Checked, Fault
from tests.torture.minima import (
    LEAST_COMMITS,
    LEAST_JOBS,
    WORKS,
    Minimum,
    count_successes,
    measure_minima,
    name_work,
)
from tests.torture.report import Report
from tests.torture.schedule import USUAL_TROUBLES, Trouble

ACTIONS = {
    "rewrite_data_files binpack": RewriteDataFiles(),
    "rewrite_data_files sort": RewriteDataFiles("sort", "writer, sequence"),
    "rewrite_data_files zorder": RewriteDataFiles("sort", "zorder(writer, sequence)"),
}
STATEMENTS = {
    work: call_statement(TableIdentifier("lake", ("torture",), "orders"), action)
    for work, action in ACTIONS.items()
}


def job(work: str, state: str = "succeeded") -> dict[str, Any]:
    return {"rule": work.partition(" ")[0], "action": STATEMENTS.get(work, "CALL"), "state": state}


def miss(
    jobs: list[dict[str, Any]] | None = None,
    commits: int = LEAST_COMMITS,
    hits: tuple[Trouble, ...] = USUAL_TROUBLES,
    removed: int = 1,
    minutes: float = 30,
) -> list[str]:
    """What a run had too little of; as it stands, enough of everything."""
    done = [job(work) for work in WORKS] * LEAST_JOBS if jobs is None else jobs
    events = [Event(1.0, trouble, 1.0, has_hit=trouble in hits) for trouble in USUAL_TROUBLES]
    minima = measure_minima(
        minutes, done, commits, events=events, troubles=USUAL_TROUBLES, strays_removed=removed
    )
    return [minimum.name for minimum in minima if not minimum.is_met]


def report_of(minima: list[Minimum], minutes: float = 30) -> Report:
    return Report(1, minutes, [], [], Checked(), [], 0, [], 0, 1, [], 0, 0, 0, minima)


def test_a_long_run_with_enough_of_everything_misses_nothing() -> None:
    assert miss() == []


@pytest.mark.parametrize("work", WORKS)
def test_a_long_run_in_which_a_procedure_never_succeeded_says_so(work: str) -> None:
    others = [job(other) for other in WORKS if other != work] * LEAST_JOBS
    assert miss([*others, job(work, "failed")]) == [f"succeeded {work}"]


@pytest.mark.parametrize("trouble", USUAL_TROUBLES)
def test_a_long_run_in_which_a_trouble_never_hit_says_so(trouble: Trouble) -> None:
    assert miss(hits=tuple(other for other in USUAL_TROUBLES if other is not trouble)) == [
        f"hit by {trouble.value}"
    ]


def test_a_long_run_of_too_few_jobs_or_commits_or_orphans_says_so() -> None:
    jobs = [job(work) for work in WORKS] * LEAST_JOBS
    assert miss(jobs[: LEAST_JOBS - 1]) == ["jobs"]
    assert miss(jobs[:LEAST_JOBS]) == []
    assert miss(commits=LEAST_COMMITS - 1) == ["commits of writers"]
    assert miss(removed=0) == ["orphan files removed"]


def test_a_shorter_run_needs_its_share_of_jobs_and_commits_alone() -> None:
    jobs = [job("rewrite_manifests")] * 10
    assert miss(jobs, commits=30, hits=(), removed=0, minutes=3) == []
    assert miss(jobs[1:], commits=29, hits=(), removed=0, minutes=3) == [
        "jobs",
        "commits of writers",
    ]


def test_a_run_in_which_nothing_happened_is_not_enough_and_its_report_says_what_was_missing() -> (
    None
):
    report = report_of([Minimum("jobs", 100, 0), Minimum("commits of writers", 300, 301)])
    assert report.is_clean
    assert not report.is_enough
    assert "TOO LITTLE: jobs: 0, at least 100" in report.as_text()
    assert "commits of writers" not in report.as_text()
    assert report.as_document()["minima"][0] == {
        "name": "jobs",
        "least": 100,
        "found": 0,
        "is_met": False,
    }


def test_a_short_run_says_what_was_not_asked_of_it() -> None:
    text = report_of([Minimum("jobs", 5, 5)], minutes=1.5).as_text()
    assert (
        "a run of less than 30 minutes: 5 jobs were asked for; not that every procedure "
        "succeeds and every trouble hits"
    ) in text


@pytest.mark.parametrize("work", STATEMENTS)
def test_the_strategies_of_a_rewrite_are_told_apart(work: str) -> None:
    assert name_work(job(work)) == work


def test_a_procedure_that_never_succeeded_is_counted_too() -> None:
    assert (
        count_successes([job("expire_snapshots"), job("rewrite_manifests", "failed")])[
            "expire_snapshots"
        ]
        == 1
    )
    assert count_successes([job("rewrite_manifests", "failed")])["rewrite_manifests"] == 0


def test_the_exit_code_says_that_a_process_was_left_or_too_little_happened() -> None:
    enough, report = [Minimum("jobs", 1, 1)], report_of([Minimum("jobs", 1, 1)])
    assert report.exit_code == 0
    report.checked.add(Fault.DAEMON, "the end", ["a process was left: 17 java"])
    assert report.exit_code == 1
    assert "a process was left: 17 java" in report.as_text()
    assert report_of([*enough, Minimum("jobs", 2, 1)]).exit_code == 1
