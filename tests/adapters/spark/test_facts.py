"""What a real driver reports about its Spark, and what the runner makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.facts import read_facts
from maintainer.adapters.spark.jars import pinned_jars
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.driver import SparkFacts
from tests.adapters.spark.lakes import (
    APPLICATION,
    QUICK_OPTIONS,
    Lake,
    WallClock,
    job_on,
    outcome_of,
    runner_on,
    wait_until,
)
from tests.fakes.adapters.store import FakeStore

AT = 1_800_000_000.5
SAID: Mapping[str, object] = {
    "at": AT,
    "spark": "4.1.4",
    "scala": "2.13.17",
    "java": "21.0.8",
    "iceberg": "1.12.0",
    "catalogs": {"lake": "", "far": "jdbc:postgresql://ada:hunter22@db/lake refused"},
}


def test_what_a_driver_reports_is_read_without_secrets() -> None:
    assert read_facts(SAID, "s") == SparkFacts(
        datetime.fromtimestamp(AT, UTC),
        "s",
        "4.1.4",
        "2.13.17",
        "21.0.8",
        "1.12.0",
        {"lake": "", "far": "jdbc:postgresql://ada:***@db/lake refused"},
    )
    assert read_facts({}, "s") == SparkFacts(datetime.fromtimestamp(0, UTC), "s")


def test_the_newest_driver_under_the_present_settings_counts(tmp_path: Path) -> None:
    runner = runner_on([], tmp_path, "owner-1")
    own = next(iter(runner._source.fingerprints))

    def hear(fingerprint: str, message: Mapping[str, object]) -> SparkFacts | None:
        driver: Any = SimpleNamespace(name="driver-1", fingerprint=fingerprint)
        runner.heard(driver, message)
        return runner.facts.get("default")

    reported = {"event": "application.facts", "facts": SAID}
    assert hear(own, {"event": "hello", "jobs": {}, "facts": None}) is None
    assert hear("of former settings", reported) is None
    first = hear(own, reported)
    assert first is not None
    assert first.spark == "4.1.4"
    introduced = {"event": "hello", "jobs": {}, "facts": {**SAID, "at": AT + 1, "spark": "4.1.5"}}
    second = hear(own, introduced)
    assert second is not None
    assert second.spark == "4.1.5"
    assert hear(own, reported) == second, "sent again"
    runner.recall(replace(second, at=datetime.now(UTC), settings="others"))
    assert runner.facts == {"default": second}
    runner.close()
    again = runner_on([], tmp_path, "owner-2")
    again.recall(second)
    assert again.facts == {"default": second}, "the settings are the same after a restart"
    again.close()


@pytest.mark.spark
@pytest.mark.slow
def test_a_real_driver_reports_its_versions_and_which_catalogs_load(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    table = lake.create("facts", files=6)
    gone = spark_configuration(
        "gone", {"type": "rest", "uri": "http://127.0.0.1:1", "token": "tok-12345"}, {}
    )
    catalogs = {"lake": lake.spark, "gone": gone}
    runner = LocalRunner(
        QUICK_OPTIONS, catalogs, "facts-1", APPLICATION, tmp_path / "run", FakeStore(), WallClock()
    )
    try:
        job = job_on(table, "facts-job")
        runner.submit(job)
        assert outcome_of(runner, job).kind == "finished", "beside a catalog that is gone"
        wait_until(lambda: bool(runner.facts))
        facts = runner.facts["default"]
        assert facts.spark == version("pyspark")
        assert facts.iceberg == pinned_jars()[0].version
        assert facts.scala.startswith("2.12." if facts.spark.startswith("3.") else "2.13.")
        assert facts.java.startswith(("17.", "21."))
        assert facts.catalogs["lake"] == ""
        assert "refused" in facts.catalogs["gone"].lower()
        assert "tok-12345" not in facts.catalogs["gone"]
        assert "\n" not in facts.catalogs["gone"]
    finally:
        runner.close()
