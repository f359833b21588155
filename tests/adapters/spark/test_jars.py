from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from maintainer.adapters.spark import jars
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
        if jar.purpose == "always":
            (tmp_path / jar.file_name).write_bytes(b"content")
    return tmp_path


def test_jars_for_s3_are_asked_for_only_when_a_catalog_needs_them(pinned: Path) -> None:
    assert len(jars.find_jars(pinned, with_s3=False)) == 3
    with pytest.raises(
        RunnerUnavailableError, match=r"iceberg-aws-bundle.* is missing .*--with-s3"
    ):
        jars.find_jars(pinned, with_s3=True)


def test_a_jar_of_another_content_is_refused(pinned: Path) -> None:
    (pinned / jars.pinned_jars()[0].file_name).write_bytes(b"other")
    with pytest.raises(RunnerUnavailableError, match="SHA-256"):
        jars.find_jars(pinned, with_s3=False)


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

    def resolve(wanted: list[jars.Jar], work: Path) -> None:
        assert wanted == [missing]
        arrived = work / "ivy" / "jars" / f"{missing.group}_{missing.file_name}"
        arrived.parent.mkdir(parents=True)
        arrived.write_bytes(content)

    monkeypatch.setattr(jars, "resolve", resolve)
    content = b"forged"
    with pytest.raises(RunnerUnavailableError, match="something else"):
        jars.fetch(pinned)
    assert not (pinned / missing.file_name).exists()
    content = b"content"
    jars.fetch(pinned)
    assert (pinned / missing.file_name).read_bytes() == b"content"
    assert sorted(path.name for path in pinned.iterdir()) == sorted(
        jar.file_name for jar in jars.pinned_jars() if jar.purpose == "always"
    )


def version_of(jar: jars.Jar) -> tuple[int, ...]:
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
        for jar in (*jars.RUNTIMES.values(), *jars.COMMON_JARS)
    )


def test_guard_13_the_iceberg_that_runs_expiry_is_new_enough_for_several_refs() -> None:
    assert min(map(version_of, jars.RUNTIMES.values())) >= (1, 10), (
        "before 1.10 expiry could delete wrongly where a table has several refs"
    )


def test_guard_15_this_iceberg_version_checks_all_files_before_it_drops_a_delete() -> None:
    assert min(map(version_of, jars.RUNTIMES.values())) >= (1, 12), (
        "1.11 drops equality deletes that only files of another spec need"
    )
