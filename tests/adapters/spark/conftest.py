from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from maintainer.adapters.spark.local import LocalRunner
from tests.adapters.spark.gates import SparkEvents
from tests.adapters.spark.lakes import QUICK_OPTIONS, Lake, runner_on


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return Lake(tmp_path_factory.mktemp("lake"))


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> SparkEvents:
    """What the shared runner's Spark says of its work."""
    return SparkEvents(tmp_path_factory.mktemp("events"))


@pytest.fixture(scope="session")
def warm(lake: Lake, run_dir: Path, events: SparkEvents) -> Iterator[LocalRunner]:
    """The one runner that all tests share which do not kill it."""
    runner = runner_on(
        [lake],
        run_dir,
        "warm-1",
        replace(QUICK_OPTIONS, conf={**QUICK_OPTIONS.conf, **events.settings}),
    )
    yield runner
    runner.close()
    assert runner.driver_pid is None
