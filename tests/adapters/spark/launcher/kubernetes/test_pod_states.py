"""Pods as real clusters describe them, and the state and the words that they become."""

from __future__ import annotations

from typing import Any

import pytest

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.kubernetes.pod_states import needs_events, read_pod
from maintainer.domain.job import FailureReason
from tests.adapters.spark.launcher.kubernetes.pod_documents import (
    PULL,
    container,
    ended,
    event,
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
OOM, LOST, OTHER = FailureReason.OUT_OF_MEMORY, FailureReason.LOST_RUNNER, FailureReason.OTHER
NO_ROOM = (
    "0/3 nodes are available: 1 node(s) had untolerated taint {pool: gpu}, "
    "2 Insufficient memory. preemption: 0/3 nodes are available."
)
KUEUE = {
    "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "maintenance"}},
    "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
}
YUNIKORN = {
    "metadata": {"labels": {"yunikorn.apache.org/queue": "root.maintenance"}},
    "spec": {"schedulerName": "yunikorn"},
}
EVICTED = {
    "reason": "Evicted",
    "message": "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi.",
}
PREEMPTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "default-scheduler: preempting to accommodate a higher priority pod",
}
KILLED = container({"terminated": {"exitCode": 137, "reason": "Error"}})


@pytest.mark.parametrize(
    ("document", "phase", "reason", "failure"),
    [
        (pod(""), STARTING, "", None),
        (pod("Pending"), STARTING, "", None),
        (waiting("ContainerCreating"), STARTING, "", None),
        (waiting("PodInitializing"), STARTING, "", None),
        (pod("Running"), RUNNING, "", None),
        (pod("Unknown"), RUNNING, "its node does not answer", None),
        (pod("Hibernating"), RUNNING, "", None),
        (
            pod("Running", metadata={"deletionTimestamp": "2026-11-22T10:00:30Z"}),
            RUNNING,
            "it is being deleted",
            None,
        ),
        (
            waiting("ImagePullBackOff", PULL),
            STARTING,
            f"the image registry.example/m:1 cannot be pulled: {PULL}",
            None,
        ),
        (
            waiting("ErrImagePull", "unauthorized: authentication\nrequired"),
            STARTING,
            (
                "the image registry.example/m:1 cannot be pulled: "
                "unauthorized: authentication required"
            ),
            None,
        ),
        (
            waiting("InvalidImageName"),
            STARTING,
            "the image registry.example/m:1 cannot be pulled",
            None,
        ),
        (
            waiting("CreateContainerConfigError", 'secret "s3-keys" not found'),
            STARTING,
            'the container cannot be configured: secret "s3-keys" not found',
            None,
        ),
        (
            waiting("RunContainerError", "exec: no such file"),
            STARTING,
            "the container cannot be started: exec: no such file",
            None,
        ),
        (
            unscheduled("Unschedulable", NO_ROOM),
            QUEUED,
            f"no node can take the pod: {NO_ROOM}",
            None,
        ),
        (
            unscheduled("SchedulingGated", "Scheduling is blocked", **KUEUE),
            QUEUED,
            "waits in Kueue's queue maintenance",
            None,
        ),
        (
            unscheduled(
                "SchedulingGated", "", spec={"schedulingGates": [{"name": "example.com/budget"}]}
            ),
            QUEUED,
            "waits for example.com/budget",
            None,
        ),
        (pod("Pending", **YUNIKORN), QUEUED, "waits in YuniKorn's queue root.maintenance", None),
        (
            unscheduled("Unschedulable", "queue is full", **YUNIKORN),
            QUEUED,
            "waits in YuniKorn's queue root.maintenance: queue is full",
            None,
        ),
        (ended(0, "Completed"), ENDED, "", None),
        (ended(137, "OOMKilled"), ENDED, "out of memory (exit code 137)", OOM),
        (
            ended(137, "Error"),
            ENDED,
            "killed from outside (exit code 137); often its node had no memory left",
            LOST,
        ),
        (ended(137, "ContainerStatusUnknown"), ENDED, "its node was lost", LOST),
        (
            ended(4, "Error", message="no jars"),
            ENDED,
            "the driver ended with exit code 4: no jars",
            OTHER,
        ),
        (pod("Failed"), GONE, "the driver ended with exit code unknown", OTHER),
        (
            pod("Failed", status=EVICTED),
            GONE,
            ("evicted: The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi."),
            LOST,
        ),
        (pod("Failed", status={"reason": "NodeLost"}), GONE, "its node was lost", LOST),
        (pod("Failed", status={"reason": "NewReason"}), GONE, "NewReason", LOST),
        (
            pod("Failed", status={"conditions": [PREEMPTED], "containerStatuses": KILLED}),
            ENDED,
            (
                "preempted by a pod of a higher priority: "
                "default-scheduler: preempting to accommodate a higher priority pod"
            ),
            LOST,
        ),
        (
            pod(
                "Failed",
                metadata={"deletionTimestamp": "2026-11-22T10:00:30Z"},
                status={"containerStatuses": KILLED},
            ),
            ENDED,
            "deleted",
            LOST,
        ),
    ],
)
def test_a_pod_becomes_a_state_with_its_cause(
    document: dict[str, Any], phase: LaunchPhase, reason: str, failure: FailureReason | None
) -> None:
    state = read_pod(document, ())
    assert (state.phase, state.reason, state.failure) == (phase, reason, failure)
    assert state.pod == "driver-1"


WORKS = container({"running": {"startedAt": "2026-11-22T10:00:00Z"}})


@pytest.mark.parametrize(
    "status",
    [
        {"reason": "NodeLost"},
        {"reason": "NodeShutdown"},
        {"conditions": [{**PREEMPTED, "reason": "DeletionByPodGC"}]},
        {"conditions": [{**PREEMPTED, "reason": "DeletionByTaintManager"}]},
        {},
    ],
)
def test_a_container_whose_end_no_kubelet_reported_may_still_work(status: dict[str, Any]) -> None:
    lost = pod("Failed", status=status | {"containerStatuses": WORKS})
    assert read_pod(lost, ()).phase is GONE
    reported = pod("Failed", status=status | {"containerStatuses": KILLED})
    assert read_pod(reported, ()).phase is ENDED


@pytest.mark.parametrize(
    ("code", "reason", "failure"),
    [
        (0, "", None),
        (3, "the driver ended with exit code 3", OTHER),
        (137, "killed from outside (exit code 137); often its node had no memory left", LOST),
    ],
)
def test_a_sidecar_that_lives_on_does_not_hide_the_end_of_the_driver(
    code: int, reason: str, failure: FailureReason | None
) -> None:
    document = ended(code, "Error")
    document["status"]["phase"] = "Running"
    state = read_pod(document, ())
    assert (state.phase, state.reason, state.failure) == (ENDED, reason, failure)


def test_an_eviction_for_memory_that_killed_the_driver_counts_as_out_of_memory() -> None:
    terminated = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    document = pod("Failed", status={**EVICTED, "containerStatuses": container(terminated)})
    assert read_pod(document, ()).failure is OOM


@pytest.mark.parametrize(
    ("events", "phase", "reason"),
    [
        ([], STARTING, ""),
        (
            [event("FailedMount", 'secret "driver-1" not found')],
            STARTING,
            'a volume cannot be mounted: secret "driver-1" not found',
        ),
        (
            [event("FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu.")],
            QUEUED,
            "no node can take the pod: 0/1 nodes are available: 1 Insufficient cpu.",
        ),
        (
            [event("FailedCreatePodSandBox", "network: no address left")],
            STARTING,
            "the node cannot set up the pod: network: no address left",
        ),
        ([event("Scheduled", "assigned", type="Normal")], STARTING, ""),
        ([event("Unheard", "of")], STARTING, ""),
        (
            [
                event("FailedMount", "new", lastTimestamp="2026-11-22T10:00:09Z"),
                event("FailedMount", "old", lastTimestamp="2026-11-22T10:00:01Z"),
            ],
            STARTING,
            "a volume cannot be mounted: new",
        ),
    ],
)
def test_events_explain_what_the_status_does_not(
    events: list[dict[str, Any]], phase: LaunchPhase, reason: str
) -> None:
    state = read_pod(waiting("ContainerCreating"), events)
    assert (state.phase, state.reason) == (phase, reason)


def test_events_are_asked_for_only_where_they_can_explain_something() -> None:
    assert needs_events(waiting("ContainerCreating"))
    assert needs_events(pod("Pending"))
    assert not needs_events(waiting("ImagePullBackOff", PULL))
    assert not needs_events(unscheduled("Unschedulable", NO_ROOM))
    assert not needs_events(pod("Running"))
    assert not needs_events(ended(1, "Error"))


def test_a_long_message_is_cut() -> None:
    state = read_pod(waiting("ErrImagePull", "x" * 5_000), ())
    assert len(state.reason) < 500
    assert state.reason.endswith("x…")


@pytest.mark.parametrize("document", [{}, {"status": None}, {"status": {"conditions": [None]}}])
def test_a_document_without_the_usual_parts_is_in_progress(document: dict[str, Any]) -> None:
    assert read_pod(document, ()).phase is STARTING
