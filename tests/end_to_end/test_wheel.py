"""The wheel, as a user gets it: built only with its page, and at work in an environment of its own,
one with the extra for Spark, one without any. test_demo has its Spark at work.
"""

from __future__ import annotations

import json
from importlib.metadata import distributions
from pathlib import Path

import pyarrow as pa
import pytest
from packaging.utils import canonicalize_name
from pyiceberg.catalog import load_catalog

from tests.end_to_end.programs import serving, wait_for
from tests.end_to_end.wheel import (
    build_wheel,
    call,
    call_uv,
    copy_sources,
    install,
    make_environment,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


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
    assert "pip install 'iceberg-maintainer[hive]'" in missing["catalog other"]
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
