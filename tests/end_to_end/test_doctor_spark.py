"""`maintainer doctor --spark` and `--scratch` where drivers are pods.

The API server is the tests' own; the pods' processes, Spark and the scratch table are real.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.spark.lakes import Lake
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE
from tests.end_to_end.outliving import configure
from tests.end_to_end.places import Place, on_kubernetes
from tests.end_to_end.programs import run_json, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(300)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with on_kubernetes(tmp_path) as place:
        yield place


def test_doctor_starts_a_pod_maintains_a_scratch_table_and_leaves_neither(
    empty_lake: Lake, place: Place
) -> None:
    configure(empty_lake, place.spark)
    empty_lake.catalog.create_namespace("scratch")
    found = run_json("doctor", "--scratch", "lake.scratch", cwd=empty_lake.root)
    said = {each["what"]: each["finding"] for each in found}
    assert said["CALL in lake.scratch"].startswith("rewrote 2 of 2 files")
    assert empty_lake.catalog.list_tables("scratch") == []
    wait_for(lambda: not place.drivers(), 60, "the pod to be gone")


def test_doctor_says_why_a_pod_does_not_start_and_deletes_it(
    empty_lake: Lake, place: Place
) -> None:
    absent = place.spark.replace(IMAGE, "registry.example/absent:1")
    configure(empty_lake, f"{absent}  start_timeout: 20s\n")
    found = run_json("doctor", "--spark", cwd=empty_lake.root, code=1)
    said = {each["what"]: each["finding"] for each in found if not each["is_fine"]}
    assert list(said) == ["Spark starts"]
    assert "did not start within 20 s; the image" in said["Spark starts"]
    assert 'pulling image "registry.example/absent:1"' in said["Spark starts"]
    wait_for(lambda: not place.drivers(), 60, "the pod to be gone")
