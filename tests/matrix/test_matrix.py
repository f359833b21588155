"""The table of the matrix, from pytest's own reports."""

from __future__ import annotations

import re

from tests.matrix.__main__ import FILES, ROOT, Result, is_good, read_report, write_table

REPORT = """<testsuites><testsuite>
<testcase classname="tests.adapters.spark.test_facts" name="a" time="1.5" />
<testcase classname="tests.adapters.spark.test_facts" name="b" time="2.5"><failure /></testcase>
<testcase classname="tests.adapters.spark.test_local.TestA" name="c" time="1"><skipped /></testcase>
<testcase classname="" name="tests.adapters.spark.test_undoing" time="0"><error /></testcase>
</testsuite></testsuites>"""


def test_every_file_of_the_matrix_is_there() -> None:
    assert [file for file in FILES if not (ROOT / file).is_file()] == []


def test_cases_are_counted_by_file() -> None:
    assert read_report(REPORT) == {
        "test_facts.py": Result(1, 1, 0, 4.0),
        "test_local.py": Result(0, 0, 1, 1.0),
        "test_undoing.py": Result(0, 1, 0, 0.0),
    }


def test_a_row_names_what_failed_and_what_did_not_run_at_all() -> None:
    lines = write_table({"3.5": read_report(REPORT), "4.1": {}}).splitlines()
    assert lines[0].split() == ["Spark", "3.5", "Spark", "4.1"]
    row = next(line for line in lines if line.startswith("test_facts.py"))
    assert re.split(r" {2,}", row) == ["test_facts.py", "1 passed, 1 FAILED (4 s)", "NOT RUN"]


def test_all_files_must_have_run_without_a_failure() -> None:
    good = {file.name: Result(3, 0, 1, 9.0) for file in FILES}
    assert is_good({"3.5": good, "4.1": good})
    assert not is_good({"3.5": good, "4.1": {}})
    assert not is_good({"3.5": {**good, FILES[0].name: Result(3, 1, 0, 9.0)}})
    assert not is_good({"3.5": {**good, FILES[0].name: Result(0, 0, 3, 9.0)}})
