from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from maintainer.adapters.spark.orphans import orphan_statements, read_orphans
from maintainer.adapters.spark.statements import main_statement
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundOrphans

ORDERS = TableIdentifier("lake", ("sales",), "it's")
ACTION = RemoveOrphanFiles(datetime(2026, 3, 4, tzinfo=UTC), "s3://b/it's/")
WHOLE = ['{"schema": {}}', "[0]", '{"rows": 1}', '{"schema": {}}', '["s3://b/x"]', '["s3://b/y"]', '{"rows": 2}']


def test_the_tables_own_files_elsewhere_are_counted_before_the_dry_run() -> None:
    count, run = orphan_statements(ORDERS, ACTION)
    assert count == (
        "SELECT count(*) AS foreign_files FROM `lake`.`sales`.`it's`.all_files WHERE NOT startswith("
        "regexp_replace(file_path, '^([A-Za-z0-9+.-]+:)?/*', ''), regexp_replace('s3://b/it\\'s/', '^([A-Za-z0-9+.-]+:)?/*', ''))"
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


@pytest.mark.parametrize("lines", [["nonsense"], ["[1]"], ['{"schema": {}}', '"odd"'], WHOLE[3:] * 2])
def test_what_is_no_list_of_orphans_is_none(tmp_path: Path, lines: list[str]) -> None:
    assert read_orphans(written(tmp_path, lines)) is None


def test_a_file_that_was_torn_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    path.write_bytes(path.read_bytes()[:-9])
    assert read_orphans(path) is None
    assert read_orphans(tmp_path / "gone") is None
