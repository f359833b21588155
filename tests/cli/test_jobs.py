"""`maintainer jobs` against a real server on the loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.store import open_store
from maintainer.cli import commands
from maintainer.domain.driver import JobDriver, JobLog
from maintainer.domain.job import FailureReason, JobState
from tests.api.nouns import finish_job, make_job, run_job
from tests.api.serving import Client
from tests.api.test_jobs import serve
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.spark import FakeRunner


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A finished, a failed and a running job behind an API that the configuration names."""
    client = Client()
    failed = finish_job(
        run_job(make_job("job-2")),
        JobState.FAILED,
        failure_reason=FailureReason.TIMEOUT,
        failure_message="no answer",
    )
    for job in (finish_job(run_job(make_job("job-1"))), failed, run_job(make_job("job-3"))):
        assert client.daemon.store.add_job(job)
    with serve(client) as address:
        file = tmp_path / "maintainer.yaml"
        file.write_text(
            f"catalogs: {{lake: {{type: rest, uri: 'http://127.0.0.1:1'}}}}\nserver: {{port: "
            f"{address.rpartition(':')[2]}}}\n"
        )
        monkeypatch.setenv("MAINTAINER_CONFIG", str(file))
        yield client


def call(*words: str, columns: str = "200") -> Result:
    return CliRunner().invoke(commands.application, ["jobs", *words], env={"COLUMNS": columns})


def listed(*words: str) -> set[str]:
    done = call(*words, "--format", "json")
    assert done.exit_code == 0, done.stderr
    return {job["job_id"] for job in json.loads(done.stdout)}


@pytest.mark.usefixtures("daemon")
def test_jobs_are_chosen_by_state_and_by_table() -> None:
    assert listed() == {"job-1", "job-2", "job-3"}
    assert listed("--state", "failed") == {"job-2"}
    assert listed("--state", "failed", "--state", "running") == {"job-2", "job-3"}
    assert listed("--table", "lake.sales.orders") == {"job-1", "job-2", "job-3"}
    assert listed("--table", "lake.sales.returns") == set()
    assert len(listed("--limit", "1")) == 1
    assert call("--state", "asleep").exit_code == 2
    assert "has 1 level;" in call("--table", "orders").stderr


@pytest.mark.usefixtures("daemon")
def test_a_job_in_the_list_says_when_it_was_made_and_what_came_of_it() -> None:
    shown = call("--state", "failed").stdout.splitlines()
    assert shown[0].split() == ["table", "rule", "state", "created", "(UTC)", "took", "job"]
    assert shown[1].split()[:3] == ["lake.sales.orders", "rewrite_data_files", "failed"]
    assert shown[1].split()[-1] == "job-2"
    assert shown[2] == "    no answer"


@pytest.mark.usefixtures("daemon")
def test_one_job_is_shown_with_its_statement_and_what_it_achieved() -> None:
    shown = call("show", "job-1").stdout
    facts = {line[:14].strip(): line[14:].strip() for line in shown.splitlines()}
    assert facts["job"] == "job-1"
    assert facts["state"] == "succeeded"
    assert facts["statement"].startswith("CALL ")
    assert facts["rows"].startswith("rows ")
    assert "data files" in shown
    assert "failure" not in facts
    assert call("show", "job-2").stdout.count("timeout: no answer") == 1
    assert json.loads(call("show", "job-1", "--format", "json").stdout)["job_id"] == "job-1"


@pytest.mark.usefixtures("daemon")
def test_a_job_that_is_not_known_is_a_usage_error() -> None:
    done = call("show", "job-9")
    assert (done.exit_code, done.stderr) == (
        2,
        "error: no job 'job-9' is known; finished jobs are deleted after the time in prune.jobs\n",
    )


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_list_splits_no_word_at_the_width_of_a_terminal(columns: str) -> None:
    words = call(columns=columns).stdout.split()
    assert {"lake.sales.orders", "rewrite_data_files", "succeeded", "job-1"} <= set(words)


def test_a_jobs_log_is_printed_and_followed_to_its_end(
    daemon: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = daemon.daemon.ports.runner
    assert isinstance(runner, FakeRunner)
    runner.logs["job-3"] = JobLog("one\ntwo \x1b[31m\n", 0)
    assert call("log", "job-3").stdout == "one\ntwo \\x1b[31m\n"

    def grow(_: float) -> None:
        known = runner.logs["job-3"]
        runner.logs["job-3"] = JobLog(f"{known.text}three\n", 0, is_complete=True)

    monkeypatch.setattr("maintainer.cli.jobs.jobs.time.sleep", grow)
    assert call("log", "job-3", "--follow").stdout == "one\ntwo \\x1b[31m\nthree\n"
    assert "no job 'nope' is known" in call("log", "nope").stderr


def test_a_log_that_was_not_kept_is_said(daemon: Client) -> None:
    clock = daemon.daemon.ports.clock
    assert isinstance(clock, FakeClock)
    clock.advance(timedelta(days=1))
    said = call("log", "job-1")
    assert (said.stdout, said.stderr) == ("", "no log of job job-1 was stored\n")


def test_a_job_is_shown_with_its_driver(daemon: Client) -> None:
    store = daemon.daemon.store
    known = store.job("job-3")
    assert known is not None
    driver = JobDriver("spark-1", "app-1", "node-1")
    assert store.update_job(replace(known, driver=driver), known)
    shown = call("show", "job-3").stdout
    assert {line.split()[0]: line.split()[-1] for line in shown.splitlines()}["driver"] == "spark-1"
    assert "node-1" in shown
    assert "app-1" in shown


def test_without_a_daemon_the_jobs_of_the_store_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: rest, uri: 'http://127.0.0.1:1'}}}}\n"
        f"store: sqlite:///{tmp_path}/maintainer.db\nserver: {{port: 1}}\n"
    )
    monkeypatch.setenv("MAINTAINER_CONFIG", str(file))
    said = "no daemon answers at http://127.0.0.1:1; `maintainer serve` starts one"
    assert listed() == set(), "a store that was never made has none"
    with closing(open_store(f"sqlite:///{tmp_path}/maintainer.db")) as store:
        for job in (make_job("job-1"), finish_job(run_job(make_job("job-2")), JobState.FAILED)):
            assert store.add_job(replace(job, table_uuid=job.job_id))
    assert listed() == {"job-1", "job-2"}
    assert listed("--state", "failed") == {"job-2"}
    assert call().stderr == f"{said}; these are the jobs of the store\n"
    for words in (("--watch",), ("show", "job-1"), ("cancel", "job-1")):
        done = call(*words)
        assert (done.exit_code, f"error: {said}\n" == done.stderr) == (1, True), words
