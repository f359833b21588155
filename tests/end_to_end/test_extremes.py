"""Tables as bad and as large as they come, in one catalog, measured by one scan: right figures, or
a reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import extreme_lake
from tests.end_to_end.extreme_lake import (
    FILE_BYTES,
    FIVE_TERABYTE_RECORDS,
    FIVE_TERABYTES,
    HISTORY,
    MANIFESTS,
    PARTITIONS,
)
from tests.end_to_end.programs import run, run_json
from tests.plain_manifests import check_every_manifest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

TABLES = {
    "plain",
    "empty",
    "corrupt_manifest",
    "truncated_list",
    "long_history",
    "many_partitions",
    "wide",
    "one_huge_file",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("extremes")
    extreme_lake.build(directory)
    return directory


@pytest.fixture(scope="module")
def scanned(home: Path) -> dict[str, Any]:
    return {one["table"].removeprefix("lake.x."): one for one in run_json("scan", cwd=home)}


def test_no_table_stops_the_scan_and_none_is_left_out(scanned: dict[str, Any]) -> None:
    assert scanned.keys() == TABLES
    assert not [name for name, one in scanned.items() if "fault" in one]
    assert {name for name, one in scanned.items() if one["unreadable"]} == {
        "corrupt_manifest",
        "truncated_list",
    }
    assert not [name for name, one in scanned.items() if one["disagreements"]]


def test_a_sound_table_beside_them_is_measured(scanned: dict[str, Any]) -> None:
    plain = scanned["plain"]
    assert (plain["data_files"], plain["records"], plain["manifests"], plain["snapshots"]) == (
        3,
        9,
        3,
        3,
    )


def test_a_corrupt_manifest_is_named_with_what_is_wrong_and_no_total_is_guessed(
    scanned: dict[str, Any],
) -> None:
    broken = scanned["corrupt_manifest"]
    (piece,) = broken["unreadable"]
    assert piece["path"].endswith("-m0.avro")
    assert piece["reason"].startswith("manifest: ")
    assert "marker" in piece["reason"]
    assert (
        broken["data_files"],
        broken["data_bytes"],
        broken["records"],
        broken["average_file_size_bytes"],
    ) == (None, None, None, None)
    assert (broken["snapshots"], broken["metadata_files"]) == (3, 4)


def test_a_manifest_list_cut_short_is_named_with_what_is_wrong(scanned: dict[str, Any]) -> None:
    broken = scanned["truncated_list"]
    (piece,) = broken["unreadable"]
    assert "/snap-" in piece["path"]
    assert piece["reason"].startswith("manifest list: ")
    assert (broken["data_files"], broken["manifests"], broken["snapshots"]) == (None, None, 3)


def test_ten_thousand_snapshots_are_counted(scanned: dict[str, Any]) -> None:
    long = scanned["long_history"]
    assert (long["snapshots"], long["data_files"], long["records"]) == (HISTORY, 1, 3)
    assert round(long["commits_per_hour"]) == 60


def test_a_hundred_thousand_partitions_add_up(scanned: dict[str, Any]) -> None:
    many = scanned["many_partitions"]
    assert (many["partitions"], many["data_files"], many["manifests"]) == (
        PARTITIONS,
        PARTITIONS,
        MANIFESTS,
    )
    assert (many["data_bytes"], many["records"]) == (PARTITIONS * FILE_BYTES, PARTITIONS * 10)
    assert many["small_files"] == PARTITIONS
    assert many["average_file_size_bytes"] == FILE_BYTES


def test_statistics_of_two_hundred_columns_are_no_hindrance(scanned: dict[str, Any]) -> None:
    assert (scanned["wide"]["data_files"], scanned["wide"]["records"]) == (1, 3)


def test_an_empty_table_has_nothing_rather_than_something_unknown(scanned: dict[str, Any]) -> None:
    empty = scanned["empty"]
    assert (
        empty["snapshot_id"],
        empty["data_files"],
        empty["data_bytes"],
        empty["records"],
        empty["manifests"],
    ) == (None, 0, 0, 0, 0)
    assert (empty["average_file_size_bytes"], empty["snapshots"]) == (None, 0)


def test_one_file_of_five_terabytes_is_measured_as_such(scanned: dict[str, Any]) -> None:
    huge = scanned["one_huge_file"]
    assert (huge["data_files"], huge["data_bytes"], huge["records"]) == (
        1,
        FIVE_TERABYTES,
        FIVE_TERABYTE_RECORDS,
    )
    assert (huge["average_file_size_bytes"], huge["small_files"], huge["histogram"][-1]) == (
        FIVE_TERABYTES,
        0,
        1,
    )


def test_a_second_scan_reads_no_entry_again(home: Path, scanned: dict[str, Any]) -> None:
    costs = {
        one["table"].removeprefix("lake.x."): one["cost"]
        for one in run_json("scan", "lake.x.*", "--explain", cwd=home)
    }
    assert costs.keys() == scanned.keys()
    assert sum(cost["entries_read"] for cost in costs.values()) == 0
    assert costs["many_partitions"]["manifests_reused"] == MANIFESTS


def test_every_manifest_that_can_be_read_is_read_as_fastavro_reads_it(home: Path) -> None:
    checked = check_every_manifest(home / "warehouse")
    assert {path.partition("/x/")[2].partition("/")[0] for path in checked.refused} == {
        "corrupt_manifest",
        "truncated_list",
    }
    assert len(checked.refused) == 2
    assert checked.entries > PARTITIONS


def test_plans_and_checks_go_on_beside_what_is_unreadable(
    home: Path, scanned: dict[str, Any]
) -> None:
    plans = {one["table"].removeprefix("lake.x."): one for one in run_json("plan", cwd=home)}
    assert plans.keys() == scanned.keys()
    for name in ("corrupt_manifest", "truncated_list"):
        assert plans[name]["planned"] == []
    assert "Traceback" not in run("check", cwd=home).stderr
