from __future__ import annotations

import hashlib
from dataclasses import replace
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
    monkeypatch.setattr(
        jars, "PINNED_JARS", tuple(replace(jar, sha256=digest) for jar in jars.PINNED_JARS)
    )
    for jar in jars.PINNED_JARS:
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
    (pinned / jars.PINNED_JARS[0].file_name).write_bytes(b"other")
    with pytest.raises(RunnerUnavailableError, match="SHA-256"):
        jars.find_jars(pinned, with_s3=False)


def test_nothing_is_fetched_when_all_is_there(
    pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("it went to the network")

    monkeypatch.setattr(jars, "_resolve", refuse)
    assert len(jars.fetch(pinned)) == 3


def test_only_what_is_missing_is_fetched_and_what_arrives_is_checked(
    pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = jars.PINNED_JARS[1]
    (pinned / missing.file_name).unlink()
    content = b"content"

    def resolve(wanted: list[jars.Jar], work: Path) -> None:
        assert wanted == [missing]
        arrived = work / "ivy" / "jars" / f"{missing.group}_{missing.file_name}"
        arrived.parent.mkdir(parents=True)
        arrived.write_bytes(content)

    monkeypatch.setattr(jars, "_resolve", resolve)
    content = b"forged"
    with pytest.raises(RunnerUnavailableError, match="something else"):
        jars.fetch(pinned)
    assert not (pinned / missing.file_name).exists()
    content = b"content"
    jars.fetch(pinned)
    assert (pinned / missing.file_name).read_bytes() == b"content"
    assert sorted(path.name for path in pinned.iterdir()) == sorted(
        jar.file_name for jar in jars.PINNED_JARS if jar.purpose == "always"
    )


def test_every_pin_is_whole() -> None:
    assert all(len(jar.sha256) == 64 and jar.version and jar.group for jar in jars.PINNED_JARS)


def test_guard_13_the_iceberg_that_runs_expiry_is_new_enough_for_several_refs() -> None:
    runtime = next(
        jar for jar in jars.PINNED_JARS if jar.artifact.startswith("iceberg-spark-runtime")
    )
    assert tuple(map(int, runtime.version.split("."))) >= (1, 10), (
        "before 1.10 expiry could delete wrongly where a table has several refs"
    )


def test_guard_15_this_iceberg_version_checks_all_files_before_it_drops_a_delete() -> None:
    runtime = next(
        jar for jar in jars.PINNED_JARS if jar.artifact.startswith("iceberg-spark-runtime")
    )
    assert tuple(map(int, runtime.version.split("."))) >= (1, 12), (
        "1.11 drops equality deletes that only files of another spec need"
    )
