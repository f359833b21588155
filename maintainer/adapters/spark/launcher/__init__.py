"""Starts drivers on a machine or a cluster, and observes their state there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from maintainer.adapters.spark.link import LogPart
from maintainer.adapters.spark.options import Executors
from maintainer.domain.job import FailureReason
from maintainer.domain.pool import JobSize


@dataclass(frozen=True, slots=True)
class DriverSpec:
    """The data for starting one driver. Only the start token is a secret."""

    name: str  # a DNS label of at most 50 characters; one name is one driver
    installation: str  # the store's instance id, for labels
    size: JobSize
    memory: str  # of the driver's JVM, in Spark's format
    executors: Executors | None  # None: tasks run in the driver
    address: str  # the URL of the link, for the driver
    start_token: str
    authority: str = ""  # PEM of the link's certificate authority; empty: the system's authorities


class LaunchPhase(StrEnum):
    """The phase of a driver's application; an unknown state never counts as an end."""

    QUEUED = "queued"  # the cluster has accepted the application, and has no room yet
    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"
    # The cluster no longer knows it, or has given it up without a report of its end. Its process
    # may still work until the fence of its jobs.
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class LaunchState:
    """The state of a driver's application."""

    phase: LaunchPhase
    reason: str = ""  # in words, such as "the image x cannot be pulled: not found"
    failure: FailureReason | None = None  # of an application that ended with a failure
    application_id: str = ""
    pod: str = ""


def add_reason(words: str, reason: str) -> str:
    """Add the reason to the words, if there is one."""
    return f"{words}: {reason}" if reason else words


class Launcher(Protocol):
    """Starts drivers that poll over HTTP."""

    def launch(self, spec: DriverSpec) -> str:
        """Start the driver and return its handle; a second call with the same name starts none.

        RunnerUnavailableError if the driver cannot be started.
        """

    def state(self, handle: str) -> LaunchState:
        """Return the state of the driver's application.

        RunnerUnavailableError while the cluster does not answer.
        """

    def log(self, handle: str, since: int) -> LogPart:
        """Return whole lines of the driver's log after an earlier part; with 0 from its start.

        The part is empty if there are no new lines or if there is no log. After `end` this method
        is not called. RunnerUnavailableError while the log cannot be read.
        """

    def end(self, handle: str) -> None:
        """End the driver and delete all that its launch created; unknown handles are ignored."""

    def find(self) -> Sequence[str]:
        """Return the handles of all applications of this installation."""

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Return (name, whether it works, sentence) for each thing that a launch needs."""
