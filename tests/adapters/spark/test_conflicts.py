"""Writers that meet our procedures on real tables: they win, nothing is lost, and we say what
happened.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.spark.states import classify, find_conflict
from maintainer.adapters.spark.tracking import failure
from maintainer.domain.conflict import ConflictKind
from maintainer.domain.job import FailureReason
from tests.adapters.spark import conflict_scenes
from tests.adapters.spark.lakes import WallClock
from tests.project.repository import ROOT

PACKAGE = ROOT / "maintainer"


@dataclass(frozen=True)
class Played:
    causes: list[tuple[str, str]]
    result: Mapping[str, Any]
    facts: Mapping[str, Any]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Played]:
    """All scenes, played once in a Spark of their own."""
    place = os.environ.get("ICEBERG_JARS") or str(
        Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars"
    )
    jars = ",".join(str(jar) for jar in sorted(Path(place).glob("*.jar")))
    command = [
        sys.executable,
        "-m",
        conflict_scenes.__name__,
        str(tmp_path_factory.mktemp("conflicts")),
        jars,
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        answer["scene"]: Played(
            [(cause["class"], cause["message"]) for cause in answer["causes"]],
            answer["result"],
            answer["facts"],
        )
        for answer in answers
    }


spark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(960),
    pytest.mark.xdist_group("conflicts"),
]


@pytest.mark.parametrize(
    ("scene", "kind"),
    [
        pytest.param("new_position_delete", ConflictKind.NEW_DELETES, marks=spark),
        pytest.param("files_gone", ConflictKind.FILES_GONE, marks=spark),
        pytest.param("deletes_gone", ConflictKind.FILES_GONE, marks=spark),
        pytest.param("manifests_gone", ConflictKind.MANIFESTS_GONE, marks=spark),
        pytest.param("all_commits_lost", ConflictKind.COMMITS_LOST, marks=spark),
        pytest.param("requirement", ConflictKind.REQUIREMENT_FAILED, marks=spark),
    ],
)
def test_guard_16_what_spark_says_of_a_lost_commit_is_a_conflict_of_its_kind(
    scenes: Mapping[str, Played], scene: str, kind: ConflictKind
) -> None:
    played = scenes[scene]
    assert classify(played.causes) is FailureReason.CONFLICT, played
    assert find_conflict(played.causes) is kind
    reported = failure(played.causes, WallClock().now()).message
    assert 0 < len(reported) < 400, reported
    assert "replace" not in played.facts["operations"], (
        "the writer won, and nothing of ours was committed"
    )


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param("new_position_delete", marks=spark),
        pytest.param("new_equality_delete", marks=spark),
    ],
)
def test_guard_15_a_row_that_is_deleted_while_its_file_is_rewritten_stays_deleted(
    scenes: Mapping[str, Played], scene: str
) -> None:
    facts = scenes[scene].facts
    assert (facts["rows"], facts["ids"], facts["deleted"]) == (299, 299, 0)


@pytest.mark.parametrize("scene", [pytest.param("new_equality_delete", marks=spark)])
def test_guard_15_the_starting_sequence_number_lets_an_equality_delete_in_the_middle_pass(
    scenes: Mapping[str, Played], scene: str
) -> None:
    played = scenes[scene]
    assert played.causes == []
    assert played.facts["operations"] == ["append", "delete", "replace"]


@pytest.mark.parametrize("scene", [pytest.param("old_spec_delete", marks=spark)])
def test_guard_15_a_delete_by_a_writer_of_the_old_spec_is_not_dropped_as_dangling(
    scenes: Mapping[str, Played], scene: str
) -> None:
    """Its own spec has no data file left; it applies to the new files, whose sequence number is
    lower.
    """
    played = scenes[scene]
    assert played.causes == []
    assert played.facts["operations"] == ["append", "delete", "replace"], (
        "the delete came while the files were rewritten"
    )
    assert (played.facts["rows"], played.facts["ids"], played.facts["deleted"]) == (299, 299, 0)


@pytest.mark.parametrize("scene", [pytest.param("delete_for_all_specs", marks=spark)])
def test_guard_15_a_global_equality_delete_stays_while_it_applies_to_another_spec(
    scenes: Mapping[str, Played], scene: str
) -> None:
    played = scenes[scene]
    assert played.causes == []
    assert played.result["removed_delete_files_count"] == 1, (
        "the position delete in the partition that was rewritten"
    )
    assert played.facts["operations"] == ["append", "delete", "delete", "replace", "replace"]
    assert (played.facts["rows"], played.facts["ids"], played.facts["deleted"]) == (298, 298, 0)


@pytest.mark.parametrize("scene", [pytest.param("dangling_deletes_met", marks=spark)])
def test_guard_16_a_writer_between_a_rewrite_and_the_removal_of_dangling_deletes_is_a_conflict(
    scenes: Mapping[str, Played], scene: str
) -> None:
    played = scenes[scene]
    assert find_conflict(played.causes) is ConflictKind.SNAPSHOT_CHANGED, played
    assert played.facts["operations"] == ["append", "delete", "replace", "delete"], (
        "the rewrite is committed, and no delete file was removed"
    )
    assert (played.facts["rows"], played.facts["deleted"]) == (298, 0)


@pytest.mark.parametrize("scene", [pytest.param("lost_commits", marks=spark)])
def test_guard_16_iceberg_itself_calls_a_rewrite_that_lost_commits_a_success(
    scenes: Mapping[str, Played], scene: str
) -> None:
    played = scenes[scene]
    assert played.causes == []
    assert (
        played.result["rewritten_data_files_count"],
        played.result["failed_data_files_count"],
    ) == (9, 0), "of ten: this is what compare() must find out"
    assert (played.facts["rows"], played.facts["ids"]) == (270, 270)


@pytest.mark.parametrize(
    "scene", [pytest.param("merge_copies", marks=spark), pytest.param("merge_marks", marks=spark)]
)
def test_a_rewrite_that_no_longer_waits_for_quiet_can_fail_a_merge_beside_it_which_loses_nothing(
    scenes: Mapping[str, Played], scene: str
) -> None:
    """As docs/policies.md says of hot_partition_age: 0s and of wait_for_quiet."""
    played = scenes[scene]
    assert played.causes == [], "our rewrite committed first"
    assert any("ValidationException" in cause["class"] for cause in played.result["refused"]), (
        played.result
    )
    assert played.result["operations_before_the_second_try"] == ["append", "replace"], (
        "nothing of the MERGE that failed is in the table"
    )
    assert (played.facts["rows"], played.facts["ids"], played.result["merged"]) == (310, 310, 20), (
        "the second try did all of it, once"
    )


def test_guard_16_nothing_of_ours_touches_a_writers_isolation_level() -> None:
    reported = {
        path.relative_to(ROOT)
        for path in PACKAGE.rglob("*.py")
        if "isolation-level" in path.read_text(encoding="utf-8")
    }
    assert reported == set(), "no statement, option or property of ours may have it"
    changing = {
        path.relative_to(PACKAGE).parts[:2]
        for path in PACKAGE.rglob("*.py")
        if "TBLPROPERTIES" in path.read_text(encoding="utf-8").upper()
    }
    assert changing <= {("adapters", "demo")}, (
        "only the demonstration's own tables are given properties"
    )
