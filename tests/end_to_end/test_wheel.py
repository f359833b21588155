"""The wheel, as a user gets it: built only with its page, and at work in an environment of its own.

The new environments hold the wheel, and links to those packages of this environment that the wheel
requires: one with the extra for Spark, one without any. No registry is asked.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pyarrow as pa
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pyiceberg.catalog import load_catalog

from maintainer.adapters.spark.jars import default_directory
from tests.end_to_end.programs import serving, wait_for
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources that is gone afterwards."""
    place = tmp_path_factory.mktemp("wheel")
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


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment of an installation that runs Spark."""
    return install(wheel, tmp_path_factory.mktemp("with-spark"), "spark")


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment of an installation without any extra."""
    return install(wheel, tmp_path_factory.mktemp("bare"))


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


def make_lake(home: Path) -> None:
    """A table in a SQL catalog and a policy; a second configuration has a catalog of type hive."""
    sql = {"type": "sql", "uri": f"sqlite:///{home}/catalog.db", "warehouse": f"file://{home}"}
    catalog = load_catalog("lake", **sql)
    catalog.create_namespace("sales")
    rows = pa.table({"id": [1, 2, 3]})
    catalog.create_table("sales.orders", rows.schema).append(rows)
    catalog.close()
    hive = {"type": "hive", "uri": "thrift://127.0.0.1:1"}
    for name, catalogs in (("maintainer", {"lake": sql}), ("hive", {"other": hive})):
        written = json.dumps({"catalogs": catalogs, "store": "sqlite:///store.db"})
        (home / f"{name}.yaml").write_text(written)
    (home / "policies").mkdir()
    (home / "policies/all.yaml").write_text('tables: "lake.*"\n')


def test_an_installation_without_extras_has_none_of_their_packages(bare: Path) -> None:
    packages = next((bare / "lib").glob("python3*")) / "site-packages"
    there = {canonicalize_name(found.name) for found in distributions(path=[str(packages)])}
    assert {"iceberg-maintainer", "pyiceberg", "fastapi"} <= there
    assert not there & {"pyspark", "py4j", "boto3", "thrift", "hdfs-native", "lightkube"}
    assert not there & {"pandas", "numpy", "grpcio", "botocore"}, "no part needs these"


def test_without_extras_tables_are_measured_and_served_and_doctor_names_what_is_missing(
    bare: Path, tmp_path: Path
) -> None:
    maintainer = bare / "bin/maintainer"
    make_lake(tmp_path)
    assert call(maintainer, "--help", cwd=tmp_path).returncode == 0
    checked = call(maintainer, "policies", "check", "policies", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    scanned = call(maintainer, "scan", "lake.sales.*", "--format", "json", cwd=tmp_path)
    assert scanned.returncode == 0, scanned.stderr
    assert [one["table"] for one in json.loads(scanned.stdout)] == ["lake.sales.orders"]
    examined = call(maintainer, "--config", "hive.yaml", "doctor", "--format", "json", cwd=tmp_path)
    missing = {one["what"]: one["finding"] for one in json.loads(examined.stdout)}
    assert missing["Spark"].endswith("pip install 'iceberg-maintainer[spark]'")
    assert missing["catalog other"].endswith("pip install 'iceberg-maintainer[hive]'")
    refused = call(maintainer, "run", "lake.sales.orders", "--yes", cwd=tmp_path)
    assert refused.returncode == 1
    assert "pip install 'iceberg-maintainer[spark]'" in refused.stderr
    with serving(tmp_path, program=str(maintainer), PYTHONPATH="") as daemon:
        wait_for(
            lambda: daemon.get("/api/v1/tables/lake/sales/orders")["table"] or None,
            60,
            "the table",
        )
        assert "<html" in daemon.get("/").lower()
        assert daemon.stop() == 0
    assert "spark.missing what='Spark'" in daemon.said()


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
