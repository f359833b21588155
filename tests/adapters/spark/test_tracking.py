from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from maintainer.adapters.spark.tracking import TrackedJob, blame, lost
from maintainer.domain.conflict import ConflictKind
from maintainer.domain.cost import ExecutorUse
from maintainer.domain.driver import Progress, Stage
from maintainer.domain.job import FailureReason

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def test_a_rewrite_of_which_every_file_group_failed_is_a_failure() -> None:
    job = TrackedJob("j")
    job.hear(
        {
            "event": "job.finished",
            "job": "j",
            "result": {"rewritten_data_files_count": 0, "failed_data_files_count": 6},
        },
        NOW,
    )
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == ("failed", FailureReason.OTHER)
    assert (
        job.outcome.message
        == "no data file was rewritten: 6 of 6 failed in Spark: its log has the reason"
    )


@pytest.mark.parametrize(
    ("rewritten", "kind", "reason"),
    [(0, "failed", FailureReason.MISSING_FILE), (4, "finished", None)],
)
def test_what_iceberg_keeps_to_itself_of_failed_file_groups_is_reported_in_sparks_words(
    rewritten: int, kind: str, reason: FailureReason | None
) -> None:
    said = (
        "Job aborted: Lost task 0.0 (executor driver): "
        "org.apache.iceberg.exceptions.NotFoundException: File does not exist: f\n\tat "
        "a.b(C.java)"
    )
    job = TrackedJob("j")
    result = {"rewritten_data_files_count": rewritten, "failed_data_files_count": 6}
    job.hear({"event": "job.finished", "job": "j", "result": result, "failure": said}, NOW)
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == (kind, reason)
    assert job.outcome.message.endswith("NotFoundException: File does not exist: f")


@pytest.mark.parametrize(
    ("last_words", "reason"),
    [
        ({}, FailureReason.OTHER),
        # Another program killed it, such as the kernel for lack of memory.
        ({"exit_code": -9, "is_fenced": False}, FailureReason.LOST_RUNNER),
        ({"exit_code": -15}, FailureReason.LOST_RUNNER),
        # The JVM crashed by itself.
        ({"exit_code": -11, "is_fenced": False}, FailureReason.OTHER),
        ({"exit_code": 1}, FailureReason.OTHER),
        ({"exit_code": 52, "is_fenced": False}, FailureReason.OUT_OF_MEMORY),
        ({"culprit": "j", "is_fenced": False}, FailureReason.OTHER),
        ({"culprit": "j", "is_fenced": False, "is_overdue": True}, FailureReason.TIMEOUT),
        ({"culprit": "another", "is_overdue": True}, FailureReason.LOST_RUNNER),
        ({"culprit": "another", "is_fenced": False}, FailureReason.LOST_RUNNER),
        ({"is_fenced": True}, FailureReason.LOST_RUNNER),
    ],
)
def test_a_job_is_blamed_for_the_end_of_its_spark_only_where_it_may_be_what_ended_it(
    last_words: dict[str, object], reason: FailureReason
) -> None:
    assert blame("j", last_words) is reason


def test_a_rewrite_that_found_nothing_to_do_is_finished() -> None:
    job = TrackedJob("j")
    job.hear(
        {
            "event": "job.finished",
            "job": "j",
            "result": {"rewritten_data_files_count": 0, "failed_data_files_count": 0},
        },
        NOW,
    )
    assert job.outcome is not None
    assert job.outcome.kind == "finished"


@pytest.mark.parametrize(
    ("is_overdue", "reason"), [(True, FailureReason.TIMEOUT), (False, FailureReason.LOST_RUNNER)]
)
def test_a_job_that_its_driver_ended_because_it_planned_for_too_long_had_too_much_work(
    is_overdue: bool, reason: FailureReason
) -> None:
    job = TrackedJob("j")
    ended = {"event": "job.cancelled", "because": "it planned", "is_overdue": is_overdue}
    job.hear(ended, NOW)
    assert job.outcome == lost(NOW, "it planned", reason)


def test_the_first_outcome_stays() -> None:
    job = TrackedJob("j")
    job.hear({"event": "job.cancelled", "job": "j", "result": {}}, NOW)
    job.end(lost(NOW, "gone"))
    assert job.outcome is not None
    assert job.outcome.kind == "cancelled"


def test_progress_is_always_the_newest_and_reported_as_an_event_at_most_every_five_seconds() -> (
    None
):
    job = TrackedJob("j")
    for second in range(8):
        job.hear(
            {"event": "spark.progress", "job": "j", "tasks_done": second, "tasks_total": 9},
            NOW + timedelta(seconds=second),
        )
    report = job.report()
    assert report.progress == Progress(7, 9, "starting Spark", stage=Stage.STARTING)
    assert [event.fields["tasks_done"] for event in report.events] == [0, 5]
    assert job.report().events == ()


def test_guard_16_a_conflict_is_reported_in_the_jobs_story_with_its_kind() -> None:
    job = TrackedJob("j")
    refused = {
        "class": "org.apache.iceberg.exceptions.ValidationException",
        "message": "Cannot commit, missing data files: [a]",
    }
    job.hear({"event": "job.failed", "job": "j", "causes": [refused]}, NOW)
    assert job.outcome is not None
    assert (job.outcome.reason, job.outcome.conflict) == (
        FailureReason.CONFLICT,
        ConflictKind.FILES_GONE,
    )
    assert job.events[-1].fields["conflict"] == "files_gone"


def test_a_commit_that_the_catalog_did_not_confirm_is_left_to_the_table() -> None:
    job = TrackedJob("j")
    unsaid = {
        "class": "org.apache.iceberg.exceptions.CommitStateUnknownException",
        "message": "Cannot determine whether the commit was successful",
    }
    job.hear({"event": "job.failed", "job": "j", "causes": [unsaid]}, NOW)
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason, job.outcome.conflict) == (
        "lost",
        FailureReason.CATALOG_UNREACHABLE,
        None,
    )
    assert job.outcome.message.startswith(
        "the catalog did not say whether it made the commit: CommitStateUnknownException"
    )


def test_a_statement_whose_jvm_was_killed_under_it_is_left_to_the_table_too() -> None:
    job = TrackedJob("j")
    severed = {"class": "Py4JNetworkError", "message": "Error while sending or receiving"}
    job.hear({"event": "job.failed", "job": "j", "causes": [severed]}, NOW)
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == ("lost", FailureReason.OTHER)
    assert (
        job.outcome.message
        == "Spark's JVM no longer answered: Py4JNetworkError: Error while sending or receiving"
    )


REMOVED = "Job aborted due to stage failure: Master removed our application: KILLED"
NO_SESSION = "Cannot invoke SparkSession.sparkContext() because the return value is null"


@pytest.mark.parametrize(
    ("name", "message", "is_stopped"),
    [
        ("org.apache.spark.SparkException", REMOVED, False),
        ("java.lang.NullPointerException", NO_SESSION, True),
    ],
    ids=["the cluster says it", "the driver says it"],
)
def test_a_statement_whose_application_was_stopped_under_it_is_left_to_the_table_too(
    name: str, message: str, is_stopped: bool
) -> None:
    job = TrackedJob("j")
    stopped = {"class": name, "message": f"{message}\nThis stopped SparkContext was created at:"}
    said = {"event": "job.failed", "job": "j", "causes": [stopped], "is_stopped": is_stopped}
    job.hear(said, NOW)
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == ("lost", FailureReason.OTHER)
    line = f"{name.rpartition('.')[2]}: {message}"
    assert job.outcome.message == f"Spark was stopped during the job: {line}"


def test_what_is_found_after_the_work_are_checks_and_no_part_of_its_result() -> None:
    job = TrackedJob("j")
    job.hear(
        {
            "event": "job.finished",
            "job": "j",
            "result": {"rewritten_data_files_count": 6},
            "checks": {"canary_characters": 12},
        },
        NOW,
    )
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.result, job.outcome.checks) == (
        "finished",
        {"rewritten_data_files_count": 6},
        {"canary_characters": 12},
    )


def test_work_that_was_done_is_not_undone_by_a_check_that_fails() -> None:
    job = TrackedJob("j")
    gone = {
        "class": "org.apache.iceberg.exceptions.NotFoundException",
        "message": "File does not exist: s3://b/t/data/1.parquet",
    }
    job.hear(
        {
            "event": "job.failed",
            "job": "j",
            "causes": [gone],
            "result": {"rewritten_data_files_count": 6},
            "checks": {},
        },
        NOW,
    )
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason, job.outcome.result) == (
        "finished",
        None,
        {"rewritten_data_files_count": 6},
    )
    assert (job.outcome.check_failure, job.outcome.check_failure_reason) == (
        "NotFoundException: File does not exist: s3://b/t/data/1.parquet",
        FailureReason.MISSING_FILE,
    )


def test_a_failure_before_the_work_is_done_is_the_jobs() -> None:
    job = TrackedJob("j")
    refused = {
        "class": "java.lang.IllegalArgumentException",
        "message": "Cannot set branch to unknown snapshot",
    }
    job.hear(
        {"event": "job.failed", "job": "j", "causes": [refused], "result": None, "checks": {}}, NOW
    )
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == ("failed", FailureReason.INVALID_REQUEST)


def test_progress_is_read_whole_and_keeps_what_is_known_when_the_stage_changes() -> None:
    job = TrackedJob("j")
    figures = {
        "tasks_done": 4,
        "tasks_total": 9,
        "file_groups_done": 2,
        "file_groups_total": 5,
        "bytes_read": 100,
        "bytes_written": 40,
        "seconds_left": 30.0,
    }
    job.hear({"event": "spark.progress", "job": "j", "number": 1, "at": 0.0} | figures, NOW)
    job.hear({"event": "statement.started", "job": "j", "number": 2, "part": "after"}, NOW)
    known = Progress(
        4, 9, "checking the result", 2, 5, 100, 40, NOW + timedelta(seconds=30), Stage.CHECKING
    )
    assert job.report().progress == known
    job.hear({"event": "statement.finished", "job": "j", "number": 3}, NOW)
    assert job.report().progress == known
    job.hear(
        {
            "event": "spark.progress",
            "job": "j",
            "number": 4,
            "tasks_done": 9,
            "tasks_total": 9,
            "seconds_left": None,
        },
        NOW,
    )
    assert job.report().progress == Progress(9, 9, "checking the result", stage=Stage.CHECKING)


def test_each_statement_begins_the_stage_of_its_part() -> None:
    job, stages = TrackedJob("j"), [Stage.STARTING]
    assert job.report().progress.stage is Stage.STARTING
    for message in (
        {"event": "job.started"},
        *({"event": "statement.started", "part": part} for part in ("before", "main", "after")),
    ):
        job.hear({"job": "j"} | message, NOW)
        stages.append(job.report().progress.stage)
    assert stages == [
        Stage.STARTING,
        Stage.PREPARING,
        Stage.PREPARING,
        Stage.WORKING,
        Stage.CHECKING,
    ]


def test_a_driver_of_an_earlier_version_names_no_part_and_means_the_work() -> None:
    job = TrackedJob("j")
    job.hear({"event": "statement.started", "job": "j"}, NOW)
    assert job.report().progress.stage is Stage.WORKING


def test_what_the_driver_said_is_acknowledged_when_it_is_asked_for_again_and_the_end_never() -> (
    None
):
    job = TrackedJob("j")
    job.hear({"event": "statement.started", "job": "j", "number": 7}, NOW)
    assert job.acknowledge() == [], "nobody has stored it"
    job.report()
    job.hear({"event": "statement.finished", "job": "j", "number": 8}, NOW)
    assert job.acknowledge() == [7]
    job.hear({"event": "job.finished", "job": "j", "number": 9, "result": {}}, NOW)
    job.report()
    assert (job.acknowledge(), job.acknowledge()) == ([8], [])


def test_a_job_that_was_ended_for_want_of_a_renewal_is_lost_not_cancelled() -> None:
    job = TrackedJob("j")
    job.hear({"event": "job.cancelled", "job": "j", "because": "it was late"}, NOW)
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == ("lost", FailureReason.LOST_RUNNER)
    assert job.outcome.message == "it was late"


@pytest.mark.parametrize(
    "message",
    [
        {"event": "job.finished", "result": {}},
        {"event": "job.cancelled", "result": {}},
        {"event": "job.failed", "causes": []},
    ],
)
def test_however_a_job_ends_its_executors_are_known_if_its_driver_has_counted_them(
    message: dict[str, object],
) -> None:
    counted, fixed = TrackedJob("j"), TrackedJob("j")
    counted.hear({**message, "executors": {"seconds": 12.5, "megabytes": 2048}}, NOW)
    fixed.hear(message, NOW)
    assert counted.outcome is not None
    assert counted.outcome.executors == ExecutorUse(12.5, 2.0)
    assert fixed.outcome is not None
    assert fixed.outcome.executors is None
