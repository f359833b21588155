from __future__ import annotations

import pytest

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.yarn.launcher import read_application
from maintainer.adapters.spark.launcher.yarn.resource_manager import describe_queue
from maintainer.domain.job import FailureReason
from tests.adapters.spark.launcher.yarn.small_manager import QUEUES

NUMBER = "application_1795374767364_0001"
FAILED = f"Application {NUMBER} failed 1 times due to AM Container for appattempt_1 exited with "


@pytest.mark.parametrize("state", ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"])
def test_what_has_no_container_waits(state: str) -> None:
    words = "Queue's AM resource limit exceeded."
    seen = read_application({"id": NUMBER, "state": state, "queue": "night", "diagnostics": words})
    assert seen.phase is LaunchPhase.QUEUED
    assert seen.reason == f"waits in YARN's queue night: {words}"


@pytest.mark.parametrize("state", ["RUNNING", "HIBERNATING", ""])
def test_an_unknown_state_is_in_progress(state: str) -> None:
    assert read_application({"id": NUMBER, "state": state}).phase is LaunchPhase.RUNNING


@pytest.mark.parametrize(
    ("state", "diagnostics", "reason", "failure"),
    [
        (
            "FAILED",
            (
                f"{FAILED} exitCode: -104\nFailing this attempt.Diagnostics: Container is running "
                "1234B beyond the 'PHYSICAL' memory limit. Current usage: 1.0 GB of 1 GB used"
            ),
            "out of memory: its container exceeded its physical memory",
            FailureReason.OUT_OF_MEMORY,
        ),
        (
            "FAILED",
            f"{FAILED} exitCode: 52\nFailing this attempt.",
            "out of memory (exit code 52)",
            FailureReason.OUT_OF_MEMORY,
        ),
        (
            "FAILED",
            f"{FAILED} exitCode: -100\nContainer released on a *lost* node",
            "its node was lost",
            FailureReason.LOST_RUNNER,
        ),
        (
            "FAILED",
            f"{FAILED} exitCode: 137\n[...]Container killed on request. Exit code is 137",
            "killed from outside (exit code 137); often its node had no memory left",
            FailureReason.LOST_RUNNER,
        ),
        (
            "KILLED",
            f"Application {NUMBER} was killed by user anna at 10.0.0.1",
            "killed by anna",
            FailureReason.LOST_RUNNER,
        ),
        ("KILLED", "", "killed", FailureReason.LOST_RUNNER),
        (
            "FINISHED",
            "User application exited with status 4",
            "its application failed: User application exited with status 4",
            FailureReason.OTHER,
        ),
        (
            "FAILED",
            f"Application {NUMBER} submitted by user m to unknown queue: x",
            f"its application failed: Application {NUMBER} submitted by user m to unknown queue: x",
            FailureReason.OTHER,
        ),
    ],
)
def test_causes_are_words(
    state: str, diagnostics: str, reason: str, failure: FailureReason
) -> None:
    final = "KILLED" if state == "KILLED" else "FAILED"
    seen = read_application(
        {"id": NUMBER, "state": state, "finalStatus": final, "diagnostics": diagnostics}
    )
    assert (seen.phase, seen.reason, seen.failure) == (LaunchPhase.ENDED, reason, failure)


def test_long_diagnostics_are_cut() -> None:
    seen = read_application(
        {"id": NUMBER, "state": "FAILED", "finalStatus": "FAILED", "diagnostics": "x " * 5000}
    )
    assert len(seen.reason) < 600


CAPACITY = {"type": "capacityScheduler", "queueName": "root", "queues": {"queue": QUEUES}}
FAIR = {
    "type": "fairScheduler",
    "rootQueue": {
        "queueName": "root",
        "childQueues": {
            "queue": [{"queueName": "root.night", "type": "fairSchedulerLeafQueueInfo"}]
        },
    },
}


@pytest.mark.parametrize(
    ("scheduler", "queue", "is_fine", "words"),
    [
        (CAPACITY, "default", True, "it exists"),
        (CAPACITY, "root.batch.night", True, "it exists"),
        (CAPACITY, "batch.night", True, "it exists"),
        (CAPACITY, "night", True, "it exists"),
        (CAPACITY, "old", False, "it is stopped and accepts no applications"),
        (CAPACITY, "nigh", False, "the cluster has no such queue"),
        (FAIR, "night", True, "it exists"),
        (FAIR, "day", False, "the cluster has no such queue"),
        ({"type": "fifoScheduler"}, "any", True, "one queue for all"),
    ],
)
def test_a_queue_is_found_by_its_path_or_its_name(
    scheduler: dict[str, object], queue: str, is_fine: bool, words: str
) -> None:
    what, found, sentence = describe_queue(scheduler, queue)
    assert (what, found) == (f"YARN queue {queue}", is_fine)
    assert words in sentence
