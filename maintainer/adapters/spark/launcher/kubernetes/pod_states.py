"""The state of a driver, with the reason as a text, from its pod and the pod's events.

A pod that has not ended is in progress, even if it reports an error: an image may appear later, and
a node may get room. The daemon waits for this at most until its start timeout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maintainer.adapters.kubernetes.objects import name_of, part, parts, text
from maintainer.adapters.spark.launcher import LaunchPhase, LaunchState, add_reason
from maintainer.adapters.spark.launcher.kubernetes.options import KUEUE_QUEUE, YUNIKORN_QUEUE
from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER
from maintainer.domain.job import FailureReason

_KILLED = 137  # 128 + SIGKILL
_IMAGE_REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
)
_CONTAINER_REASONS = {
    "CreateContainerConfigError": "the container cannot be configured",
    "CreateContainerError": "the container cannot be created",
    "RunContainerError": "the container cannot be started",
}
# Warnings that explain a pod whose status does not, the most helpful first.
_EVENT_REASONS = {
    "FailedMount": "a volume cannot be mounted",
    "FailedAttachVolume": "a volume cannot be attached",
    "FailedCreatePodSandBox": "the node cannot set up the pod",
    "Failed": "the container cannot be started",
}
_FAILED_POD_REASONS = {
    "Evicted": "evicted",
    "Preempting": "preempted by a pod of a higher priority",
    "NodeShutdown": "its node was shut down",
    "NodeLost": "its node was lost",
    "Terminated": "its node was shut down",
    "OutOfcpu": "the node had no CPU left",
    "OutOfmemory": "the node had no memory left",
    "DeadlineExceeded": "its deadline was over",
}
_DISRUPTIONS = {
    "PreemptionByScheduler": "preempted by a pod of a higher priority",
    "DeletionByTaintManager": "removed from its node, whose taint it does not tolerate",
    "EvictionByEvictionAPI": "evicted for maintenance of its node",
    "DeletionByPodGC": "its node was lost",
    "TerminationByKubelet": "ended by its node",
}


def read_pod(pod: Mapping[str, object], events: Sequence[Mapping[str, object]]) -> LaunchState:
    match text(pod, "status", "phase"):
        case "Succeeded":
            phase, reason, failure = LaunchPhase.ENDED, "", None
        case "Failed":
            # On a node that is cut off, the container may still work and commit. Only a kubelet
            # knows that it has ended, and says so in its status.
            has_ended = bool(part(_driver_container(pod), "state", "terminated"))
            phase = LaunchPhase.ENDED if has_ended else LaunchPhase.GONE
            reason, failure = _explain_failure(pod)
        case "Pending" | "":
            phase, reason = _read_pending(pod, events)
            failure = None
        case "Unknown":
            phase, reason = LaunchPhase.RUNNING, "its node does not answer"
            failure = None
        case _:
            phase, reason, failure = _read_running(pod)
    application = text(pod, "metadata", "labels", "spark-app-selector")
    return LaunchState(phase, reason, failure, application, name_of(pod))


def needs_events(pod: Mapping[str, object]) -> bool:
    """Return whether the status of a pod does not say why the pod does not start."""
    state = read_pod(pod, ())
    return state.phase is LaunchPhase.STARTING and not state.reason


def _explain_exit(container: Mapping[str, object]) -> tuple[str, FailureReason]:
    terminated = part(container, "state", "terminated")
    code, reason = text(terminated, "exitCode"), text(terminated, "reason")
    if reason == "OOMKilled":
        return f"out of memory (exit code {code})", FailureReason.OUT_OF_MEMORY
    if reason == "ContainerStatusUnknown":
        return "its node was lost", FailureReason.LOST_RUNNER
    if code == str(_KILLED):
        sentence = f"killed from outside (exit code {code}); often its node had no memory left"
        return sentence, FailureReason.LOST_RUNNER
    message = text(terminated, "message")
    return add_reason(f"the driver ended with exit code {code or 'unknown'}", message), (
        FailureReason.OTHER
    )


def _read_running(pod: Mapping[str, object]) -> tuple[LaunchPhase, str, FailureReason | None]:
    """Return the state of a running pod, in which possibly only another container still runs."""
    container = _driver_container(pod)
    ended = part(container, "state", "terminated")
    if not ended:
        return LaunchPhase.RUNNING, "it is being deleted" if _is_deleted(pod) else "", None
    if text(ended, "exitCode") == "0":
        return LaunchPhase.ENDED, "", None
    return (LaunchPhase.ENDED, *_explain_exit(container))


def _explain_failure(pod: Mapping[str, object]) -> tuple[str, FailureReason]:
    reason, message = text(pod, "status", "reason"), text(pod, "status", "message")
    container = _driver_container(pod)
    if text(container, "state", "terminated", "reason") == "OOMKilled":
        return _explain_exit(container)
    if reason:
        return add_reason(
            _FAILED_POD_REASONS.get(reason, reason), message
        ), FailureReason.LOST_RUNNER
    disruption = _condition(pod, "DisruptionTarget")
    if text(disruption, "status") == "True":
        reason = text(disruption, "reason")
        return add_reason(_DISRUPTIONS.get(reason, reason), text(disruption, "message")), (
            FailureReason.LOST_RUNNER
        )
    if _is_deleted(pod):
        return "deleted", FailureReason.LOST_RUNNER
    return _explain_exit(container)


def _read_pending(
    pod: Mapping[str, object], events: Sequence[Mapping[str, object]]
) -> tuple[LaunchPhase, str]:
    scheduled = _condition(pod, "PodScheduled")
    if text(scheduled, "status") == "False":
        return LaunchPhase.QUEUED, _explain_queue(pod, scheduled)
    scheduler = text(pod, "spec", "schedulerName")
    if not scheduled and not text(pod, "spec", "nodeName") and scheduler == "yunikorn":
        return LaunchPhase.QUEUED, _explain_queue(pod, {})
    for container in (
        *parts(pod, "status", "initContainerStatuses"),
        *parts(pod, "status", "containerStatuses"),
    ):
        waiting = part(container, "state", "waiting")
        reason, message = text(waiting, "reason"), text(waiting, "message")
        if reason in _IMAGE_REASONS:
            image = text(container, "image") or _driver_image(pod)
            return LaunchPhase.STARTING, add_reason(f"the image {image} cannot be pulled", message)
        if reason in _CONTAINER_REASONS:
            return LaunchPhase.STARTING, add_reason(_CONTAINER_REASONS[reason], message)
    return _read_events(events)


def _explain_queue(pod: Mapping[str, object], scheduled: Mapping[str, object]) -> str:
    labels = part(pod, "metadata", "labels")
    message = text(scheduled, "message")
    gates = [text(gate, "name") for gate in parts(pod, "spec", "schedulingGates")]
    if text(labels, KUEUE_QUEUE) and any(gate.startswith("kueue") for gate in gates):
        return f"waits in Kueue's queue {text(labels, KUEUE_QUEUE)}"
    if gates:
        return f"waits for {', '.join(gates)}"
    if text(pod, "spec", "schedulerName") == "yunikorn":
        return add_reason(f"waits in YuniKorn's queue {text(labels, YUNIKORN_QUEUE)}", message)
    return add_reason("no node can take the pod", message)


def _read_events(events: Sequence[Mapping[str, object]]) -> tuple[LaunchPhase, str]:
    newest = {
        text(event, "reason"): text(event, "message")
        for event in sorted(events, key=_instant)
        if text(event, "type") == "Warning"
    }
    for reason, words in _EVENT_REASONS.items():
        if reason in newest:
            return LaunchPhase.STARTING, add_reason(words, newest[reason])
    if "FailedScheduling" in newest:
        return LaunchPhase.QUEUED, add_reason(
            "no node can take the pod", newest["FailedScheduling"]
        )
    return LaunchPhase.STARTING, ""


def _instant(event: Mapping[str, object]) -> str:
    return text(event, "lastTimestamp") or text(event, "eventTime")


def _condition(pod: Mapping[str, object], kind: str) -> Mapping[str, object]:
    conditions = parts(pod, "status", "conditions")
    return next((each for each in conditions if text(each, "type") == kind), {})


def _driver_container(pod: Mapping[str, object]) -> Mapping[str, object]:
    containers = parts(pod, "status", "containerStatuses")
    return next((each for each in containers if text(each, "name") == DRIVER_CONTAINER), {})


def _driver_image(pod: Mapping[str, object]) -> str:
    containers = parts(pod, "spec", "containers")
    return next(
        (text(each, "image") for each in containers if text(each, "name") == DRIVER_CONTAINER), ""
    )


def _is_deleted(pod: Mapping[str, object]) -> bool:
    return bool(text(pod, "metadata", "deletionTimestamp"))
