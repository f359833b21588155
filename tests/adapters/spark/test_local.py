from __future__ import annotations

import os
import re
import signal
import socket
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

import pytest

from maintainer.adapters.spark import local
from maintainer.adapters.spark import options as spark_options
from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.jars import default_directory, pinned_jars
from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import LocalSparkOptions
from maintainer.adapters.spark.pools.runner import PooledRunner
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason
from tests.adapters.spark.lakes import (
    APPLICATION,
    QUICK_OPTIONS,
    Lake,
    WallClock,
    job_on,
    one_by_one,
    outcome_of,
    runner_on,
    wait_for_tasks,
    wait_until,
)
from tests.fakes.adapters.store import FakeStore


@pytest.mark.spark
@pytest.mark.slow
def test_a_job_has_its_share_of_a_warm_drivers_log_and_its_driver(
    warm: LocalRunner, lake: Lake
) -> None:
    first, second = (job_on(lake.create(f"log_{n}", files=6), f"log-{n}") for n in (1, 2))
    for job in (first, second):
        warm.submit(job)
        assert outcome_of(warm, job).kind == "finished"
    wait_until(lambda: (log := warm.log(second, 0)) is not None and log.is_complete)
    log = warm.log(second, 0)
    assert log is not None
    assert log.text.startswith("--- job log-2 begins ---\n")
    assert log.text.endswith("--- job log-2 has ended ---\n")
    assert "log-1" not in log.text
    report = warm.report(second)
    assert report is not None
    driver = report.driver
    assert driver is not None
    assert driver.application_id.startswith("local-")
    assert (driver.host, driver.process) == (socket.gethostname(), warm.driver_pid)
    assert (driver.spark, driver.iceberg) == (version("pyspark"), pinned_jars()[0].version)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="only Linux shows command lines as files"
)
def test_no_catalog_setting_is_on_a_command_line(warm: LocalRunner, lake: Lake) -> None:
    job = job_on(lake.create("command_line", files=6), "command-line")
    warm.submit(job)
    assert outcome_of(warm, job).kind == "finished"
    for pid in (warm.driver_pid, warm.java_pid):
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        assert b"spark" in words
        assert b"catalog.db" not in words


@pytest.mark.spark
@pytest.mark.slow
def test_two_tables_side_by_side_then_manifests_and_snapshots(
    warm: LocalRunner, lake: Lake
) -> None:
    tables = [lake.create("left"), lake.create("right")]
    jobs = [job_on(table, f"side-{table.name}") for table in tables]
    for job in jobs:
        warm.submit(job)
    assert [outcome_of(warm, job).kind for job in jobs] == ["finished", "finished"]
    assert [lake.data_files(table) for table in tables] == [1, 1]
    lake.append(tables[0])
    expiry = job_on(tables[0], "expire-left", ExpireSnapshots(WallClock().now(), 2))
    manifests = job_on(tables[1], "manifests-right", RewriteManifests(0))
    warm.submit(expiry)
    warm.submit(manifests)
    assert outcome_of(warm, expiry).result["deleted_data_files_count"] == 60
    assert outcome_of(warm, manifests).kind == "finished"
    assert len(lake.summaries(tables[0])) == 2


@pytest.mark.spark
@pytest.mark.slow
def test_names_with_every_nasty_character_run_and_are_not_mistaken(
    warm: LocalRunner, lake: Lake
) -> None:
    namespace = "lake"  # named like the catalog
    name = 'it\'s "a" `table`.x ${env:HOME} \\n 日本; -- /*'
    table = lake.create(name, namespace=namespace, files=6)
    job = job_on(table, "nasty")
    warm.submit(job)
    outcome = outcome_of(warm, job)
    assert outcome.kind == "finished", outcome
    assert lake.data_files(table) == 1


@pytest.mark.spark
@pytest.mark.slow
def test_a_driver_that_gets_sigterm_cancels_its_job_reports_it_and_ends(
    lake: Lake, run_dir: Path
) -> None:
    runner = runner_on([lake], run_dir, "terminated-1")
    try:
        table = lake.create("terminated", files=120, partitions=60)
        job = job_on(table, "terminated", one_by_one())
        runner.submit(job)
        wait_for_tasks(runner, job, 1)
        driver_pid, java_pid = runner.driver_pid, runner.java_pid
        assert driver_pid is not None
        assert java_pid is not None
        os.kill(driver_pid, signal.SIGTERM)
        outcome = outcome_of(runner, job)
        assert (outcome.kind, outcome.reason, outcome.message) == (
            "lost",
            FailureReason.LOST_RUNNER,
            "its driver was ended by SIGTERM",
        ), "nothing is held against the job"
        wait_until(lambda: read_start_time(driver_pid) is None)
        assert read_start_time(java_pid) is None
        assert len(lake.summaries(table)) == 1
    finally:
        runner.close()


@pytest.mark.spark
@pytest.mark.slow
def test_an_idle_spark_ends_and_leaves_nothing(lake: Lake, run_dir: Path) -> None:
    runner = runner_on(
        [lake], run_dir, "idle-1", replace(QUICK_OPTIONS, idle_timeout=timedelta(milliseconds=100))
    )
    job = job_on(lake.create("idle", files=6), "idle")
    runner.submit(job)
    driver_pid = runner.driver_pid
    assert driver_pid is not None
    assert outcome_of(runner, job).kind == "finished"
    wait_until(lambda: runner.driver_pid is None and read_start_time(driver_pid) is None)
    runner.close()
    assert not list(run_dir.glob("idle-1.spark-*[0-9]")), "only its log is kept"
    assert not (run_dir / "idle-1.processes.json").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_a_spark_that_does_not_start_fails_its_jobs_with_one_line(
    lake: Lake, run_dir: Path
) -> None:
    runner = runner_on([lake], run_dir, "bad-1", replace(QUICK_OPTIONS, master="nonsense[2]"))
    job = job_on(lake.create("bad", files=1), "bad")
    runner.submit(job)
    outcome = outcome_of(runner, job)
    assert outcome.kind == "failed"
    assert "\n" not in outcome.message
    assert "Spark ended during its start" in outcome.message
    assert "Master" in outcome.message  # Spark's own complaint
    runner.close()


def test_an_option_out_of_bounds_or_an_unknown_catalog_fails_without_spark(
    lake: Lake, tmp_path: Path
) -> None:
    runner = runner_on([lake], tmp_path, "refusing")
    table = TableIdentifier("lake", ("db",), "t")
    bad = job_on(table, "bad-option", RewriteDataFiles(options=(("min-input-files", "0"),)))
    elsewhere = job_on(replace(table, catalog="other"), "other-catalog")
    for job, word in ((bad, "min-input-files"), (elsewhere, "'other'")):
        assert runner.statements(job) == ()
        runner.submit(job)
        outcome = outcome_of(runner, job)
        assert (outcome.kind, outcome.reason) == ("failed", FailureReason.INVALID_REQUEST)
        assert word in outcome.message
    assert runner.driver_pid is None
    runner.close()


def test_missing_jars_are_said_with_the_command_that_fetches_them(
    lake: Lake, tmp_path: Path
) -> None:
    runner = runner_on([lake], tmp_path, "jarless", LocalSparkOptions(jars_dir=tmp_path / "none"))
    with pytest.raises(
        RunnerUnavailableError, match=r"-m maintainer\.adapters\.spark\.jars --directory"
    ):
        runner.submit(job_on(TableIdentifier("lake", ("db",), "t"), "x"))
    assert ("Spark jars", False) in [(what, is_fine) for what, is_fine, _ in runner.describe()]
    runner.close()
    with pytest.raises(RunnerUnavailableError, match="closed"):
        runner.submit(job_on(TableIdentifier("lake", ("db",), "t"), "x"))


def test_settings_of_the_user_do_not_replace_what_our_statements_rely_on(tmp_path: Path) -> None:
    replaced = {
        "spark.app.name": "x",
        "spark.sql.variable.substitute": "true",
        "spark.sql.parser.escapedStringLiterals": "true",
    }
    options = LocalSparkOptions(conf=replaced | {"spark.sql.shuffle.partitions": "9"})
    settings = spark_options.spark_settings(
        options, {}, APPLICATION, spark_options.local_settings(options, tmp_path)
    )
    assert settings["spark.app.name"] == APPLICATION
    assert settings["spark.sql.variable.substitute"] == "false"
    assert "spark.sql.parser.escapedStringLiterals" not in settings
    assert settings["spark.sql.shuffle.partitions"] == "9"


@pytest.mark.parametrize("name", ["s3.access-key-id", "header.X-Api-Key", "credential", "TOKEN"])
def test_spark_shows_no_secret_in_its_event_log(tmp_path: Path, name: str) -> None:
    options = LocalSparkOptions()
    settings = spark_options.spark_settings(
        options, {}, APPLICATION, spark_options.local_settings(options, tmp_path)
    )
    assert re.search(settings["spark.redaction.regex"], name)


def test_a_disk_that_takes_no_more_is_a_spark_that_cannot_start(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(DriverProcess, "start", fail)
    runner = runner_on([], run_dir, "full-1")
    monkeypatch.setattr(runner, "_catalogs", {"lake": {}})
    with pytest.raises(
        RunnerUnavailableError, match=r"Spark cannot be started: .*No space left on device"
    ):
        runner.submit(job_on(TableIdentifier("lake", ("db",), "t"), "full"))
    runner.close()


def test_what_spark_lacks_on_this_machine_is_known_before_a_job_and_until_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(local, "monotonic", lambda: clock[0])
    settings = spark_configuration(
        "lake",
        {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}/w"},
        {},
    )
    options = replace(QUICK_OPTIONS, jars_dir=tmp_path / "jars", pool="here")
    runner = LocalRunner(
        options, {"lake": settings}, "one", APPLICATION, tmp_path, FakeStore(), WallClock()
    )
    pooled = PooledRunner(
        {"here": runner}, {}, "one", APPLICATION, runner.orphan_files, FakeStore(), WallClock()
    )
    assert "Spark jars: jar iceberg-spark-runtime" in pooled.obstacles["here"]
    assert pooled.capacities == {"here": 0}
    (tmp_path / "jars").mkdir()
    for jar in pinned_jars():
        if jar.artifact != "postgresql":  # which no catalog needs
            (tmp_path / "jars" / jar.file_name).symlink_to(default_directory() / jar.file_name)
    assert pooled.obstacles, "it is believed for a while"
    clock[0] = 11.0
    assert pooled.obstacles == {}
    assert pooled.capacities == {"here": options.max_jobs}
    runner.close()
