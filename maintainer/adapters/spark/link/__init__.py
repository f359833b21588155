"""The connection of the daemon to a driver, and the facts of a driver that it needs."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.adapters.spark.options import DriverSize


@dataclass(frozen=True, slots=True)
class LogPart:
    """A part of a driver's log, and where the next part begins: a byte, or a time."""

    text: str
    next: int
    has_more: bool = False  # the part is full, and what follows can be read now


def explain_end(reason: str) -> Mapping[str, object]:
    """Return the last words of a driver that was ended for this reason."""
    return {
        "reason": reason,
        "causes": [{"class": "RunnerUnavailableError", "message": reason}],
    }


class Driver(Protocol):
    """One driver, however it was started and however it talks; once ended it stays ended."""

    fingerprint: str  # of its start settings; empty until it is known
    megabytes: int  # of its JVM
    is_started: bool  # its Spark application runs
    is_worn: bool  # finishes its jobs, and takes no more
    is_caught_up: threading.Event  # all messages from before this connection have been received
    is_ended: threading.Event  # driver and JVM are gone: nothing can commit any more
    last_words: Mapping[str, object]  # why its application ended; empty while it runs

    @property
    def name(self) -> str:
        """The driver's name, which no other driver of the installation has."""

    @property
    def log(self) -> object:
        """Where people find its log, as text by str()."""

    @property
    def hindrance(self) -> str:
        """Why it does not start, as its place says; empty if that says nothing."""

    def run(self, order: Mapping[str, object], valid_for: timedelta | None) -> None:
        """Give it a job, which may work for this time from now; None: while a daemon is there."""

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Let the job work for this time from now."""

    def cancel(self, job_id: str) -> None:
        """Ask it to end the job."""

    def send(self, order: Mapping[str, object]) -> bool:
        """Give it another order of the driver program; False if it certainly does not arrive."""

    def acknowledge(self, numbers: Sequence[int]) -> None:
        """Let it drop these messages: what they say is stored."""

    def give_up(self, reason: str) -> None:
        """Kill it at once; the reason becomes its last words."""

    def stop(self) -> None:
        """Ask it to end, then force it; return when driver and JVM are gone."""

    def read_log(self, since: int) -> LogPart:
        """Return whole lines of its log from where an earlier part ended, from its start for 0.

        RunnerUnavailableError while it cannot be read.
        """

    def find_complaint(self) -> str:
        """Return the first line of its log that looks like an error, or ""."""


class Listener(Protocol):
    """Receives a driver's messages, on a thread of the driver's own."""

    def heard(self, driver: Driver, message: Mapping[str, object]) -> None:
        """Take a message of the driver."""

    def ended(self, driver: Driver) -> None:
        """The driver and its JVM have ended: nothing can commit any more."""


class DriverSource(Protocol):
    """Starts drivers, and finds those that an ended process left behind."""

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints of all sizes: an adopted driver with one of them takes new jobs."""

    def fingerprint(self, size: DriverSize) -> str:
        """Return the fingerprint of a driver of that size."""

    def start(self, size: DriverSize, listener: Listener) -> Driver:
        """Start a driver. RunnerUnavailableError or OSError if it can never start."""

    def lives(self, owner: str) -> bool | None:
        """Return whether the process of that name lives; None if nobody here can know."""

    def owner_of(self, job_id: str) -> str | None:
        """Return whose driver has the job; None if no driver is known to have it."""

    def left_behind(self, owner: str) -> Sequence[str] | None:
        """Return the live drivers of an owner that is gone, by name; None while the owner lives."""

    def adopt(self, name: str, listener: Listener) -> Driver | None:
        """Continue with a driver that was left behind; None if another process does."""

    def orphaned_owners(self) -> Sequence[str]:
        """Return the owners that are gone, if no other process takes care of their drivers."""

    @property
    def outlives_daemon(self) -> bool:
        """True when drivers work on after their process has ended in an orderly way."""

    def release(self) -> None:
        """Give up the owner's name; drivers that still work may be adopted from now on."""

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        """Return (what, whether it works, sentence) for what a start needs."""
