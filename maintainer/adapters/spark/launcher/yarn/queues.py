"""Finds a queue in what a resource manager says of its scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from maintainer.adapters.spark.prerequisites import Finding

_FIFO = "fifoScheduler"


def describe_queue(scheduler: Mapping[str, Any], queue: str) -> Finding:
    """Say whether the queue exists and accepts applications; a queue's path or last name names it.

    The capacity scheduler tells a queue's state, the fair scheduler none, and a FIFO has no queues.
    """
    what = f"YARN queue {queue}"
    if scheduler.get("type") == _FIFO:
        return what, True, "the cluster's scheduler has one queue for all"
    for found in _walk(scheduler.get("rootQueue") or scheduler):
        names = {found.get("queuePath"), found.get("queueName")}
        if queue not in names and f"root.{queue}" not in names:
            continue
        state = str(found.get("state") or "RUNNING")
        if state != "RUNNING":
            return what, False, f"it is {state.lower()} and accepts no applications"
        return what, True, "it exists and accepts applications"
    return what, False, "the cluster has no such queue; spark.yarn.queue names another"


def _walk(queue: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield queue
    for part in ("queues", "childQueues"):
        for child in (queue.get(part) or {}).get("queue") or ():
            yield from _walk(child)
