"""The wheel, with what it requires from the registries: make release-check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.wheel import UV, call, make_environment
from tests.project.repository import ROOT, read_pyproject

pytestmark = pytest.mark.timeout(1800)

VERSION = read_pyproject()["project"]["version"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel that the source distribution makes, and Spark's jars."""
    place = tmp_path_factory.mktemp("release")
    built = call(UV, "build", "--out-dir", place / "dist", ROOT, cwd=place)
    assert built.returncode == 0, built.stderr
    [wheel] = (place / "dist").glob("*.whl")
    assert [file.name for file in (place / "dist").glob("*.tar.gz")] == [
        f"iceberg_maintainer-{VERSION}.tar.gz"
    ]
    python = make_environment(place / "environment")
    done = call(
        *(UV, "pip", "install", "--python", python, "--constraint", ROOT / "requirements.lock"),
        f"{wheel}[spark]",
        cwd=place,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    fetched = call(python, "-m", "maintainer.adapters.spark.jars", cwd=place, timeout=600)
    assert fetched.returncode == 0, fetched.stderr
    return place / "environment"


def test_the_wheel_with_its_requirements_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    maintainer = installed / "bin/maintainer"
    assert VERSION in call(maintainer, "--version", cwd=tmp_path).stdout
    examined = call(maintainer, "doctor", "--deadline", "60s", "--format", "json", cwd=tmp_path)
    bad = [one for one in json.loads(examined.stdout) if not one["is_fine"]]
    assert not [one for one in bad if one["what"] in {"Spark", "Spark jars", "web page"}], bad
    done = call(maintainer, "demo", "--once", "--dir", "lake", cwd=tmp_path, timeout=840)
    assert done.returncode == 0, done.stderr
    assert "succeeded" in done.stdout
