"""The wheel, as a user gets it: built only with its page, and at work in an environment of its own.

The new environment holds the wheel alone. What the wheel depends on comes from this environment by
a path file, without its own path files: the editable installation of this repository is not seen
there. No registry is asked.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from maintainer.adapters.spark.jars import default_directory
from tests.project.repository import ROOT

UV = Path(sys.executable).parent / "uv"
SOURCES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def call(
    *words: str | Path, cwd: Path, more: Mapping[str, str] | None = None, timeout: int = 300
) -> subprocess.CompletedProcess[str]:
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "COLUMNS"}
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in dropped and not name.startswith("MAINTAINER_")
    }
    command = [str(word) for word in words]
    return subprocess.run(
        command,
        cwd=cwd,
        env={**environment, **(more or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def call_uv(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """From uv's cache, where make setup left what builds this project; from the registry only where
    that was cleaned.
    """
    done = call(UV, *words, cwd=cwd, more={"UV_OFFLINE": "1"})
    return (
        call(UV, *words, cwd=cwd) if done.returncode and "offline" in done.stderr.lower() else done
    )


def copy_sources(to: Path, *, with_page: bool) -> Path:
    """What the package is built from; the page is the built one, or in its place one line where it
    is not built here.
    """
    to.mkdir()
    for name in SOURCES:
        shutil.copy(ROOT / name, to)
    shutil.copytree(
        ROOT / "maintainer", to / "maintainer", ignore=shutil.ignore_patterns("page", "__pycache__")
    )
    page = to / "maintainer/api/page"
    if with_page and (ROOT / "maintainer/api/page/index.html").is_file():
        shutil.copytree(ROOT / "maintainer/api/page", page)
    elif with_page:
        page.mkdir()
        (page / "index.html").write_text("<!doctype html><title>page</title>")
    return to


def make_environment(place: Path) -> Path:
    """An environment without any package; returns its Python."""
    venv.create(place, with_pip=False, symlinks=True)
    return place / "bin/python"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment in which the wheel is installed."""
    place = tmp_path_factory.mktemp("wheel")
    sources = copy_sources(place / "sources", with_page=True)
    built = call_uv("build", "--wheel", "--out-dir", place / "dist", cwd=sources)
    assert built.returncode == 0, built.stderr
    python = make_environment(place / "environment")
    (wheel,) = (place / "dist").glob("*.whl")
    done = call_uv("pip", "install", "--no-deps", "--python", python, wheel, cwd=place)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(sources)
    packages = next((place / "environment/lib").glob("python3*")) / "site-packages"
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "environment"


@pytest.mark.parametrize("kind", ["--wheel", "--sdist"])
def test_no_distribution_is_built_without_the_page(tmp_path: Path, kind: str) -> None:
    sources = copy_sources(tmp_path / "sources", with_page=False)
    built = call_uv("build", kind, "--out-dir", tmp_path / "dist", cwd=sources)
    assert built.returncode != 0
    assert "the web page is not built: maintainer/api/page/index.html is missing" in built.stderr
    assert not list(tmp_path.glob("dist/iceberg*"))


def test_an_editable_installation_needs_no_page(tmp_path: Path) -> None:
    sources = copy_sources(tmp_path / "sources", with_page=False)
    python = make_environment(tmp_path / "environment")
    done = call_uv(
        "pip", "install", "--no-deps", "--python", python, "--editable", sources, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_what_runs_is_the_wheel_with_its_page_and_migrations(
    installed: Path, tmp_path: Path
) -> None:
    where = call(
        installed / "bin/python",
        "-c",
        "import maintainer; print(maintainer.__file__)",
        cwd=tmp_path,
    ).stdout
    assert Path(where.strip()).is_relative_to(installed)
    (tmp_path / "maintainer.yaml").write_text(
        "catalogs: {lake: {type: rest, uri: 'http://127.0.0.1:1'}}\n"
    )
    examined = call(
        installed / "bin/maintainer",
        "doctor",
        "--deadline",
        "60s",
        "--format",
        "json",
        cwd=tmp_path,
    )
    found = {one["what"]: one["is_fine"] for one in json.loads(examined.stdout)}
    assert found["web page"]
    assert found["Spark"]
    assert not found["Spark jars"], "nothing has fetched them into the new environment"
    assert call(installed / "bin/maintainer", "jobs", "--help", cwd=tmp_path).returncode == 0


def test_missing_jars_are_named_before_anything_is_made(installed: Path, tmp_path: Path) -> None:
    done = call(installed / "bin/maintainer", "demo", "--once", "--dir", "lake", cwd=tmp_path)
    assert done.returncode == 1
    assert "error: Spark jars: jar iceberg-spark-runtime" in done.stderr
    assert f"fetch it with: {installed}/bin/python -m maintainer.adapters.spark.jars" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_the_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    """The jars are those of this environment: fetching them is the one step of an installation that
    is not tried here.
    """
    jars = installed / default_directory().relative_to(sys.prefix)
    jars.parent.mkdir(parents=True, exist_ok=True)
    jars.symlink_to(default_directory())
    try:
        done = call(
            installed / "bin/maintainer",
            "demo",
            "--once",
            "--dir",
            "lake",
            cwd=tmp_path,
            timeout=840,
        )
    finally:
        jars.unlink()
    assert done.returncode == 0, done.stderr
    assert "succeeded" in done.stdout
    assert "Why nothing more is done:" in done.stdout
