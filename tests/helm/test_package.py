"""The chart as a release publishes it."""

from __future__ import annotations

import tarfile
from pathlib import Path

import helm_python
import yaml

from tests.helm.charts import CHART, NAMESPACE, RELEASE, SCENARIOS, read_values, render_files
from tests.project.repository import read_pyproject

VERSION = read_pyproject()["project"]["version"]


def test_the_package_of_the_chart_renders_what_its_sources_render(tmp_path: Path) -> None:
    package = Path(helm_python.package(CHART, destination=tmp_path))
    assert package.name == f"iceberg-maintainer-{VERSION}.tgz"
    with tarfile.open(package) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        [metadata] = [name for name in archive.getnames() if name.endswith("Chart.yaml")]
        described = yaml.safe_load(archive.extractfile(metadata) or "")
    assert {"README.md", "values.yaml", "values.schema.json"} <= names
    assert not [name for name in names if name.startswith("ci/")]
    assert described["appVersion"] == VERSION
    for scenario in SCENARIOS:
        values = read_values(scenario)
        with helm_python.Chart.load_archive(package.read_bytes()) as chart:
            rendered = chart.render(values, name=RELEASE, namespace=NAMESPACE)
        assert rendered == render_files(values), scenario


def test_every_part_of_a_release_has_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    [image] = yaml.safe_load(chart["annotations"]["artifacthub.io/images"])
    assert chart["version"] == chart["appVersion"] == VERSION
    assert image["image"] == f"iceberg-maintainer:{VERSION}"
