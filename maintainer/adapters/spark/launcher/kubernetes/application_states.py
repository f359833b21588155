"""The state of an application of the two Spark operators, with its pod if there is one.

An application has ended only in states that are known to be final. An unknown state, of a newer
operator, counts as in progress.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from maintainer.adapters.kubernetes.objects import name_of, part, text
from maintainer.adapters.spark.launcher import LaunchPhase, LaunchState, add_reason
from maintainer.adapters.spark.launcher.kubernetes.options import KUEUE_QUEUE, Operator
from maintainer.adapters.spark.launcher.kubernetes.pod_states import read_pod
from maintainer.domain.job import FailureReason

Document = Mapping[str, object]

_KUBEFLOW = {
    "": LaunchPhase.STARTING,
    "SUSPENDING": LaunchPhase.QUEUED,
    "SUSPENDED": LaunchPhase.QUEUED,
    "RUNNING": LaunchPhase.RUNNING,
    "SUCCEEDING": LaunchPhase.RUNNING,
    "FAILING": LaunchPhase.RUNNING,
    "COMPLETED": LaunchPhase.ENDED,
    "FAILED": LaunchPhase.ENDED,
    "SUBMISSION_FAILED": LaunchPhase.ENDED,
}
_APACHE = {
    "DriverStarted": LaunchPhase.RUNNING,
    "DriverReady": LaunchPhase.RUNNING,
    "InitializedBelowThresholdExecutors": LaunchPhase.RUNNING,
    "RunningHealthy": LaunchPhase.RUNNING,
    "RunningWithBelowThresholdExecutors": LaunchPhase.RUNNING,
    "Succeeded": LaunchPhase.ENDED,
    "Failed": LaunchPhase.ENDED,
    "SchedulingFailure": LaunchPhase.ENDED,
    "DriverEvicted": LaunchPhase.ENDED,
    "DriverStartTimedOut": LaunchPhase.ENDED,
    "DriverReadyTimedOut": LaunchPhase.ENDED,
    "ExecutorsStartTimedOut": LaunchPhase.ENDED,
    "ResourceReleased": LaunchPhase.ENDED,
    "TerminatedWithoutReleaseResources": LaunchPhase.ENDED,
}
_RELEASED = frozenset({"ResourceReleased", "TerminatedWithoutReleaseResources"})
_FAILURES = {
    "FAILED": ("the application failed", FailureReason.OTHER),
    "SUBMISSION_FAILED": (
        "the operator could not create the driver",
        FailureReason.RUNNER_UNAVAILABLE,
    ),
    "Failed": ("the application failed", FailureReason.OTHER),
    "SchedulingFailure": (
        "the operator could not create the driver",
        FailureReason.RUNNER_UNAVAILABLE,
    ),
    "DriverEvicted": ("evicted", FailureReason.LOST_RUNNER),
    "DriverStartTimedOut": ("the driver did not start in time", FailureReason.RUNNER_UNAVAILABLE),
    "DriverReadyTimedOut": ("the driver did not start in time", FailureReason.RUNNER_UNAVAILABLE),
    "ExecutorsStartTimedOut": (
        "the executors did not start in time",
        FailureReason.RUNNER_UNAVAILABLE,
    ),
}
_WITHOUT_POD = frozenset({"SUBMISSION_FAILED", "SchedulingFailure"})
_REPORTED = frozenset({"FAILED", "Failed"})  # of the driver's own container
_EXIT_CODE = re.compile(r"exit ?code:? \d+|exited with \d+", re.IGNORECASE)
_OUT_OF_MEMORY = re.compile(r"OOMKilled|out of memory", re.IGNORECASE)
_LOST = re.compile(r"Evicted|exit ?code:? 137", re.IGNORECASE)


def read_application(operator: Operator, application: Document, pod: Document) -> LaunchState:
    """Return the state of a driver from its application and its pod; empty: there is no pod."""
    if operator is Operator.APACHE:
        state, message = _read_apache(application)
        phases = _APACHE
    else:
        state = text(application, "status", "applicationState", "state")
        message = text(application, "status", "applicationState", "errorMessage")
        phases = _KUBEFLOW
    seen = read_pod(pod, ()) if pod else LaunchState(LaunchPhase.STARTING)
    described = LaunchState(
        LaunchPhase.STARTING,
        application_id=_application_id(operator, application) or seen.application_id,
        pod=seen.pod,
    )
    phase = phases.get(state, LaunchPhase.STARTING)
    if phase is LaunchPhase.ENDED:
        return _read_end(described, state, message, seen)
    if phase is LaunchPhase.QUEUED or part(application, "spec").get("suspend") is True:
        return replace(described, phase=LaunchPhase.QUEUED, reason=_explain_queue(application))
    if pod:  # the operator learns the state of its pod later than the launcher
        return replace(described, phase=seen.phase, reason=seen.reason, failure=seen.failure)
    if phase is LaunchPhase.RUNNING:
        return replace(described, phase=phase)
    return replace(described, reason=_explain_start(application, state, message))


def _read_end(described: LaunchState, state: str, message: str, seen: LaunchState) -> LaunchState:
    if state not in _FAILURES:
        works = state in _RELEASED and seen.pod and seen.phase is not LaunchPhase.ENDED
        return replace(described, phase=LaunchPhase.GONE if works else LaunchPhase.ENDED)
    # The operator may give up a driver whose pod still works, as on a node that is cut off. Without
    # a pod the driver never worked, and an exit code comes from a kubelet.
    has_ended = (
        seen.phase is LaunchPhase.ENDED
        or state in _WITHOUT_POD
        or (state in _REPORTED and _EXIT_CODE.search(message) is not None)
    )
    phase = LaunchPhase.ENDED if has_ended else LaunchPhase.GONE
    words, failure = _FAILURES[state]
    if seen.failure is not None:
        return replace(described, phase=phase, reason=seen.reason, failure=seen.failure)
    if _OUT_OF_MEMORY.search(message):
        failure = FailureReason.OUT_OF_MEMORY
    elif failure is FailureReason.OTHER and _LOST.search(message):
        failure = FailureReason.LOST_RUNNER
    reason = add_reason(words, message)
    return replace(described, phase=phase, reason=reason, failure=failure)


def _read_apache(application: Document) -> tuple[str, str]:
    """Return the state and its message; for a released application, those before its release."""
    current = part(application, "status", "currentState")
    if text(current, "currentStateSummary") in _RELEASED:
        history = part(application, "status", "stateTransitionHistory")
        for number in sorted(history, key=_number, reverse=True):
            earlier = part(history, number)
            if text(earlier, "currentStateSummary") in _FAILURES:
                current = earlier
                break
    return text(current, "currentStateSummary"), text(current, "message")


def _number(key: str) -> int:
    return int(key) if key.isdigit() else -1


def _application_id(operator: Operator, application: Document) -> str:
    if operator is Operator.APACHE:
        return ""  # the driver's pod has the message
    return text(application, "status", "sparkApplicationId")


def _explain_queue(application: Document) -> str:
    queue = text(part(application, "metadata", "labels"), KUEUE_QUEUE)
    return f"waits in Kueue's queue {queue}" if queue else "suspended"


def _explain_start(application: Document, state: str, message: str) -> str:
    said = f"the operator reports {state}" if state else "the operator has not taken it up yet"
    return f"{said}: {message}" if message else f"{said} ({name_of(application)})"
