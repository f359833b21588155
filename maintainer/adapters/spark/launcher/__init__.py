"""The start of a driver on a machine or a cluster, and its state as seen from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from maintainer.adapters.spark.link import LogPart
from maintainer.adapters.spark.options import Executors
from maintainer.domain.job import FailureReason
from maintainer.domain.job_size import JobSize


@dataclass(frozen=True, slots=True)
class DriverSpec:
    """The data for starting one driver. The start token is the only secret in it."""

    name: str  # a DNS label of at most 50 characters; the same name is the same driver
    installation: str  # the store's instance id, for labels
    size: JobSize
    memory: str  # of the driver's JVM, in Spark's format
    executors: Executors | None  # None: tasks run in the driver
    address: str  # the URL of the link, as the driver reaches it
    start_token: str
    authority: str = ""  # PEM of the authority behind the link's certificate; empty: the system's


class LaunchPhase(StrEnum):
    """The phase of a driver's application, seen from outside; an unknown state is never an end."""

    QUEUED = "queued"  # the cluster has accepted it and has no room yet
    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"
    GONE = "gone"  # nothing is known of it: it ended and was removed, or it never was


@dataclass(frozen=True, slots=True)
class LaunchState:
    """A driver's application, seen from outside."""

    phase: LaunchPhase
    reason: str = ""  # in words, such as "the image x cannot be pulled: not found"
    failure: FailureReason | None = None  # of an application that ended with a failure
    application_id: str = ""
    pod: str = ""


def add_reason(words: str, reason: str) -> str:
    """Put a reason behind the words, if there is one."""
    return f"{words}: {reason}" if reason else words


class Launcher(Protocol):
    """Starts drivers that talk over HTTP."""

    def launch(self, spec: DriverSpec) -> str:
        """Start the driver and return its handle; the same name twice is one driver.

        RunnerUnavailableError if it cannot be started.
        """

    def state(self, handle: str) -> LaunchState:
        """Return the state of its application.

        RunnerUnavailableError while the cluster cannot be asked.
        """

    def log(self, handle: str, since: int) -> LogPart:
        """Return whole lines of its log from where an earlier part ended, from its start for 0.

        An empty part if there is nothing new, no log yet, or no log any more: after `end` nobody
        asks. RunnerUnavailableError while it cannot be read.
        """

    def end(self, handle: str) -> None:
        """End it and delete all that its launch made; unknown handles are ignored."""

    def find(self) -> Sequence[str]:
        """Return the handles of all applications of this installation."""

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Return (what, whether it works, sentence) for what a launch needs."""
