"""What a driver on another machine finds there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from maintainer.adapters.spark.driver.jvm import GATEWAY
from maintainer.adapters.spark.driver.surroundings import (
    JARS,
    WORK,
    complete_settings,
    name_user,
    remove_directory,
)

SENT = {"java_options": "-XX:+UseSerialGC", "conf": {"spark.master": "local[2]"}}


def test_settings_of_a_daemon_on_the_same_machine_are_complete() -> None:
    settings = {"directory": "/run/here", "jars": ["/a.jar"], **SENT}
    assert complete_settings(settings, {}) == settings


def test_a_directory_that_the_daemon_chose_is_left_to_it(tmp_path: Path) -> None:
    remove_directory(complete_settings({"directory": str(tmp_path)}, {}))
    assert tmp_path.is_dir()


def test_a_driver_on_another_machine_finds_its_directory_and_its_jars(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    for name in ("b.jar", "a.jar", "notes.txt"):
        (tmp_path / "jars" / name).touch()
    environ = {WORK: str(tmp_path), JARS: str(tmp_path / "jars")}
    settings = complete_settings(dict(SENT), environ)
    directory = Path(settings["directory"])
    assert directory.is_dir()
    assert directory.parent == tmp_path
    assert settings["jars"] == [str(tmp_path / "jars" / name) for name in ("a.jar", "b.jar")]
    assert settings["java_options"] == f"-XX:+UseSerialGC -Djava.io.tmpdir={directory}"
    assert settings["conf"] == {
        "spark.master": "local[2]",
        "spark.local.dir": str(directory),
        "spark.sql.warehouse.dir": (directory / "warehouse").as_uri(),
    }
    remove_directory(settings)
    assert not directory.exists()
    assert Path(environ["SPARK_HOME"], "bin", "spark-submit").is_file()
    assert environ["PYSPARK_PYTHON"] == sys.executable


def test_in_an_application_of_yarn_the_cluster_has_brought_the_jars(tmp_path: Path) -> None:
    environ = {WORK: str(tmp_path), GATEWAY: "4711"}
    settings = complete_settings({"java_options": "-x", "conf": {"spark.master": "yarn"}}, environ)
    directory = Path(settings["directory"])
    assert directory.parent == tmp_path
    assert settings["conf"] == {
        "spark.master": "yarn",
        "spark.sql.warehouse.dir": (directory / "warehouse").as_uri(),
    }
    assert "jars" not in settings
    remove_directory(settings)
    assert not directory.exists()


def test_settings_that_were_sent_stay(tmp_path: Path) -> None:
    (tmp_path / "a.jar").touch()
    environ = {JARS: str(tmp_path), WORK: str(tmp_path), "SPARK_HOME": "/opt/spark"}
    sent = {"conf": {"spark.local.dir": "/fast"}}
    assert complete_settings(sent, environ)["conf"]["spark.local.dir"] == "/fast"
    assert environ["SPARK_HOME"] == "/opt/spark"


def test_a_machine_without_jars_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=f"there are no jars in {tmp_path}; {JARS} names"):
        complete_settings(dict(SENT), {JARS: str(tmp_path), WORK: str(tmp_path)})


def test_executors_fetch_the_jars_from_the_driver(tmp_path: Path) -> None:
    (tmp_path / "a.jar").touch()
    environ = {JARS: str(tmp_path), WORK: str(tmp_path)}
    for master, jars in (
        ("k8s://https://kubernetes.default.svc", f"file://{tmp_path}/a.jar"),
        ("spark://10.0.0.1:7077", f"file://{tmp_path}/a.jar"),
        ("local[2]", None),
    ):
        conf = complete_settings({"master": master, "conf": {}}, environ)["conf"]
        assert conf.get("spark.jars") == jars


@pytest.fixture
def wrapper(tmp_path: Path) -> Path:
    """A root directory with the library that gives names to users."""
    library = tmp_path / "usr/lib/x86_64-linux-gnu/libnss_wrapper.so"
    library.parent.mkdir(parents=True)
    library.touch()
    return library


def test_a_user_without_a_name_gets_one(
    wrapper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1_000_730_000)
    monkeypatch.setattr("os.getgid", lambda: 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    environ = {"HOME": "/var/lib/maintainer", "LD_PRELOAD": "other.so"}
    name_user(environ, tmp_path)
    assert environ["LD_PRELOAD"] == f"other.so {wrapper}"
    assert Path(environ["NSS_WRAPPER_PASSWD"]).read_text() == (
        "maintainer:x:1000730000:0::/var/lib/maintainer:/bin/false\n"
    )
    assert Path(environ["NSS_WRAPPER_GROUP"]).read_text() == "maintainer:x:0:\n"


def test_a_user_with_a_name_keeps_it(wrapper: Path, tmp_path: Path) -> None:
    assert wrapper.exists()
    environ: dict[str, str] = {}
    name_user(environ, tmp_path)
    assert environ == {}


def test_without_the_library_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1_000_730_000)
    environ: dict[str, str] = {}
    name_user(environ, tmp_path)
    assert environ == {}
