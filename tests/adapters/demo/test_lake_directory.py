from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from maintainer.adapters.demo import SparkLaunch, build_lake, lake, lake_is_complete, spark
from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.domain.errors import ConfigurationError, RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Mode
from maintainer.policy.effective import effective
from maintainer.settings import load_settings

NOW = datetime(2026, 6, 15, 13, 45, tzinfo=UTC)
Programs = Callable[[str], SparkLaunch]
SPARK_THAT_NEVER_STARTS = """
import time

class SparkSession:
    class builder:
        @staticmethod
        def getOrCreate():
            time.sleep(60)
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Launches that run a shell script in the place of Spark, with the other tables left out."""
    monkeypatch.setattr(lake, "create_tables", lambda _catalog, _warehouse, _newest, _say: None)

    def write(script: str) -> SparkLaunch:
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return SparkLaunch(str(program), java_home="/nonexistent", jars=("iceberg.jar",))

    return write


def ignore(_text: str) -> None:
    pass


def test_an_empty_or_missing_directory_is_filled_and_then_complete(
    tmp_path: Path, programs: Programs
) -> None:
    directory = tmp_path / "new" / "lake"
    assert not lake_is_complete(directory)

    report = build_lake(directory, ignore, programs("exit 0"), NOW)

    assert report.was_built
    assert report.configuration == directory / "maintainer.yaml"
    assert lake_is_complete(directory)
    assert sorted(path.name for path in directory.iterdir()) == [
        "catalog.db",
        "demo-lake.json",
        "maintainer.yaml",
        "policies",
        "warehouse",
    ]


def test_a_complete_lake_is_used_as_it_is(tmp_path: Path, programs: Programs) -> None:
    directory = tmp_path / "lake"
    build_lake(directory, ignore, programs("exit 0"), NOW)
    (directory / "policies" / "default.yaml").write_text("# edited\n")

    report = build_lake(directory, ignore, programs("exit 1"), NOW)

    assert not report.was_built
    assert (directory / "policies" / "default.yaml").read_text() == "# edited\n"


def test_a_half_built_lake_is_built_again_and_files_of_others_in_it_stay(
    tmp_path: Path, programs: Programs
) -> None:
    directory = tmp_path / "lake"
    with pytest.raises(RunnerUnavailableError):
        build_lake(directory, ignore, programs("exit 7"), NOW)
    (directory / "notes.txt").write_text("mine")
    (directory / "warehouse" / "rest.parquet").write_text("of the first try")
    assert not lake_is_complete(directory)
    assert json.loads((directory / lake.MARKER).read_text())["state"] == "building"

    said: list[str] = []
    report = build_lake(directory, said.append, programs("exit 0"), NOW)

    assert report.was_built
    assert "half-built" in said[0]
    assert lake_is_complete(directory)
    assert (directory / "notes.txt").read_text() == "mine"
    assert not (directory / "warehouse" / "rest.parquet").exists()


def test_a_lake_that_lost_its_catalog_is_built_again_with_a_new_store(
    tmp_path: Path, programs: Programs
) -> None:
    directory = tmp_path / "lake"
    build_lake(directory, ignore, programs("exit 0"), NOW)
    (directory / "catalog.db").unlink()
    (directory / "maintainer.db").write_text("what a daemon knew of the lost tables")

    assert not lake_is_complete(directory)
    assert build_lake(directory, ignore, programs("exit 0"), NOW).was_built
    assert not (directory / "maintainer.db").exists()


@pytest.mark.parametrize("content", ["precious", "{}", '["state"]'])
def test_a_directory_that_is_not_a_lake_is_refused_and_left_alone(
    tmp_path: Path, programs: Programs, content: str
) -> None:
    directory = tmp_path / "home"
    directory.mkdir()
    (directory / "warehouse").write_text(content)

    with pytest.raises(ConfigurationError, match=r"home is not empty and has no demo-lake\.json"):
        build_lake(directory, ignore, programs("exit 0"), NOW)

    assert [path.read_text() for path in directory.iterdir()] == [content]


def test_a_marker_that_is_no_marker_makes_a_directory_foreign(
    tmp_path: Path, programs: Programs
) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / lake.MARKER).write_text("{ not json")

    with pytest.raises(ConfigurationError, match="not empty"):
        build_lake(tmp_path / "lake", ignore, programs("exit 0"), NOW)


def test_a_file_in_the_place_of_the_directory_is_refused(
    tmp_path: Path, programs: Programs
) -> None:
    (tmp_path / "lake").write_text("a file")

    with pytest.raises(ConfigurationError, match="lake is not a directory"):
        build_lake(tmp_path / "lake", ignore, programs("exit 0"), NOW)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, programs: Programs) -> None:
    (tmp_path / "file").write_text("a file")

    with pytest.raises(ConfigurationError, match=r"cannot be written to .*file/lake"):
        build_lake(tmp_path / "file" / "lake", ignore, programs("exit 0"), NOW)


def test_a_moved_lake_is_refused_because_its_paths_are_absolute(
    tmp_path: Path, programs: Programs
) -> None:
    build_lake(tmp_path / "here", ignore, programs("exit 0"), NOW)
    (tmp_path / "here").rename(tmp_path / "there")

    assert not lake_is_complete(tmp_path / "there")
    with pytest.raises(
        ConfigurationError, match="there holds a demo lake that was built elsewhere"
    ):
        build_lake(tmp_path / "there", ignore, programs("exit 0"), NOW)


def test_a_lake_of_another_layout_is_refused_rather_than_removed(
    tmp_path: Path, programs: Programs
) -> None:
    directory = tmp_path / "lake"
    build_lake(directory, ignore, programs("exit 0"), NOW)
    marker = directory / lake.MARKER
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "layout": 0}))

    with pytest.raises(ConfigurationError, match="another layout"):
        build_lake(directory, ignore, programs("exit 0"), NOW)
    assert (directory / "catalog.db").exists()


def test_a_failing_spark_is_reported_with_the_end_of_its_log(
    tmp_path: Path, programs: Programs
) -> None:
    with pytest.raises(
        RunnerUnavailableError, match=r"exit code 9; the end of its log: JAVA_HOME is not set"
    ):
        build_lake(
            tmp_path / "lake", ignore, programs("echo 'JAVA_HOME is not set' >&2; exit 9"), NOW
        )


def test_a_spark_that_cannot_be_started_is_named(tmp_path: Path, programs: Programs) -> None:
    programs("exit 0")
    with pytest.raises(RunnerUnavailableError, match="cannot be started with /nonexistent/python"):
        build_lake(
            tmp_path / "lake", ignore, SparkLaunch("/nonexistent/python", "/nonexistent", ()), NOW
        )


def test_a_spark_that_takes_too_long_is_ended(
    tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "MERGE_SECONDS", 0.2)
    with pytest.raises(RunnerUnavailableError, match=r"took more than 0\.2 s"):
        build_lake(tmp_path / "lake", ignore, programs("exec sleep 60"), NOW)


def test_what_spark_says_reaches_the_caller(tmp_path: Path, programs: Programs) -> None:
    said: list[str] = []
    build_lake(tmp_path / "lake", said.append, programs("read -r order; echo merged"), NOW)
    assert said == ["merged"]


def test_another_installation_of_spark_is_not_taken_by_accident(
    tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", "/another/spark")
    said: list[str] = []
    build_lake(
        tmp_path / "lake",
        said.append,
        programs('echo "home: ${SPARK_HOME:-none}, java: $JAVA_HOME"'),
        NOW,
    )
    assert said == ["home: none, java: /nonexistent"]


def test_the_merging_process_ends_when_its_standard_input_is_closed_as_by_a_killed_parent(
    tmp_path: Path,
) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    (tmp_path / "pyspark" / "sql.py").write_text(SPARK_THAT_NEVER_STARTS)
    script = Path(spark.__file__).with_name("merge.py")
    order = json.dumps({"configuration": {}, "changes": "", "tables": []}) + "\n"

    ended = subprocess.run(
        [sys.executable, str(script)],
        input=order,
        text=True,
        timeout=30,
        check=False,
        env={"PYTHONPATH": str(tmp_path)},
    )

    assert ended.returncode == 3


def test_every_policy_file_is_valid_and_governs_the_tables_that_it_names(
    tmp_path: Path, programs: Programs
) -> None:
    build_lake(tmp_path / "lake", ignore, programs("exit 0"), NOW)
    policies = PolicyDirectory(tmp_path / "lake" / "policies").current()

    assert policies.problems == ()
    modes = {
        name: effective(policies, TableIdentifier("lake", *name), {}).mode
        for name in [
            (("streaming",), "page_views"),
            (("cdc",), "accounts"),
            (("cdc",), "balances"),
            (("warehouse",), "events_by_day"),
            (("reference",), "exchange_rates"),
            (("sales",), "orders"),
            (("archive",), "sensor_daily"),
            (("logs",), "raw_requests"),
            (("logs", "gateway"), "access log"),
        ]
    }
    assert modes.pop((("logs", "gateway"), "access log")) is Mode.OBSERVE
    assert set(modes.values()) == {Mode.ENFORCE}


def test_the_configuration_is_valid_and_names_the_lake_wherever_the_daemon_is_started(
    tmp_path: Path, programs: Programs
) -> None:
    directory = tmp_path / "a lake"
    settings = load_settings(
        build_lake(directory, ignore, programs("exit 0"), NOW).configuration, {}
    )

    assert settings.catalogs["lake"].properties["uri"] == f"sqlite:///{directory}/catalog.db"
    assert settings.store == f"sqlite:///{directory}/maintainer.db"
    assert settings.policies == directory / "policies"
