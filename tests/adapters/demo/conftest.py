from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from maintainer.adapters.demo import LakeReport, build_lake
from tests.adapters.demo.launches import find_launch


@dataclass(frozen=True)
class BuiltLake:
    directory: Path
    report: LakeReport
    said: tuple[str, ...]
    midnight: datetime


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltLake:
    """The lake as the real Spark, PyArrow and PyIceberg make it, once for all tests that only read it."""
    directory = tmp_path_factory.mktemp("demo") / "lake"
    said: list[str] = []
    now = datetime.now(UTC)
    report = build_lake(directory, said.append, find_launch(tmp_path_factory.mktemp("java")), now)
    return BuiltLake(directory, report, tuple(said), now.replace(hour=0, minute=0, second=0, microsecond=0))
