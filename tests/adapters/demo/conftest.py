from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.demo import LakeReport, build_lake
from maintainer.adapters.demo.spark import _configuration
from tests.adapters.demo import counting_spark
from tests.adapters.demo.launches import find_launch
from tests.lake_contents import list_tables


@dataclass(frozen=True)
class BuiltLake:
    directory: Path
    report: LakeReport
    said: tuple[str, ...]
    midnight: datetime


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltLake:
    """The lake as the real Spark, PyArrow and PyIceberg make it, once for all tests that only read
    it.
    """
    directory = tmp_path_factory.mktemp("demo") / "lake"
    said: list[str] = []
    now = datetime.now(UTC)
    report = build_lake(directory, said.append, find_launch(tmp_path_factory.mktemp("java")), now)
    return BuiltLake(
        directory, report, tuple(said), now.replace(hour=0, minute=0, second=0, microsecond=0)
    )


@pytest.fixture(scope="session")
def by_spark(built: BuiltLake, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What counting_spark answers, by the tables' plain names."""
    scratch = tmp_path_factory.mktemp("counting")
    launch = find_launch(scratch)
    quoted = {
        name.replace("access log", "`access log`"): name
        for name, _, _, _ in list_tables(built.directory)
    }
    configuration = _configuration(
        launch, built.directory / "catalog.db", built.directory / "warehouse", scratch
    )
    order = json.dumps({"configuration": configuration, "tables": list(quoted)})
    environment = {
        **launch.environment,
        "JAVA_HOME": launch.java_home,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PATH": "/usr/bin:/bin",
    }
    counted = subprocess.run(
        [launch.python, counting_spark.__file__],
        input=order,
        capture_output=True,
        text=True,
        check=True,
        timeout=480,
        env=environment,
        cwd=scratch,
    )
    return {quoted[table]: found for table, found in json.loads(counted.stdout).items()}
