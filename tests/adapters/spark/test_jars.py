from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from itertools import chain
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.pins import DATABASES, RUNTIMES, SETS, Jar
from maintainer.domain.errors import RunnerUnavailableError


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with small files that are the pinned jars for this test; the one for S3 is
    missing.
    """
    digest = hashlib.sha256(b"content").hexdigest()
    pinned = tuple(replace(jar, sha256=digest) for jar in jars.pinned_jars())
    monkeypatch.setattr(jars, "pinned_jars", lambda: pinned)
    for jar in pinned:
        (tmp_path / jar.file_name).write_bytes(b"content")
    return tmp_path


def test_jars_of_a_storage_are_asked_for_only_when_a_catalog_needs_them(pinned: Path) -> None:
    assert len(jars.find_jars(pinned)) == len(jars.find_jars(pinned, ["hdfs"])) == 3
    with pytest.raises(
        RunnerUnavailableError, match=r"iceberg-aws-bundle.* is missing .* --with aws --with gcp$"
    ):
        jars.find_jars(pinned, ["gcp", "aws"])


@pytest.mark.parametrize(
    ("database", "other"), [("sqlite", "postgresql"), ("postgresql", "sqlite")]
)
def test_the_driver_of_a_database_is_asked_for_only_when_a_catalog_needs_it(
    pinned: Path, database: str, other: str
) -> None:
    (missing,) = [jar for jar in jars.pinned_jars() if other in jar.artifact]
    (pinned / missing.file_name).unlink()
    assert len(jars.find_jars(pinned, databases=[database])) == 2
    assert len(jars.find_jars(pinned, databases=())) == 2
    with pytest.raises(RunnerUnavailableError, match=f"{missing.artifact}.* is missing"):
        jars.find_jars(pinned, databases=[other])
    with pytest.raises(RunnerUnavailableError, match=f"{missing.artifact}.* is missing"):
        jars.find_jars(pinned)


def test_a_set_that_is_there_is_used_unasked(pinned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = replace(jars.pinned_jars()[0], artifact="ours")
    monkeypatch.setattr(jars, "SETS", {"gcp": (ours,)})
    assert len(jars.find_jars(pinned)) == 3
    (pinned / ours.file_name).write_bytes(b"content")
    assert len(jars.find_jars(pinned)) == 4


def test_jars_of_the_operator_are_found_by_path_or_checked_by_their_pin(pinned: Path) -> None:
    given = replace(jars.pinned_jars()[0], artifact="ours")
    with pytest.raises(RunnerUnavailableError, match=r"ours.*--jar org\.apache\.iceberg:ours:"):
        jars.find_jars(pinned, given=[given])
    (pinned / given.file_name).write_bytes(b"content")
    path = pinned / "catalog.jar"
    with pytest.raises(RunnerUnavailableError, match=r"catalog\.jar of spark\.jars does not exist"):
        jars.find_jars(pinned, given=[path])
    path.touch()
    assert jars.find_jars(pinned, given=[path, given])[-2:] == [pinned / given.file_name, path]


def test_the_module_fetches_the_sets_and_the_coordinates_that_it_is_given(
    pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[Jar] = []

    def fetch(wanted: list[Jar], _: Path) -> list[Path]:
        fetched.extend(wanted)
        return []

    monkeypatch.setattr(jars, "fetch_pinned", fetch)
    pin = f"com.example:ours:1@{'0' * 64}"
    arguments = ["--directory", str(pinned), "--with", "gcp", "--with", "hdfs", "--jar", pin]
    assert jars.main(arguments) == 0
    assert fetched == [*jars.pinned_jars(), *SETS["gcp"], Jar.parse(pin)]
    with pytest.raises(SystemExit):
        jars.main(["--jar", "com.example:ours:1"])


def test_a_jar_of_another_content_is_refused(pinned: Path) -> None:
    (pinned / jars.pinned_jars()[0].file_name).write_bytes(b"other")
    with pytest.raises(RunnerUnavailableError, match="SHA-256"):
        jars.find_jars(pinned)


def test_nothing_is_fetched_when_all_is_there(
    pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("it went to the network")

    monkeypatch.setattr(jars, "resolve", refuse)
    assert len(jars.fetch(pinned)) == 3


def test_only_what_is_missing_is_fetched_and_what_arrives_is_checked(
    pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = jars.pinned_jars()[1]
    (pinned / missing.file_name).unlink()
    content = b"content"

    def resolve(wanted: list[Jar], work: Path) -> None:
        assert wanted == [missing]
        arrived = work / "ivy" / "jars" / f"{missing.group}_{missing.file_name}"
        arrived.parent.mkdir(parents=True)
        arrived.write_bytes(content)

    monkeypatch.setattr(jars, "resolve", resolve)
    content = b"forged"
    with pytest.raises(RunnerUnavailableError, match="another file"):
        jars.fetch(pinned)
    assert not (pinned / missing.file_name).exists()
    content = b"content"
    jars.fetch(pinned)
    assert (pinned / missing.file_name).read_bytes() == b"content"
    assert sorted(path.name for path in pinned.iterdir()) == sorted(
        jar.file_name for jar in jars.pinned_jars()
    )


def test_ivy_gets_a_whole_path_for_a_relative_directory(
    pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = jars.pinned_jars()[1]
    (pinned / missing.file_name).unlink()

    def resolve(_: list[Jar], work: Path) -> None:
        assert work.is_relative_to(pinned)
        arrived = work / "ivy" / "jars" / f"{missing.group}_{missing.file_name}"
        arrived.parent.mkdir(parents=True)
        arrived.write_bytes(b"content")

    monkeypatch.setattr(jars, "resolve", resolve)
    monkeypatch.chdir(pinned.parent)
    assert jars.fetch(Path(pinned.name)) == jars.fetch(pinned)


def test_the_cache_of_maven_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have a description without its jar, which Ivy then does not look for elsewhere."""
    asked: list[dict[str, str]] = []

    def run(*_: object, env: dict[str, str], **__: object) -> CompletedProcess[str]:
        asked.append(env)
        return CompletedProcess([], 0, "", "")

    monkeypatch.setattr(jars, "prepare_home", lambda *_: tmp_path)
    monkeypatch.setattr(jars, "find_java", lambda *_: None)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dours=1")
    jars.resolve(jars.pinned_jars(), tmp_path)
    assert asked[0]["SPARK_SUBMIT_OPTS"].split() == ["-Dours=1", f"-Duser.home={tmp_path}"]


def version_of(jar: Jar) -> tuple[int, ...]:
    return tuple(map(int, jar.version.split(".")))


@pytest.mark.parametrize(
    ("installed", "artifact"),
    [
        ("3.5.9", "iceberg-spark-runtime-3.5_2.12"),
        ("4.1.4", "iceberg-spark-runtime-4.1_2.13"),
        ("", "iceberg-spark-runtime-4.1_2.13"),
    ],
)
def test_icebergs_runtime_is_that_of_the_installed_pyspark(
    installed: str, artifact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(installed, monkeypatch)
    assert jars.pinned_jars()[0].artifact == artifact


def test_a_pyspark_without_a_runtime_is_refused_by_its_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install("4.2.0", monkeypatch)
    with pytest.raises(
        RunnerUnavailableError, match=r"pyspark 4\.2\.0 is installed; .* Spark 3\.5 and 4\.1"
    ):
        jars.pinned_jars()


def install(pyspark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this version of pyspark be installed; none, if it is empty."""

    def version(name: str) -> str:
        if not pyspark:
            raise PackageNotFoundError(name)
        return pyspark

    monkeypatch.setattr(jars, "version", version)


def test_every_pin_is_whole() -> None:
    assert all(
        len(jar.sha256) == 64 and jar.version and jar.group
        for jar in (*RUNTIMES.values(), *DATABASES.values(), *chain(*SETS.values()))
    )


def test_guard_13_the_iceberg_that_runs_expiry_is_new_enough_for_several_refs() -> None:
    assert min(map(version_of, RUNTIMES.values())) >= (1, 10), (
        "before 1.10 expiry could delete wrongly where a table has several refs"
    )


def test_guard_15_this_iceberg_version_checks_all_files_before_it_drops_a_delete() -> None:
    assert min(map(version_of, RUNTIMES.values())) >= (1, 12), (
        "1.11 drops equality deletes that only files of another spec need"
    )
