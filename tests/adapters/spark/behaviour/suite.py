"""What every runner does with jobs and drivers that end in every way, on a real Spark."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from datetime import timedelta

from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState, Outcome
from tests.adapters.spark.behaviour.orphans import find_and_remove_an_orphan
from tests.adapters.spark.behaviour.places import ADOPTED, LONGEST, adopted_job, daemon_at_work
from tests.adapters.spark.behaviour.sites import Site, Tree
from tests.adapters.spark.lakes import (
    APPLICATION,
    job_on,
    one_by_one,
    outcome_of,
    wait_for_tasks,
    wait_until,
)
from tests.adapters.spark.workshop import try_sql

TOO_MUCH = "SELECT size(array_repeat(id, 200000000)) FROM range(1)"  # 1.6 GB in one value


def at_work(
    site: Site, name: str, valid_for: timedelta = LONGEST, groups: int = 60
) -> tuple[Job, TableIdentifier]:
    """A job in the middle of a long rewrite that commits once, at its end."""
    table = site.lake.create(name, files=2 * groups, partitions=groups)
    job = job_on(table, name, one_by_one(), owner=site.runner.owner)
    site.runner.renew(job.job_id, valid_for)
    site.runner.submit(job)
    wait_for_tasks(site.runner, job, 1)
    return job, table


def ended_without_commit(site: Site, job: Job, tree: Tree) -> Outcome:
    """How a job ended whose driver did: nothing of it is left, and the table is as it was."""
    outcome = outcome_of(site.runner, job)
    wait_until(lambda: not any(map(read_start_time, tree.pids)))
    assert len(site.lake.summaries(job.table)) == 1
    assert outcome.message
    assert "\n" not in outcome.message
    return outcome


def assert_lost_by_kill(
    site: Site, name: str, choose: Callable[[Tree], int], reason: FailureReason
) -> None:
    """Kill one process of a driver at work: its job is lost, and nothing of it was committed."""
    job, _ = at_work(site, name)
    tree = site.tree()
    os.kill(choose(tree), signal.SIGKILL)
    outcome = ended_without_commit(site, job, tree)
    assert (outcome.kind, outcome.reason) == ("lost", reason)


class DriverSuite:
    """What the driver does alike wherever it was started. Run with a fixture `site`, in this order:
    what comes last ends the driver that all share.
    """

    def test_orphans_are_found_and_removed(self, site: Site) -> None:
        find_and_remove_an_orphan(site)

    def test_a_job_that_nobody_renews_is_cancelled_before_its_fence(self, site: Site) -> None:
        tree = site.tree()
        job, table = at_work(site, "overdue", groups=200)
        site.runner.renew(job.job_id, timedelta(seconds=11))  # cancelled ten seconds before that
        outcome = outcome_of(site.runner, job)
        assert (outcome.kind, outcome.reason) == ("lost", FailureReason.LOST_RUNNER)
        assert "not renewed in time" in outcome.message
        assert len(site.lake.summaries(table)) == 1
        assert site.tree() == tree, "Spark itself goes on"

    def test_a_task_without_memory_fails_its_job_for_that(self, site: Site) -> None:
        outcome = try_sql(site.runner, TOO_MUCH)
        assert outcome.reason is FailureReason.OUT_OF_MEMORY, outcome

    def test_a_killed_jvm_loses_its_job_and_commits_nothing(self, site: Site) -> None:
        assert_lost_by_kill(
            site, "killed_jvm", lambda tree: tree.java_pid, FailureReason.LOST_RUNNER
        )


class LauncherSuite:
    """What depends on how drivers are started, watched and ended. Run with a fixture `site`, in this
    order: what comes last ends drivers.
    """

    def test_sixty_small_files_become_one_and_the_commit_carries_our_name(self, site: Site) -> None:
        table = site.lake.create("sixty")
        done = site.workshop.finish(site.workshop.begin(table, RewriteDataFiles()))
        assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
        assert (site.lake.data_files(table), site.lake.rows(table)) == (1, 60_000)
        ours = site.lake.summaries(table)[-1]
        assert (ours["app-name"], ours["total-records"]) == (APPLICATION, "60000")

    def test_a_statement_that_spark_refuses_fails_with_its_reason(self, site: Site) -> None:
        table = site.lake.create("refused", files=2)
        job = site.workshop.begin(table, RewriteDataFiles(where="no_such_column = 1"))
        outcome = site.workshop.await_end_of_work(job)
        assert (outcome.kind, outcome.reason) == ("failed", FailureReason.INVALID_REQUEST)
        assert "no_such_column" in outcome.message
        assert "\n" not in outcome.message

    def test_a_rewrite_has_said_how_far_it_was_when_it_is_cancelled(self, site: Site) -> None:
        job, table = at_work(site, "cancelled")
        wait_for_tasks(site.runner, job, 5)
        report = site.runner.report(job)
        assert report is not None
        progress = report.progress
        assert progress.file_groups_total == 60
        assert 0 < (progress.file_groups_done or 0) < 60
        assert progress.bytes_read
        assert progress.ends_at is not None
        site.runner.cancel(job.job_id)
        assert outcome_of(site.runner, job).kind == "cancelled"
        assert len(site.lake.summaries(table)) == 1

    def test_an_application_that_is_ended_by_hand_fails_its_job_with_the_reason(
        self, site: Site
    ) -> None:
        job, table = at_work(site, "by_hand")
        driver, tree = site.driver(), site.tree()
        site.ground.end_by_hand(driver, tree)
        outcome = ended_without_commit(site, job, tree)
        assert outcome.kind in {"lost", "failed"}
        assert re.search(site.ground.ended_by_hand, outcome.message), outcome.message
        again = site.workshop.finish(site.workshop.begin(table, RewriteDataFiles()))
        assert (again.state, again.failure_message) == (JobState.SUCCEEDED, "")

    def test_a_killed_driver_loses_its_job_and_commits_nothing(self, site: Site) -> None:
        # The driver can no longer say how it ended, so the job may be the cause.
        assert_lost_by_kill(
            site, "killed_driver", lambda tree: tree.driver_pid, FailureReason.OTHER
        )

    def test_a_job_of_a_killed_daemon_is_adopted_and_runs_once(self, site: Site) -> None:
        table = site.lake.create(ADOPTED.name, files=160, partitions=80)
        job = adopted_job("killed-1")
        with daemon_at_work(site.place) as daemon:
            wait_until(lambda: site.runner.lives("killed-1") is True)
            assert site.runner.report(job) is None, "its owner lives"
            daemon.kill()
            daemon.wait()
            wait_until(lambda: site.runner.lives("killed-1") is False)
        site.runner.renew(job.job_id, LONGEST)
        report = site.runner.report(job)
        assert report is not None
        assert report.adopted
        outcome = outcome_of(site.runner, job)
        assert (outcome.kind, outcome.result["rewritten_data_files_count"]) == ("finished", 160), (
            outcome
        )
        assert (site.lake.data_files(table), site.lake.rows(table)) == (80, 160_000)
        assert len(site.lake.summaries(table)) == 2, "one commit: the rewrite ran once"
