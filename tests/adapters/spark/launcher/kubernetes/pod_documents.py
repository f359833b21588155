"""Pods and events as a cluster describes them."""

from __future__ import annotations

from typing import Any

PULL = 'Back-off pulling image "registry.example/m:1": ErrImagePull: not found'
SCHEDULED = {"type": "PodScheduled", "status": "True"}


def pod(phase: str, **more: Any) -> dict[str, Any]:
    status = {"phase": phase, "qosClass": "Burstable", **more.pop("status", {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "driver-1", "labels": {}, **more.pop("metadata", {})},
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{"name": "spark-kubernetes-driver", "image": "registry.example/m:1"}],
            **more.pop("spec", {}),
        },
        "status": status,
    }


def container(state: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": "spark-kubernetes-driver",
            "image": "registry.example/m:1",
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "started": False,
            "state": state,
            **more,
        }
    ]


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    return pod("Pending", status={"conditions": [SCHEDULED], "containerStatuses": container(state)})


def ended(code: int, reason: str, **more: Any) -> dict[str, Any]:
    terminated = {
        "exitCode": code,
        "reason": reason,
        "startedAt": "2026-11-22T10:00:00Z",
        "finishedAt": "2026-11-22T10:05:00Z",
        **more,
    }
    phase = "Succeeded" if code == 0 else "Failed"
    return pod(phase, status={"containerStatuses": container({"terminated": terminated})})


def unscheduled(reason: str, message: str, **more: Any) -> dict[str, Any]:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-11-22T10:00:00Z",
    }
    return pod("Pending", status={"conditions": [condition]}, **more)


def event(reason: str, message: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "lastTimestamp": "2026-11-22T10:00:05Z",
        "involvedObject": {"kind": "Pod", "name": "driver-1"},
        **more,
    }
