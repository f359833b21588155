from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from maintainer.adapters.spark import orphan_files
from maintainer.adapters.spark.orphan_files import (
    read_orphans,
    read_removed,
    write_list,
    write_listing,
)
from maintainer.adapters.spark.statements.job import main_statement
from maintainer.adapters.spark.statements.orphans import orphan_statements
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundFile, FoundOrphans, RemovedOrphans

ORDERS = TableIdentifier("lake", ("sales",), "it's")
ACTION = RemoveOrphanFiles(datetime(2026, 3, 4, tzinfo=UTC), "s3://b/it's/")
WHOLE = [
    '{"schema": {}}',
    "[0]",
    '{"rows": 1}',
    '{"schema": {}}',
    '["s3://b/x"]',
    '["s3://b/y"]',
    '{"rows": 2}',
]


def test_the_tables_own_files_elsewhere_are_counted_before_the_dry_run() -> None:
    count, run = orphan_statements(ORDERS, ACTION)
    assert count == (
        "SELECT count(*) AS foreign_files FROM `lake`.`sales`.`it's`.all_files WHERE NOT "
        "startswith("
        "regexp_replace(file_path, '^([A-Za-z0-9+.-]+:)?/*', ''), "
        "regexp_replace('s3://b/it\\'s/', '^([A-Za-z0-9+.-]+:)?/*', ''))"
    )
    assert run == main_statement(ORDERS, ACTION)


def written(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "found.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))
    return path


def test_what_the_driver_found_is_read_back(tmp_path: Path) -> None:
    assert read_orphans(written(tmp_path, WHOLE)) == FoundOrphans(("s3://b/x", "s3://b/y"), 2, 0)
    nothing = [*WHOLE[:4], '{"rows": 0}']
    assert read_orphans(written(tmp_path, nothing)) == FoundOrphans((), 0, 0)


@pytest.mark.parametrize("cut", range(len(WHOLE)))
def test_a_file_that_ends_early_has_found_nothing(tmp_path: Path, cut: int) -> None:
    assert read_orphans(written(tmp_path, WHOLE[:cut])) is None


@pytest.mark.parametrize(
    "lines", [["nonsense"], ["[1]"], ['{"schema": {}}', '"odd"'], WHOLE[3:] * 2]
)
def test_what_is_no_list_of_orphans_is_none(tmp_path: Path, lines: list[str]) -> None:
    assert read_orphans(written(tmp_path, lines)) is None


def test_a_file_that_was_torn_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    path.write_bytes(path.read_bytes()[:-9])
    assert read_orphans(path) is None
    assert read_orphans(tmp_path / "gone") is None


def test_of_more_than_any_list_may_have_the_rest_is_counted_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphan_files, "MAX_TOLD", 1)
    assert read_orphans(written(tmp_path, WHOLE)) == FoundOrphans(("s3://b/x",), 2, 0)


# -- what lies there, listed before

LISTED = RemoveOrphanFiles(datetime(2026, 3, 4, tzinfo=UTC), "s3://b/it's", is_listed=True)
LONG_AGO = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_a_listing_is_looked_at_part_by_part_and_its_young_files_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphan_files, "PART_FILES", 2)
    names = iter("abcde")
    pages = [
        [FoundFile(f"s3://b/it's/{next(names)}", 1, LONG_AGO) for _ in range(size)]
        for size in (3, 0, 2)
    ]
    pages.insert(
        1,
        [FoundFile("s3://b/it's/young", 1, LISTED.older_than), FoundFile("s3://b/it's/undated", 1)],
    )
    assert write_listing(tmp_path / "m[1].listing", LISTED, pages) == 6
    _, *statements = orphan_statements(ORDERS, LISTED, tmp_path / "m[1].listing")
    assert len(statements) == 16, "four parts, the last of them empty"
    shown, whole, call, dropped = statements[:4]
    assert shown.startswith(
        "CREATE OR REPLACE TEMPORARY VIEW `maintainer_listing` (file_path STRING, last_modified "
        "TIMESTAMP, target STRING) USING json"
    )
    assert r"m\\[1\\].listing" in shown, "Spark takes any path for a pattern"
    assert whole.startswith("SELECT assert_true(count(*) = 2 AND count(DISTINCT file_path) = 2")
    assert (
        "dry_run => true, prefix_mismatch_mode => 'ERROR', location => 's3://b/it\\'s/', "
        "file_list_view => 'maintainer_listing')"
    ) in call
    assert call == main_statement(ORDERS, LISTED)
    assert dropped == "DROP VIEW `maintainer_listing`"
    lines = [
        json.loads(line)
        for part in sorted((tmp_path / "m[1].listing").iterdir())
        for line in part.read_text().splitlines()
    ]
    assert [line["file_path"][-1] for line in lines] == ["a", "b", "c", "d", "d", "e"]


def test_what_was_found_part_by_part_is_read_as_one(tmp_path: Path) -> None:
    empty, table = (
        ['{"schema": {}}', '{"rows": 0}'],
        ['{"schema": {}}', '["s3://b/%s"]', '{"rows": 1}'],
    )
    part = [*empty, *table, *table, *empty]
    lines = [*WHOLE[:3], *(line.replace("%s", name) for name in "xy" for line in part)]
    assert read_orphans(written(tmp_path, lines)) == FoundOrphans(("s3://b/x", "s3://b/y"), 2, 0)
    assert read_orphans(written(tmp_path, lines[:-5])) is None


def test_without_its_listing_no_look_can_be_written(tmp_path: Path) -> None:
    for nowhere in (None, tmp_path / "gone"):
        with pytest.raises(
            InvalidValueError, match="the contents of s3://b/it's are not listed here"
        ):
            orphan_statements(ORDERS, LISTED, nowhere)


# -- an approved list

ASIDE = "s3://b/it's/_maintainer_quarantine/m-1/"
REMOVAL = replace(ACTION, location="s3://b/it's", approved=ApprovedList("m-1", "abc"))
FILES = (
    FoundFile("s3a://b/it's/data/a b.parquet", 7, datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
    FoundFile("s3://b/it's/data//\N{SNOWMAN}'.parquet", 8),
)
REMOVED = [
    '{"schema": {}}',
    "[null]",
    '{"rows": 1}',
    '{"schema": {}}',
    '{"rows": 0}',
    '{"schema": {}}',
    "[null]",
    '{"rows": 1}',
]
REMOVED += [
    '{"schema": {}}',
    '["s3://b/it\'s/x"]',
    '{"rows": 1}',
    '{"schema": {}}',
    '["s3a://b/it\'s/live"]',
    '{"rows": 1}',
    '{"schema": {}}',
    '{"rows": 0}',
]


def brought(tmp_path: Path) -> Path:
    path = tmp_path / "found[1]" / "m-1.list.json"
    write_list(path, REMOVAL, FILES)
    return path


def test_guard_5_the_removal_reads_exactly_the_list_from_the_tables_own_location_on(
    tmp_path: Path,
) -> None:
    path = brought(tmp_path)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {
            "file_path": "s3://b/it's/data/a b.parquet",
            "last_modified": "2026-01-02T03:04:05.000006Z",
            "target": f"{ASIDE}data/a b.parquet",
        },
        {
            "file_path": "s3://b/it's/data//\N{SNOWMAN}'.parquet",
            "last_modified": "2026-03-03T23:59:59.999999Z",
            "target": f"{ASIDE}data//\N{SNOWMAN}'.parquet",
        },
    ]
    foreign, view, whole, call, reached, drop = orphan_statements(ORDERS, REMOVAL, path)
    assert foreign.startswith(
        "SELECT assert_true(count(*) = 0, 'files of the table are outside its location: nothing "
        "is deleted') FROM `lake`.`sales`.`it's`.all"
    )
    name = "maintainer_" + sha256(b"m-1").hexdigest()[:16]
    place = f"file://{tmp_path}/found\\\\[1\\\\]/m-1.list.json"
    assert view == (
        f"CREATE OR REPLACE TEMPORARY VIEW `{name}` (file_path STRING, last_modified "
        f"TIMESTAMP, target STRING) USING json OPTIONS (path '{place}')"
    )
    assert whole == (
        f"SELECT assert_true(count(*) = 2 AND count(DISTINCT file_path) = 2, 'the list is not "
        f"whole: nothing is deleted') FROM `{name}`"
    )
    assert call == main_statement(ORDERS, REMOVAL)
    assert call.endswith(
        "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', dry_run => false, "
        "prefix_mismatch_mode => 'ERROR', "
        f"location => 's3://b/it\\'s/', file_list_view => '{name}', stream_results => true)"
    )
    assert "all_manifests" in reached
    assert drop == f"DROP VIEW `{name}`"


def test_guard_5_without_its_list_no_removal_can_be_written(tmp_path: Path) -> None:
    for missing in (None, tmp_path / "gone.json"):
        with pytest.raises(
            InvalidValueError, match="the files of list m-1 are not here: nothing is deleted"
        ):
            orphan_statements(ORDERS, REMOVAL, missing)


def of(disposal: Disposal) -> RemoveOrphanFiles:
    return replace(REMOVAL, approved=ApprovedList("m-1", "abc", disposal))


def test_the_way_into_the_quarantine_is_asked_of_iceberg_first_and_the_way_back_is_not(
    tmp_path: Path,
) -> None:
    listed = brought(tmp_path)
    move = orphan_statements(ORDERS, of(Disposal.QUARANTINE), listed)[3]
    order = json.loads(move.removeprefix("MOVE FILES "))
    assert move == main_statement(ORDERS, of(Disposal.QUARANTINE))
    assert (order["table"], order["overwrites"]) == ("`lake`.`sales`.`it's`", True)
    assert "dry_run => true, " in order["dry_run"]
    assert order["dry_run"].endswith(f"file_list_view => '{order['view'].strip('`')}')")
    back = orphan_statements(ORDERS, of(Disposal.RESTORE), listed)
    assert len(back) == 5, "nothing is taken away: where else files lie does not matter"
    assert json.loads(back[2].removeprefix("MOVE FILES ")) == {
        **order,
        "dry_run": None,
        "overwrites": False,
    }


def test_a_quarantine_is_emptied_of_exactly_the_list_in_its_own_place(tmp_path: Path) -> None:
    path = tmp_path / "m-1.list.json"
    write_list(path, of(Disposal.EMPTY), FILES)
    assert [json.loads(line)["file_path"] for line in path.read_text().splitlines()] == [
        f"{ASIDE}data/a b.parquet",
        f"{ASIDE}data//\N{SNOWMAN}'.parquet",
    ]
    call = orphan_statements(ORDERS, of(Disposal.EMPTY), path)[3]
    assert "dry_run => false" in call
    assert "location => 's3://b/it\\'s/_maintainer_quarantine/m-1/'" in call
    write_list(path, of(Disposal.RESTORE), FILES)
    assert json.loads(path.read_text().splitlines()[0])["target"] == "s3://b/it's/data/a b.parquet"


def test_what_a_removal_told_is_read_back(tmp_path: Path) -> None:
    listed = brought(tmp_path)
    found = read_removed(written(tmp_path, REMOVED), listed, REMOVAL)
    names = ("data/a b.parquet", "data//\N{SNOWMAN}'.parquet")
    assert found == RemovedOrphans(
        tuple(f"s3://b/it's/{name}" for name in names),
        ("s3://b/it's/live",),
        tuple(ASIDE + name for name in names),
    )
    assert read_removed(tmp_path / "found.jsonl.gz", tmp_path / "gone", REMOVAL) is None


@pytest.mark.parametrize("cut", range(len(REMOVED) - 2))
def test_a_removal_that_was_cut_short_has_told_nothing(tmp_path: Path, cut: int) -> None:
    found = read_removed(written(tmp_path, REMOVED[:cut]), brought(tmp_path), REMOVAL)
    assert found is not None
    assert found.reached is None
