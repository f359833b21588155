"""The connection of the daemon to a driver, as the other modules see it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.adapters.spark.options import DriverSize


@dataclass(frozen=True, slots=True)
class LogPart:
    """A part of a driver's log, and the position of the next part: a number of bytes, or a time."""

    text: str
    next: int
    has_more: bool = False  # the part is full, and the next part can be read now


def explain_end(reason: str) -> Mapping[str, object]:
    """Return the last message of a driver that the daemon has ended for this reason."""
    return {
        "reason": reason,
        "causes": [{"class": "RunnerUnavailableError", "message": reason}],
    }


class Driver(Protocol):
    """One driver with any launcher and any link; an ended driver never runs again."""

    fingerprint: str  # of its start settings; empty until it is known
    megabytes: int  # of its JVM
    is_started: bool  # its Spark application runs
    is_worn: bool  # the driver finishes its jobs, and takes no more
    is_caught_up: threading.Event  # all messages from before this connection have been received
    is_ended: threading.Event  # driver and JVM have ended: nothing can commit any more
    last_words: Mapping[str, object]  # why its application ended; empty while it runs

    @property
    def name(self) -> str:
        """The driver's name, which is unique in the installation."""

    @property
    def log(self) -> object:
        """Where people find the driver's log; str() makes the text."""

    @property
    def hindrance(self) -> str:
        """Why the driver does not start, as the machine or cluster reports it; empty if unknown."""

    def run(self, order: Mapping[str, object], valid_for: timedelta | None) -> None:
        """Give the driver a job with this time to work; None: as long as a daemon is connected."""

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Let the job work for this time from now."""

    def cancel(self, job_id: str) -> None:
        """Ask the driver to end the job."""

    def send(self, order: Mapping[str, object]) -> bool:
        """Send another order of the driver program; False if it certainly does not arrive."""

    def acknowledge(self, numbers: Sequence[int]) -> None:
        """Let the driver drop these messages, because their contents are stored."""

    def give_up(self, reason: str) -> None:
        """Kill the driver at once; the reason becomes its last words."""

    def stop(self) -> None:
        """Ask the driver to end, and later kill it; return when driver and JVM have ended."""

    def read_log(self, since: int) -> LogPart:
        """Return whole lines of the driver's log after an earlier part; with 0 from its start.

        RunnerUnavailableError while the log cannot be read.
        """

    def find_complaint(self) -> str:
        """Return the first line of the driver's log that looks like an error, or ""."""


class Listener(Protocol):
    """Receives a driver's messages, on the driver's own thread."""

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Take a message of the driver."""

    def ended(self, driver: Driver) -> None:
        """The driver and its JVM have ended: nothing can commit any more."""


class DriverSource(Protocol):
    """Starts drivers, and finds drivers that an ended process has left."""

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints of all sizes; an adopted driver with one of them takes new jobs."""

    def fingerprint(self, size: DriverSize) -> str:
        """Return the fingerprint of a driver of this size."""

    def start(self, size: DriverSize, listener: Listener) -> Driver:
        """Start a driver. RunnerUnavailableError or OSError if the driver can never start."""

    def lives(self, owner: str) -> bool | None:
        """Return whether the process with this name lives; None if this is unknown here."""

    def owner_of(self, job_id: str) -> str | None:
        """Return the owner of the driver that has the job; None if the driver is unknown."""

    def left_behind(self, owner: str) -> Sequence[str] | None:
        """Return the names of the running drivers of an ended owner; None while the owner lives."""

    def adopt(self, name: str, listener: Listener) -> Driver | None:
        """Adopt a driver that its process has left; None if another process has adopted it."""

    def orphaned_owners(self) -> Sequence[str]:
        """Return the owners that have ended, if no other process handles their drivers."""

    @property
    def outlives_daemon(self) -> bool:
        """Whether drivers continue after a normal end of their process."""

    def release(self) -> None:
        """Release the owner's name; from now on other processes may adopt its drivers."""

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Return (name, whether it works, sentence) for each thing that a start needs."""
