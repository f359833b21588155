"""Commands that need Spark name what is missing before they do anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.demo import LakeReport
from maintainer.cli import commands
from maintainer.cli.setup import demo
from maintainer.ports.store.jobs import JobQuery
from tests.cli.conftest import open_instead
from tests.steps.world import World


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose runner has neither Java nor jars."""
    made = World()
    open_instead(monkeypatch, made)

    def describe(_pool: str = "") -> Sequence[tuple[str, bool, str]]:
        return (
            ("Java", False, "none here"),
            ("Spark", True, "pyspark 4"),
            ("Spark jars", False, "jar a.jar is missing; fetch it with: x"),
        )

    monkeypatch.setattr(made.runner, "describe", describe)
    return made


def test_everything_that_is_missing_is_named_and_nothing_is_requested(world: World) -> None:
    world.put("orders")
    done = call("run", "lake.sales.orders", "--yes")
    assert (done.exit_code, done.stderr) == (
        1,
        "error: Java: none here\nerror: Spark jars: jar a.jar is missing; fetch it with: x\n",
    )
    assert world.store.jobs(JobQuery()).items == ()
    assert world.store.table_names() == ()


def test_a_demo_of_a_lake_that_is_there_names_missing_jars_before_its_first_cycle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = tmp_path / "maintainer.yaml"
    configuration.write_text(
        "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: "
        "warehouse}}\nspark: {jars_dir: no-jars}\n"
    )
    monkeypatch.setattr(
        demo,
        "build_demo",
        lambda *_: LakeReport(tmp_path, configuration, was_built=False, seconds=0),
    )
    done = call("demo", "--once", "--dir", str(tmp_path))
    assert done.exit_code == 1
    assert (
        f"error: Spark jars: jar iceberg-spark-runtime-4.1_2.13-1.12.0.jar is missing in "
        f"{tmp_path}/no-jars"
    ) in done.stderr
    assert "cycle 1" not in done.stderr
