"""Applications as the two operators describe them, and the states that they become."""

from __future__ import annotations

from typing import Any

import pytest

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.kubernetes.application_states import read_application
from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from maintainer.domain.job import FailureReason
from tests.adapters.spark.launcher.kubernetes.pod_documents import (
    PULL,
    ended,
    pod,
    unscheduled,
    waiting,
)

QUEUED, STARTING, RUNNING, ENDED, GONE = (
    LaunchPhase.QUEUED,
    LaunchPhase.STARTING,
    LaunchPhase.RUNNING,
    LaunchPhase.ENDED,
    LaunchPhase.GONE,
)
QUOTA = (
    'pods "driver-1" is forbidden: exceeded quota: compute, requested: memory=10Gi, '
    "used: memory=60Gi, limited: memory=64Gi"
)
NOT_TAKEN = "the operator has not taken it up yet (driver-1)"


def application(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "driver-1", "labels": {}}, "spec": {}, "status": {}, **more}


def kubeflow(state: str, message: str = "", **more: Any) -> dict[str, Any]:
    status = {
        "applicationState": {"state": state, **({"errorMessage": message} if message else {})},
        "driverInfo": {"podName": "driver-1"},
        "sparkApplicationId": "spark-7f",
        "executionAttempts": 1,
    }
    return application(status=status, **more)


def apache(*states: tuple[str, str]) -> dict[str, Any]:
    entries = [
        {
            "currentStateSummary": state,
            "message": message,
            "lastTransitionTime": "2026-11-22T10:00:00Z",
        }
        for state, message in states
    ]
    history = {str(number): entry for number, entry in enumerate(entries)}
    return application(status={"currentState": entries[-1], "stateTransitionHistory": history})


@pytest.mark.parametrize(
    ("document", "phase", "reason", "failure"),
    [
        (application(), STARTING, NOT_TAKEN, None),
        (kubeflow(""), STARTING, NOT_TAKEN, None),
        (kubeflow("SUBMITTED"), STARTING, "the operator reports SUBMITTED (driver-1)", None),
        (kubeflow("RUNNING"), RUNNING, "", None),
        (kubeflow("SUCCEEDING"), RUNNING, "", None),
        (kubeflow("FAILING"), RUNNING, "", None),
        (
            kubeflow("PENDING_RERUN"),
            STARTING,
            "the operator reports PENDING_RERUN (driver-1)",
            None,
        ),
        (kubeflow("UNKNOWN"), STARTING, "the operator reports UNKNOWN (driver-1)", None),
        (kubeflow("HIBERNATING"), STARTING, "the operator reports HIBERNATING (driver-1)", None),
        (kubeflow("SUSPENDED"), QUEUED, "suspended", None),
        (
            kubeflow(
                "",
                metadata={
                    "name": "driver-1",
                    "labels": {"kueue.x-k8s.io/queue-name": "maintenance"},
                },
                spec={"suspend": True},
            ),
            QUEUED,
            "waits in Kueue's queue maintenance",
            None,
        ),
        (kubeflow("COMPLETED"), ENDED, "", None),
        (
            kubeflow("FAILED", "driver container failed with ExitCode: 1, Reason: Error"),
            ENDED,
            "the application failed: driver container failed with ExitCode: 1, Reason: Error",
            FailureReason.OTHER,
        ),
        (
            kubeflow("FAILED", "driver container failed with ExitCode: 137, Reason: OOMKilled"),
            ENDED,
            (
                "the application failed: "
                "driver container failed with ExitCode: 137, Reason: OOMKilled"
            ),
            FailureReason.OUT_OF_MEMORY,
        ),
        (
            kubeflow("FAILED", "driver container failed with ExitCode: 137, Reason: Error"),
            ENDED,
            "the application failed: driver container failed with ExitCode: 137, Reason: Error",
            FailureReason.LOST_RUNNER,
        ),
        (
            kubeflow("SUBMISSION_FAILED", f"failed to run spark-submit: {QUOTA}"),
            ENDED,
            f"the operator could not create the driver: failed to run spark-submit: {QUOTA}",
            FailureReason.RUNNER_UNAVAILABLE,
        ),
    ],
)
def test_a_state_of_kubeflows_operator(
    document: dict[str, Any], phase: LaunchPhase, reason: str, failure: FailureReason | None
) -> None:
    state = read_application(Operator.KUBEFLOW, document, {})
    assert (state.phase, state.reason, state.failure) == (phase, reason, failure)


@pytest.mark.parametrize(
    ("document", "phase", "reason", "failure"),
    [
        (application(), STARTING, NOT_TAKEN, None),
        (apache(("Submitted", "")), STARTING, "the operator reports Submitted (driver-1)", None),
        (
            apache(("DriverRequested", "Requested driver.")),
            STARTING,
            "the operator reports DriverRequested: Requested driver.",
            None,
        ),
        (apache(("DriverStarted", "")), RUNNING, "", None),
        (apache(("RunningHealthy", "")), RUNNING, "", None),
        (apache(("RunningWithBelowThresholdExecutors", "")), RUNNING, "", None),
        (
            apache(("Hibernating", "")),
            STARTING,
            "the operator reports Hibernating (driver-1)",
            None,
        ),
        (apache(("Succeeded", "")), ENDED, "", None),
        (
            apache(("Failed", "Driver container exited with 1")),
            ENDED,
            "the application failed: Driver container exited with 1",
            FailureReason.OTHER,
        ),
        (
            apache(("SchedulingFailure", QUOTA)),
            ENDED,
            f"the operator could not create the driver: {QUOTA}",
            FailureReason.RUNNER_UNAVAILABLE,
        ),
        (apache(("DriverEvicted", "")), GONE, "evicted", FailureReason.LOST_RUNNER),
        (
            apache(("DriverStartTimedOut", "")),
            GONE,
            "the driver did not start in time",
            FailureReason.RUNNER_UNAVAILABLE,
        ),
        (apache(("Succeeded", ""), ("ResourceReleased", "Released.")), ENDED, "", None),
        (
            apache(
                ("DriverReady", ""),
                ("Failed", "exit code 1"),
                ("TerminatedWithoutReleaseResources", ""),
            ),
            ENDED,
            "the application failed: exit code 1",
            FailureReason.OTHER,
        ),
    ],
)
def test_a_state_of_apaches_operator(
    document: dict[str, Any], phase: LaunchPhase, reason: str, failure: FailureReason | None
) -> None:
    state = read_application(Operator.APACHE, document, {})
    assert (state.phase, state.reason, state.failure) == (phase, reason, failure)


@pytest.mark.parametrize(
    ("operator", "document"),
    [
        (Operator.KUBEFLOW, kubeflow("SUBMITTED")),
        (Operator.APACHE, apache(("DriverRequested", ""))),
    ],
)
def test_a_pod_says_more_than_its_operator(operator: Operator, document: dict[str, Any]) -> None:
    running = read_application(operator, document, pod("Running"))
    pulling = read_application(operator, document, waiting("ImagePullBackOff", PULL))
    queued = read_application(operator, document, unscheduled("Unschedulable", "no room"))
    gone = read_application(operator, document, ended(0, "Completed"))
    assert (running.phase, running.pod) == (RUNNING, "driver-1")
    assert (pulling.phase, pulling.reason) == (
        STARTING,
        f"the image registry.example/m:1 cannot be pulled: {PULL}",
    )
    assert (queued.phase, queued.reason) == (QUEUED, "no node can take the pod: no room")
    assert gone.phase is ENDED


@pytest.mark.parametrize(
    ("operator", "document"),
    [
        (Operator.KUBEFLOW, kubeflow("FAILED", "driver container failed with ExitCode: 137")),
        (Operator.APACHE, apache(("Failed", "Driver has failed"))),
    ],
)
def test_the_cause_of_a_failure_is_the_pods(operator: Operator, document: dict[str, Any]) -> None:
    state = read_application(operator, document, ended(137, "OOMKilled"))
    assert (state.reason, state.failure) == (
        "out of memory (exit code 137)",
        FailureReason.OUT_OF_MEMORY,
    )


def test_the_application_id_is_the_operators_or_the_pods() -> None:
    labelled = pod("Running", metadata={"labels": {"spark-app-selector": "spark-9c"}})
    by_operator = read_application(Operator.KUBEFLOW, kubeflow("RUNNING"), labelled)
    by_pod = read_application(Operator.APACHE, apache(("RunningHealthy", "")), labelled)
    assert (by_operator.application_id, by_pod.application_id) == ("spark-7f", "spark-9c")


@pytest.mark.parametrize("state", ["DriverReadyTimedOut", "DriverEvicted", "Failed"])
def test_a_driver_that_its_operator_gives_up_may_still_work(state: str) -> None:
    given_up = apache((state, ""))
    assert read_application(Operator.APACHE, given_up, pod("Running")).phase is GONE
    assert read_application(Operator.APACHE, given_up, ended(1, "Error")).phase is ENDED


@pytest.mark.parametrize("state", ["ResourceReleased", "TerminatedWithoutReleaseResources"])
def test_a_released_application_with_a_pod_at_work_has_not_ended(state: str) -> None:
    released = apache((state, ""))
    assert read_application(Operator.APACHE, released, pod("Running")).phase is GONE
    assert read_application(Operator.APACHE, released, ended(0, "Completed")).phase is ENDED
    assert read_application(Operator.APACHE, released, {}).phase is ENDED


def test_the_exit_code_of_an_executor_says_nothing_of_the_driver() -> None:
    given_up = apache(("DriverReadyTimedOut", "executor 3 exited with exit code 137"))
    assert read_application(Operator.APACHE, given_up, pod("Running")).phase is GONE
