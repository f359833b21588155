from __future__ import annotations

import pytest

from maintainer.adapters.spark.states import (
    classify,
    clean_message,
    describe_failure,
    find_conflict,
    is_undecided,
)
from maintainer.domain.conflict import ConflictKind
from maintainer.domain.job import FailureReason

ICEBERG = "org.apache.iceberg.exceptions"


@pytest.mark.parametrize(
    ("causes", "reason", "line"),
    [
        (
            [
                ("java.lang.RuntimeException", ""),
                (
                    f"{ICEBERG}.ValidationException",
                    (
                        "Cannot commit, found new position delete for replaced data file: x\n\tat "
                        "a.b(C.java)"
                    ),
                ),
            ],
            FailureReason.CONFLICT,
            (
                "ValidationException: Cannot commit, found new position delete for replaced data "
                "file: x"
            ),
        ),
        (
            [(f"{ICEBERG}.ValidationException", "Cannot commit, missing data files: [a]")],
            FailureReason.CONFLICT,
            "ValidationException: Cannot commit, missing data files: [a]",
        ),
        (
            [(f"{ICEBERG}.CommitFailedException", "Manifest is missing: m")],
            FailureReason.CONFLICT,
            "CommitFailedException: Manifest is missing: m",
        ),
        (
            [
                (
                    "RunnerUnavailableError",
                    "Spark ended during its start (no reason given); its log is x",
                )
            ],
            FailureReason.RUNNER_UNAVAILABLE,
            "RunnerUnavailableError: Spark ended during its start (no reason given); its log is x",
        ),
        (
            [
                ("org.apache.spark.SparkException", "Job aborted"),
                ("java.lang.OutOfMemoryError", "Java heap space"),
            ],
            FailureReason.OUT_OF_MEMORY,
            "OutOfMemoryError: Java heap space",
        ),
        (
            [
                (
                    "org.apache.spark.SparkException",
                    "Job aborted due to stage failure: x NotFoundException: File does not exist: f",
                )
            ],
            FailureReason.MISSING_FILE,
            (
                "SparkException: Job aborted due to stage failure: x NotFoundException: File does "
                "not exist: f"
            ),
        ),
        (
            [(f"{ICEBERG}.NotAuthorizedException", "no")],
            FailureReason.PERMISSION,
            "NotAuthorizedException: no",
        ),
        (
            [
                (
                    "java.io.IOException",
                    "Mkdirs failed to create file:/lake/t/data (exists=false, cwd=file:/)",
                )
            ],
            FailureReason.PERMISSION,
            "IOException: Mkdirs failed to create file:/lake/t/data (exists=false, cwd=file:/)",
        ),
        (
            [("java.io.FileNotFoundException", "/lake/t/data/a.parquet (Permission denied)")],
            FailureReason.PERMISSION,
            "FileNotFoundException: /lake/t/data/a.parquet (Permission denied)",
        ),
        (
            [
                (
                    "software.amazon.awssdk.core.exception.SdkClientException",
                    "Unable to load credentials from any of the providers in the chain",
                )
            ],
            FailureReason.PERMISSION,
            "SdkClientException: Unable to load credentials from any of the providers in the chain",
        ),
        (
            [("org.sqlite.SQLiteException", "[SQLITE_BUSY] The database file is locked")],
            FailureReason.CATALOG_UNREACHABLE,
            "SQLiteException: [SQLITE_BUSY] The database file is locked",
        ),
        (
            [("java.net.ConnectException", "Connection refused")],
            FailureReason.CATALOG_UNREACHABLE,
            "ConnectException: Connection refused",
        ),
        (
            [("org.apache.spark.sql.AnalysisException", "[TABLE_OR_VIEW_NOT_FOUND] gone")],
            FailureReason.TABLE_CHANGED,
            "AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] gone",
        ),
        (
            [("java.lang.IllegalArgumentException", "Cannot use options [x]")],
            FailureReason.INVALID_REQUEST,
            "IllegalArgumentException: Cannot use options [x]",
        ),
        (
            [
                (
                    "org.apache.spark.sql.catalyst.parser.ParseException",
                    "\n[PARSE_SYNTAX_ERROR] near 'x'\n== SQL ==",
                )
            ],
            FailureReason.INVALID_REQUEST,
            "ParseException: [PARSE_SYNTAX_ERROR] near 'x'",
        ),
        (
            [("java.lang.IllegalStateException", "odd")],
            FailureReason.OTHER,
            "IllegalStateException: odd",
        ),
        # Spark 3.5 wraps what assert_true says in exceptions that say nothing themselves.
        (
            [
                ("org.apache.spark.SparkException", "Exception thrown in awaitResult: "),
                ("java.lang.RuntimeException", "the list is incomplete"),
            ],
            FailureReason.OTHER,
            "RuntimeException: the list is incomplete",
        ),
        # Spark 3.5 reports each attempt of a task as a RuntimeException.
        (
            [
                (
                    "java.lang.RuntimeException",
                    "java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:1)",
                ),
                ("org.apache.spark.SparkException", "Job aborted due to stage failure"),
                ("java.lang.RuntimeException", "rejected from a pool"),
            ],
            FailureReason.OUT_OF_MEMORY,
            "RuntimeException: Java heap space",
        ),
        # A match inside a stack trace does not make a wrapper's first line informative.
        (
            [
                (
                    "org.apache.spark.SparkException",
                    "Job aborted\nCaused by: java.net.ConnectException: Connection refused",
                ),
                ("java.lang.IllegalStateException", "the pool is closed"),
            ],
            FailureReason.CATALOG_UNREACHABLE,
            "IllegalStateException: the pool is closed",
        ),
        ([("a.B", "")], FailureReason.OTHER, "B"),
        ([], FailureReason.OTHER, "Spark gave no reason"),
    ],
)
def test_errors_have_a_reason_and_one_line(
    causes: list[tuple[str, str]], reason: FailureReason, line: str
) -> None:
    assert classify(causes) is reason
    assert describe_failure(causes) == line


def test_a_message_is_freed_of_class_names_stack_frames_and_length() -> None:
    assert (
        clean_message(
            "org.apache.spark.SparkException: java.lang.RuntimeException: it broke\n\tat "
            "a.b.C(D.java:1)"
        )
        == "it broke"
    )
    assert clean_message("\tat a.b.C(D.java:1)") == ""
    assert len(clean_message("x" * 600)) == 500


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("java.io.IOException", "No space left on device"),
        (
            "org.apache.spark.SparkException",
            (
                "Job aborted due to stage failure: Lost task 0.0: java.lang.NoClassDefFoundError: Could "
                "not initialize class com.github.luben.zstd.ZstdInputStreamNoFinalizer"
            ),
        ),
        ("java.lang.ExceptionInInitializerError", "Cannot unpack libzstd-jni: File too large"),
    ],
)
def test_a_spark_that_cannot_work_says_nothing_about_the_table(name: str, message: str) -> None:
    assert classify([(name, message)]) is FailureReason.RUNNER_UNAVAILABLE


LOST = (
    "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: Lost "
    "task 0.3 in stage 1.0 (TID 4) (127.0.0.1 executor 3): ExecutorLostFailure (executor 3 exited "
    "caused by one of the running tasks) Reason: {}\nDriver stacktrace:"
)


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("Command exited with code 52", FailureReason.OUT_OF_MEMORY),
        ("Command exited with code 1", FailureReason.OTHER),
        (
            "\nThe executor with id 3 exited with exit code 52(JVM OOM).",
            FailureReason.OUT_OF_MEMORY,
        ),
        (
            "\nThe executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).",
            FailureReason.OUT_OF_MEMORY,
        ),
        (
            "Container from a bad node: container_1 on host: localhost. Exit status: 143. Possible",
            FailureReason.OUT_OF_MEMORY,
        ),
        (
            "Container from a bad node: container_1 on host: localhost. Exit status: 137. Possible",
            FailureReason.OTHER,
        ),
        (
            "Container killed by YARN for exceeding physical memory limits. 1.5 GB of 1 GB used.",
            FailureReason.OUT_OF_MEMORY,
        ),
    ],
)
def test_an_executor_without_memory_is_known_by_what_its_cluster_says(
    why: str, reason: FailureReason
) -> None:
    assert classify([("org.apache.spark.SparkException", LOST.format(why))]) is reason


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        (
            "ValidationException",
            "Cannot commit, found new position delete for replaced data file: GenericDataFile{x}",
            ConflictKind.NEW_DELETES,
        ),
        (
            "ValidationException",
            "Cannot commit, found new delete for replaced data file: GenericDataFile{x}",
            ConflictKind.NEW_DELETES,
        ),
        (
            "ValidationException",
            "Found concurrently added DV for f: GenericDeleteFile{x}",
            ConflictKind.NEW_DELETES,
        ),
        (
            "ValidationException",
            "Found new conflicting delete files that can apply to records matching true: [d]",
            ConflictKind.NEW_DELETES,
        ),
        ("ValidationException", "Cannot commit, missing data files: [f]", ConflictKind.FILES_GONE),
        ("ValidationException", "Missing required files to delete: f", ConflictKind.FILES_GONE),
        (
            "ValidationException",
            "Found conflicting deleted files that can contain records matching true: [f]",
            ConflictKind.FILES_GONE,
        ),
        (
            "ValidationException",
            "Found conflicting files that can contain records matching partitions [p]: [f]",
            ConflictKind.NEW_FILES,
        ),
        (
            "ValidationException",
            "Deleted manifest m could not be found in the latest snapshot 7",
            ConflictKind.MANIFESTS_GONE,
        ),
        ("ValidationException", "Manifest is missing: m", ConflictKind.MANIFESTS_GONE),
        (
            "ValidationException",
            "Cannot determine history between starting snapshot 1 and the last known ancestor 3",
            ConflictKind.HISTORY_GONE,
        ),
        (
            "ValidationException",
            "Cannot remove dangling deletes: current snapshot changed from 1 to 2",
            ConflictKind.SNAPSHOT_CHANGED,
        ),
        (
            "CommitFailedException",
            "Commit failed: Requirement failed: branch main has changed: expected id 1 != 2",
            ConflictKind.REQUIREMENT_FAILED,
        ),
        (
            "CommitFailedException",
            "Cannot commit db.t: metadata location a has changed from b",
            ConflictKind.REQUIREMENT_FAILED,
        ),
        (
            "CommitFailedException",
            "Cannot commit glue.db.t because Glue detected concurrent update",
            ConflictKind.REQUIREMENT_FAILED,
        ),
        (
            "CommitFailedException",
            (
                "Cannot commit: Reference hash is out of date. Update the reference 'main' and try "
                "again"
            ),
            ConflictKind.REQUIREMENT_FAILED,
        ),
        (
            "CommitFailedException",
            "The table db.t has been modified concurrently",
            ConflictKind.REQUIREMENT_FAILED,
        ),
    ],
)
def test_guard_16_every_way_in_which_a_writer_wins_is_a_conflict_of_its_kind(
    name: str, message: str, kind: ConflictKind
) -> None:
    wrapper = (
        "java.lang.RuntimeException",
        (
            "Cannot commit rewrite because of a ValidationException or CommitFailedException. This "
            "usually means"
        ),
    )
    for causes in ([(f"{ICEBERG}.{name}", message)], [wrapper, (f"{ICEBERG}.{name}", message)]):
        assert classify(causes) is FailureReason.CONFLICT
        assert find_conflict(causes) is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (
            (
                "partial-progress.enabled is true but 10 rewrite commits failed. This is more than "
                "the maximum allowed failures of 3. Check the logs"
            ),
            ConflictKind.COMMITS_LOST,
        ),
        (
            "partial-progress.enabled is true but no rewrite commits succeeded. Check the logs",
            ConflictKind.COMMITS_LOST,
        ),
    ],
)
def test_guard_16_too_many_lost_commits_are_a_conflict(message: str, kind: ConflictKind) -> None:
    assert find_conflict([("java.lang.RuntimeException", message)]) is kind


def test_another_table_of_the_same_name_is_no_conflict() -> None:
    replaced = [
        (
            f"{ICEBERG}.CommitFailedException",
            "Commit failed: Requirement failed: UUID does not match: expected a != b",
        )
    ]
    assert classify(replaced) is FailureReason.TABLE_CHANGED
    assert find_conflict(replaced) is None


def test_a_commit_of_unknown_fate_is_neither_a_conflict_nor_a_failure_that_is_known() -> None:
    unsaid = [
        (f"{ICEBERG}.CommitStateUnknownException", "Cannot determine whether"),
        ("java.net.SocketTimeoutException", "Read timed out"),
    ]
    assert is_undecided(unsaid)
    assert find_conflict(unsaid) is None
    assert classify(unsaid) is FailureReason.CATALOG_UNREACHABLE
    assert not is_undecided([(f"{ICEBERG}.CommitFailedException", "x")])


def test_a_commit_whose_connection_broke_is_of_unknown_fate_and_a_reading_is_not() -> None:
    message = "Error occurred while processing {} request"
    posted, read = (
        [(f"{ICEBERG}.RESTException", message.format(method)), ("java.net.SocketException", "")]
        for method in ("POST", "GET")
    )
    assert is_undecided(posted)
    assert not is_undecided(read)
    assert not is_undecided([("java.io.IOException", message.format("POST"))])
    assert classify(posted) is FailureReason.CATALOG_UNREACHABLE


def test_a_file_that_iceberg_describes_at_length_is_reported_by_its_path() -> None:
    described = (
        "Cannot commit, missing data files: [GenericDataFile{content=data, "
        "file_path=s3://b/f.parquet, file_format=PARQUET, partition=PartitionData{}}]"
    )
    assert clean_message(described) == "Cannot commit, missing data files: s3://b/f.parquet"
