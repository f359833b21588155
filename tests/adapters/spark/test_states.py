from __future__ import annotations

import pytest

from maintainer.adapters.spark.states import classify, clean_message, describe_failure
from maintainer.domain.job import FailureReason

ICEBERG = "org.apache.iceberg.exceptions"


@pytest.mark.parametrize(
    ("causes", "reason", "line"),
    [
        (
            [("java.lang.RuntimeException", ""), (f"{ICEBERG}.ValidationException", "Cannot commit, found new position delete for replaced data file: x\n\tat a.b(C.java)")],  # noqa: E501 - a case a line
            FailureReason.CONFLICT,
            "ValidationException: Cannot commit, found new position delete for replaced data file: x",
        ),
        ([(f"{ICEBERG}.ValidationException", "Cannot commit, missing data files: [a]")], FailureReason.CONFLICT, "ValidationException: Cannot commit, missing data files: [a]"),  # noqa: E501 - a case a line
        ([(f"{ICEBERG}.CommitFailedException", "Manifest is missing: m")], FailureReason.CONFLICT, "CommitFailedException: Manifest is missing: m"),
        ([("org.apache.spark.SparkException", "Job aborted"), ("java.lang.OutOfMemoryError", "Java heap space")], FailureReason.OUT_OF_MEMORY, "OutOfMemoryError: Java heap space"),  # noqa: E501 - a case a line
        ([("org.apache.spark.SparkException", "Job aborted due to stage failure: x NotFoundException: File does not exist: f")], FailureReason.MISSING_FILE,
         "SparkException: Job aborted due to stage failure: x NotFoundException: File does not exist: f"),
        ([(f"{ICEBERG}.NotAuthorizedException", "no")], FailureReason.PERMISSION, "NotAuthorizedException: no"),
        ([("org.sqlite.SQLiteException", "[SQLITE_BUSY] The database file is locked")], FailureReason.CATALOG_UNREACHABLE, "SQLiteException: [SQLITE_BUSY] The database file is locked"),  # noqa: E501 - a case a line
        ([("java.net.ConnectException", "Connection refused")], FailureReason.CATALOG_UNREACHABLE, "ConnectException: Connection refused"),
        ([("org.apache.spark.sql.AnalysisException", "[TABLE_OR_VIEW_NOT_FOUND] gone")], FailureReason.TABLE_CHANGED, "AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] gone"),  # noqa: E501 - a case a line
        ([("java.lang.IllegalArgumentException", "Cannot use options [x]")], FailureReason.INVALID_REQUEST, "IllegalArgumentException: Cannot use options [x]"),
        ([("org.apache.spark.sql.catalyst.parser.ParseException", "\n[PARSE_SYNTAX_ERROR] near 'x'\n== SQL ==")], FailureReason.INVALID_REQUEST, "ParseException: [PARSE_SYNTAX_ERROR] near 'x'"),  # noqa: E501 - a case a line
        ([("java.lang.IllegalStateException", "odd")], FailureReason.OTHER, "IllegalStateException: odd"),
        ([("a.B", "")], FailureReason.OTHER, "B"),
        ([], FailureReason.OTHER, "Spark gave no reason"),
    ],
)  # fmt: skip
def test_errors_have_a_reason_and_one_line(causes: list[tuple[str, str]], reason: FailureReason, line: str) -> None:
    assert classify(causes) is reason
    assert describe_failure(causes) == line


def test_a_message_is_freed_of_class_names_stack_frames_and_length() -> None:
    assert clean_message("org.apache.spark.SparkException: java.lang.RuntimeException: it broke\n\tat a.b.C(D.java:1)") == "it broke"
    assert clean_message("\tat a.b.C(D.java:1)") == ""
    assert len(clean_message("x" * 600)) == 500
