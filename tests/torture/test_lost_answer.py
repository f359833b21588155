"""What is known of Iceberg's JDBC catalog when the answer to a commit is lost: the day this
changes, docs/torture.md and its troubles change too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.end_to_end.programs import environment
from tests.project.repository import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What came of each statement, by its name."""
    command = [
        sys.executable,
        "-m",
        "tests.torture.lost_answer",
        str(tmp_path_factory.mktemp("lake")),
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=environment(SPARK_LOCAL_IP="127.0.0.1"),
    )
    assert done.returncode == 0, done.stderr[-4000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {one["name"]: one for one in lines}


def test_a_rewrite_of_data_files_finds_its_own_commit(found: dict[str, dict[str, Any]]) -> None:
    one = found["rewrite_data_files"]
    assert one["lost"] == 1
    assert (one["said"], one["operation"], one["rows"]) == ("", "replace", 3)


def test_a_rewrite_of_manifests_takes_its_own_commit_for_a_failure_and_deletes_its_manifest_list(
    found: dict[str, dict[str, Any]],
) -> None:
    one = found["rewrite_manifests"]
    assert one["lost"] == 2
    assert "could not be found in the latest snapshot" in one["said"]
    assert (one["operation"], one["rows"]) == ("replace", None)


def test_rolling_back_brings_every_row_back(found: dict[str, dict[str, Any]]) -> None:
    assert {name: one["rolled_back"] for name, one in found.items()} == {
        name: {"operation": "append", "rows": 3} for name in found
    }
