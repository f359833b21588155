"""The wheel as a user gets it: built from the sources, and installed in an environment of its own.

A new environment holds the wheel, and links to those packages of this environment that the wheel
requires. No registry is asked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

from maintainer.adapters.spark.jars import default_directory
from tests.project.repository import ROOT

UV = Path(sys.executable).parent / "uv"
SOURCES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md")


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


def find_required(wheel: Distribution, extras: frozenset[str]) -> Iterator[Distribution]:
    """What the wheel requires with these extras, here; and what that requires, and so on."""
    waiting: list[tuple[Distribution, frozenset[str]]] = [(wheel, extras)]
    seen = set(waiting)
    while waiting:
        owner, wanted = waiting.pop()
        for requirement in map(Requirement, owner.requires or ()):
            if requirement.marker is not None and not any(
                requirement.marker.evaluate({"extra": extra}) for extra in wanted | {""}
            ):
                continue
            found = (distribution(requirement.name), frozenset(requirement.extras))
            if found not in seen:
                seen.add(found)
                waiting.append(found)
                yield found[0]


def link_required(packages: Path, extras: frozenset[str]) -> None:
    """Link the packages that the installed wheel requires into the environment it lies in."""
    (wheel,) = distributions(name="iceberg-maintainer", path=[str(packages)])
    for required in find_required(wheel, extras):
        for name in {file.parts[0] for file in required.files or ()} - {"..", "__pycache__"}:
            link = packages / name
            if not link.exists():
                link.symlink_to(Path(str(required.locate_file(name))))


def build_wheel(place: Path) -> Path:
    """The wheel, built from a copy of the sources that is gone afterwards."""
    sources = copy_sources(place / "sources", with_page=True)
    built = call_uv("build", "--wheel", "--out-dir", place / "dist", cwd=sources)
    assert built.returncode == 0, built.stderr
    shutil.rmtree(sources)
    (found,) = (place / "dist").glob("*.whl")
    return found


def install(wheel: Path, place: Path, *extras: str) -> Path:
    """An environment in which the wheel is installed with these extras."""
    python = make_environment(place)
    done = call_uv("pip", "install", "--no-deps", "--python", python, wheel, cwd=place)
    assert done.returncode == 0, done.stderr
    packages = next((place / "lib").glob("python3*")) / "site-packages"
    link_required(packages, frozenset(extras))
    return place


def link_jars(place: Path) -> None:
    """The jars of this environment: fetching them is the one step of an installation that no test
    takes.
    """
    jars = place / default_directory().relative_to(sys.prefix)
    jars.parent.mkdir(parents=True, exist_ok=True)
    jars.symlink_to(default_directory())
