"""`maintainer jars fetch`: what it fetches for a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.pins import Jar
from maintainer.cli.commands import application

_PIN = f"com.example:ours:1@{'0' * 64}"


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, set[str], list[Jar]]]:
    calls: list[tuple[Path, set[str], list[Jar]]] = []

    def fetch(directory: Path, sets: Sequence[str], given: list[Jar]) -> list[Path]:
        calls.append((directory, set(sets), given))
        return [directory / "a.jar"]

    monkeypatch.setattr(jars, "fetch", fetch)
    return calls


def test_the_sets_of_the_catalogs_and_the_coordinates_of_the_pools_are_fetched(
    tmp_path: Path, fetched: list[tuple[Path, set[str], list[Jar]]]
) -> None:
    config = tmp_path / "maintainer.yaml"
    config.write_text(
        "catalogs: {lake: {type: sql, uri: 'sqlite:///c.db', warehouse: 's3://b/wh'}}\n"
        f"spark: {{jars_dir: jars, jars: [/opt/catalog.jar, '{_PIN}']}}\n"
    )
    done = CliRunner().invoke(
        application, ["jars", "fetch", "--with", "gcp", "--config", str(config)]
    )
    assert done.exit_code == 0, done.output
    assert fetched == [(tmp_path / "jars", {"aws", "gcp"}, [Jar.parse(_PIN)])]
    assert done.output == f"{tmp_path / 'jars' / 'a.jar'}\n"


def test_without_a_configuration_the_pinned_jars_and_the_named_sets_are_fetched(
    tmp_path: Path,
    fetched: list[tuple[Path, set[str], list[Jar]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(application, ["jars", "fetch", "--with", "azure"]).exit_code == 0
    assert fetched == [(jars.default_directory(), {"azure"}, [])]


def test_an_unknown_set_is_refused_with_those_that_there_are(
    fetched: list[tuple[Path, set[str], list[Jar]]],
) -> None:
    done = CliRunner().invoke(application, ["jars", "fetch", "--with", "ibm"])
    assert done.exit_code == 2
    assert "'ibm', but must be one of aws, gcp, azure, aliyun, hdfs" in done.output
    assert not fetched
