"""The chart, rendered with values, and what its objects say."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from helm_python import Chart

from tests.project.repository import ROOT

CHART = ROOT / "helm/iceberg-maintainer"
NAMESPACE = "maintenance"
JOBS_NAMESPACE = f"{NAMESPACE}-jobs"  # unless the configuration names one
RELEASE = "lake"
FULLNAME = "lake-iceberg-maintainer"
SCENARIOS = tuple(sorted(path.name.removesuffix("-values.yaml") for path in CHART.glob("ci/*")))

EXAMPLES = tuple(sorted(path.stem for path in CHART.parent.glob("examples/*.yaml")))

Object = dict[str, Any]


class PodOf(NamedTuple):
    """A pod, and the kind and name of what makes it."""

    kind: str
    name: str
    labels: dict[str, str]
    spec: Object


def read_values(scenario: str) -> Object:
    """The values of a file in the chart's folder `ci`."""
    values: Object = yaml.safe_load((CHART / f"ci/{scenario}-values.yaml").read_text())
    return values


def read_example(name: str) -> Object:
    """The values of a file in helm/examples."""
    values: Object = yaml.safe_load((CHART.parent / f"examples/{name}.yaml").read_text())
    return values


def unpack_former_chart(directory: Path) -> Path:
    """The chart before the last commit that changed its templates."""
    log = ["git", "log", "-2", "--format=%H", "--", f"{CHART.relative_to(ROOT)}/templates"]
    found = subprocess.run(log, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    if len(found.split()) < 2:
        pytest.skip("this clone has no commit with another chart")
    archive = ["git", "archive", found.split()[1], str(CHART.relative_to(ROOT))]
    packed = subprocess.run(archive, cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(directory)], check=True, input=packed)
    return directory / CHART.relative_to(ROOT)


def render_files(values: Object) -> dict[str, str]:
    with Chart.load(CHART) as chart:
        return chart.render(values, name=RELEASE, namespace=NAMESPACE)


def render(values: Object) -> list[Object]:
    """All objects, hooks included."""
    return [
        document
        for name, text in render_files(values).items()
        if not name.endswith("NOTES.txt")
        for document in yaml.safe_load_all(text)
        if document
    ]


@cache
def _render_scenario(scenario: str) -> tuple[Object, ...]:
    return tuple(render(read_values(scenario)))


@cache
def render_example(name: str) -> tuple[Object, ...]:
    return tuple(render(read_example(name)))


def objects(scenario: str, kind: str = "") -> list[Object]:
    """The objects of a scenario, of one kind or all."""
    return [each for each in _render_scenario(scenario) if kind in {"", each["kind"]}]


def find(scenario: str, kind: str, name: str, namespace: str = NAMESPACE) -> Object:
    [found] = [
        each
        for each in objects(scenario, kind)
        if (each["metadata"]["name"], each["metadata"]["namespace"]) == (name, namespace)
    ]
    return found


def pods(scenario: str) -> Iterator[PodOf]:
    """The pods of a scenario."""
    return pods_of(objects(scenario))


def pods_of(documents: Iterable[Object]) -> Iterator[PodOf]:
    """The pods that the objects make, and those that are objects."""
    for each in documents:
        template = each if each["kind"] == "Pod" else each.get("spec", {}).get("template")
        if template is not None:
            labels = template["metadata"]["labels"]
            yield PodOf(each["kind"], each["metadata"]["name"], labels, template["spec"])


def containers(pod: PodOf) -> list[Object]:
    return [*pod.spec.get("initContainers", ()), *pod.spec["containers"]]
