from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from maintainer.adapters.spark.orphans import orphan_files
from maintainer.adapters.spark.orphans.orphan_files import list_lines, read_orphans, read_removed
from maintainer.adapters.spark.statements import orphans
from maintainer.adapters.spark.statements.job import main_statement
from maintainer.adapters.spark.statements.orphans import GivenFiles, orphan_statements
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


def test_what_the_driver_found_is_read_back() -> None:
    assert read_orphans(WHOLE) == FoundOrphans(("s3://b/x", "s3://b/y"), 2, 0)
    assert read_orphans([*WHOLE[:4], '{"rows": 0}']) == FoundOrphans((), 0, 0)


@pytest.mark.parametrize("cut", range(len(WHOLE)))
def test_rows_that_end_early_have_found_nothing(cut: int) -> None:
    assert read_orphans(WHOLE[:cut]) is None


@pytest.mark.parametrize(
    "lines", [["nonsense"], ["[1]"], ['{"schema": {}}', '"odd"'], WHOLE[3:] * 2]
)
def test_what_is_no_list_of_orphans_is_none(lines: list[str]) -> None:
    assert read_orphans(lines) is None


def test_of_more_than_any_list_may_have_the_rest_is_counted_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orphan_files, "MAX_TOLD", 1)
    assert read_orphans(WHOLE) == FoundOrphans(("s3://b/x",), 2, 0)


# -- what lies there, listed before

LISTED = RemoveOrphanFiles(datetime(2026, 3, 4, tzinfo=UTC), "s3://b/it's", is_listed=True)


def test_a_listing_is_compared_part_by_part_of_whole_portions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orphans, "PART_FILES", 4)
    _, *statements = orphan_statements(ORDERS, LISTED, GivenFiles("listing", (2, 2, 3, 6, 0)))
    assert len(statements) == 12
    shown, whole, call, dropped = statements[:4]
    assert json.loads(shown.removeprefix("SHOW FILES ")) == {
        "view": "maintainer_listing",
        "kind": "listing",
        "first": 0,
        "portions": 2,
        "from": "",
        "to": None,
    }
    assert whole.startswith("SELECT assert_true(count(*) = 4 AND count(DISTINCT file_path) = 4")
    assert (
        "dry_run => true, prefix_mismatch_mode => 'ERROR', location => 's3://b/it\\'s/', "
        "file_list_view => 'maintainer_listing')"
    ) in call
    assert call == main_statement(ORDERS, LISTED)
    assert dropped == "DROP VIEW `maintainer_listing`"
    parts = [json.loads(statement.removeprefix("SHOW FILES ")) for statement in statements[4::4]]
    assert [(part["first"], part["portions"]) for part in parts] == [(2, 1), (3, 2)]
    assert "count(*) = 6 " in statements[9]


def test_an_empty_listing_is_one_part() -> None:
    assert len(orphan_statements(ORDERS, LISTED, GivenFiles("listing", (0,)))) == 5


def test_what_was_found_part_by_part_is_read_as_one() -> None:
    empty, table = (
        ['{"schema": {}}', '{"rows": 0}'],
        ['{"schema": {}}', '["s3://b/%s"]', '{"rows": 1}'],
    )
    part = [*empty, *table, *table, *empty]
    lines = [*WHOLE[:3], *(line.replace("%s", name) for name in "xy" for line in part)]
    assert read_orphans(lines) == FoundOrphans(("s3://b/x", "s3://b/y"), 2, 0)
    assert read_orphans(lines[:-5]) is None


def test_without_its_listing_no_look_can_be_written() -> None:
    with pytest.raises(InvalidValueError, match="the contents of s3://b/it's are not listed here"):
        orphan_statements(ORDERS, LISTED, None)


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


GIVEN = GivenFiles("list", (1, 1))
NAMES = ("data/a b.parquet", "data//\N{SNOWMAN}'.parquet")
LISTING = [json.dumps([name, 1]) for name in NAMES]


def test_guard_5_the_list_has_exactly_the_files_from_the_tables_own_location_on() -> None:
    assert [json.loads(line) for line in list_lines(REMOVAL, FILES)] == [
        ["data/a b.parquet", 1767323045000006],
        ["data//\N{SNOWMAN}'.parquet", 1772582399999000],
    ]
    with pytest.raises(InvalidValueError, match="s3://c/x is not in s3://b/it's/: nothing is"):
        list(list_lines(REMOVAL, [FoundFile("s3://c/x", 1)]))


def test_guard_5_the_removal_reads_exactly_the_list() -> None:
    foreign, shown, whole, call, reached, drop = orphan_statements(ORDERS, REMOVAL, GIVEN)
    assert foreign.startswith(
        "SELECT assert_true(count(*) = 0, 'files of the table are outside its location: nothing "
        "is deleted') FROM `lake`.`sales`.`it's`.all"
    )
    name = "maintainer_" + sha256(b"m-1").hexdigest()[:16]
    assert json.loads(shown.removeprefix("SHOW FILES ")) == {
        "view": name,
        "kind": "list",
        "first": 0,
        "portions": 2,
        "from": "s3://b/it's/",
        "to": ASIDE,
    }
    assert whole == (
        f"SELECT assert_true(count(*) = 2 AND count(DISTINCT file_path) = 2, 'the list is incomplete: nothing is deleted') FROM `{name}`"
    )
    assert call == main_statement(ORDERS, REMOVAL)
    assert call.endswith(
        "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', dry_run => false, "
        "prefix_mismatch_mode => 'ERROR', "
        f"location => 's3://b/it\\'s/', file_list_view => '{name}', stream_results => true)"
    )
    assert "all_manifests" in reached
    assert drop == f"DROP VIEW `{name}`"


def test_guard_5_without_its_list_no_removal_can_be_written() -> None:
    with pytest.raises(
        InvalidValueError, match="the files of list m-1 are not here: nothing is deleted"
    ):
        orphan_statements(ORDERS, REMOVAL, None)


def of(disposal: Disposal) -> RemoveOrphanFiles:
    return replace(REMOVAL, approved=ApprovedList("m-1", "abc", disposal))


def test_the_way_into_the_quarantine_is_asked_of_iceberg_first_and_the_way_back_is_not() -> None:
    move = orphan_statements(ORDERS, of(Disposal.QUARANTINE), GIVEN)[3]
    order = json.loads(move.removeprefix("MOVE FILES "))
    assert move == main_statement(ORDERS, of(Disposal.QUARANTINE))
    assert (order["table"], order["overwrites"]) == ("`lake`.`sales`.`it's`", True)
    assert "dry_run => true, " in order["dry_run"]
    assert order["dry_run"].endswith(f"file_list_view => '{order['view'].strip('`')}')")
    back = orphan_statements(ORDERS, of(Disposal.RESTORE), GIVEN)
    assert len(back) == 5, "nothing is taken away: where else files lie does not matter"
    assert json.loads(back[2].removeprefix("MOVE FILES ")) == {
        **order,
        "dry_run": None,
        "overwrites": False,
    }


def test_a_quarantine_is_emptied_of_exactly_the_list_in_its_own_place() -> None:
    _, shown, _, call, *_ = orphan_statements(ORDERS, of(Disposal.EMPTY), GIVEN)
    assert json.loads(shown.removeprefix("SHOW FILES "))["from"] == ASIDE
    assert "dry_run => false" in call
    assert "location => 's3://b/it\\'s/_maintainer_quarantine/m-1/'" in call
    restored = json.loads(
        orphan_statements(ORDERS, of(Disposal.RESTORE), GIVEN)[0].removeprefix("SHOW FILES ")
    )
    assert (restored["from"], restored["to"]) == (ASIDE, "s3://b/it's/")


def test_what_a_removal_reported_is_read_back() -> None:
    assert read_removed(REMOVED, LISTING, REMOVAL) == RemovedOrphans(
        tuple(f"s3://b/it's/{name}" for name in NAMES),
        ("s3://b/it's/live",),
        tuple(ASIDE + name for name in NAMES),
    )


@pytest.mark.parametrize("cut", range(len(REMOVED) - 2))
def test_a_removal_that_was_cut_short_has_reported_nothing(cut: int) -> None:
    assert read_removed(REMOVED[:cut], LISTING, REMOVAL).reached is None
