"""What a runner does whose drivers poll when the link is cut, or a driver stands still."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.adapters.spark.remote import driver as remote
from maintainer.adapters.spark.remote import drivers as source
from maintainer.domain.job import Job
from tests.adapters.spark.behaviour.sites import Site
from tests.adapters.spark.behaviour.suite import at_work, ended_without_commit
from tests.adapters.spark.gates import await_gate, gate_at
from tests.adapters.spark.lakes import WallClock, job_on, one_by_one, outcome_of, wait_until

CUT_SECONDS = 30.0
FENCE = timedelta(seconds=14)


@contextmanager
def cut_link(site: Site) -> Iterator[None]:
    """Answer no poll."""
    assert site.proxy is not None
    site.proxy.is_refusing = True
    site.proxy.cut()
    yield
    site.proxy.heal()


def polls(site: Site) -> int:
    record = site.store.driver(site.driver().name)
    assert record is not None
    return record.polls


def make_stuck_job(site: Site, name: str) -> tuple[Job, Path]:
    """A job that is not submitted yet, and the file at which its planner will stand."""
    table = site.lake.create(name, files=40, partitions=20)
    snapshot = site.lake.load(table).current_snapshot()
    assert snapshot is not None
    path = Path(snapshot.manifest_list.removeprefix("file://"))
    return job_on(table, name, one_by_one(), site.runner.owner), path


class LinkSuite:
    """Run with a fixture `site`, in this order: what comes last ends the driver."""

    def test_a_link_that_is_cut_for_30_seconds_costs_nothing(self, site: Site) -> None:
        tree = site.tree()
        job, _ = at_work(site, "cut_for_a_while")
        seen, since = -1, 0.0

        def is_silent_for_long() -> bool:
            nonlocal seen, since
            if polls(site) != seen:
                seen, since = polls(site), time.monotonic()
            return time.monotonic() - since > CUT_SECONDS

        with cut_link(site):
            wait_until(is_silent_for_long)
        outcome = outcome_of(site.runner, job)
        assert (outcome.kind, outcome.result.get("rewritten_data_files_count")) == ("finished", 120)
        assert len(site.lake.summaries(job.table)) == 2, "one commit"
        assert site.tree() == tree

    def test_a_link_that_is_cut_for_ever_ends_what_cannot_be_cancelled_at_its_fence(
        self, site: Site
    ) -> None:
        tree = site.tree()
        job, file = make_stuck_job(site, "cut_for_ever")
        with gate_at(file):
            site.runner.renew(job.job_id, FENCE)
            fence = WallClock().now() + FENCE
            site.runner.submit(job)
            await_gate(site.dump_threads, site.read_logs, "iceberg.BaseSnapshot")
            with cut_link(site):
                wait_until(lambda: read_start_time(tree.java_pid) is None)
                late = WallClock().now() - fence
                outcome = ended_without_commit(site, job, tree)
        assert late > -timedelta(seconds=2), "until then its time was its own"
        assert late < remote.FENCE_MARGIN, "it was killed while its file stayed shut"
        assert outcome.kind == "lost"
        # Its exit code is known where this runner launched the driver, or a cluster has it.
        assert re.search("has ended|exit code", outcome.message), outcome.message

    def test_a_driver_that_is_frozen_past_its_fence_commits_nothing(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(source, "SILENT_SECONDS", 2.0)
        monkeypatch.setattr(source, "FENCE_MARGIN", timedelta(seconds=2))
        monkeypatch.setattr(remote, "STOP_SECONDS", 5.0)
        tree, driver = site.tree(), site.driver()  # it works already: the job's time is the job's
        job, _ = at_work(site, "frozen", timedelta(seconds=40))
        for pid in tree.pids:
            os.kill(pid, signal.SIGSTOP)
        record = site.store.driver(driver.name)
        assert record is not None
        assert record.fence is not None
        site.runner.renew(job.job_id, timedelta(seconds=1))  # it never hears of it
        outcome = ended_without_commit(site, job, tree)
        assert outcome.kind == "lost", outcome
        assert WallClock().now() > record.fence, "until then its time was its own"
