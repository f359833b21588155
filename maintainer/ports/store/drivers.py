"""The store's part of the link to remote drivers: messages, orders, and fences of jobs.

A driver has rows here from before its start until it is pruned. Orders to it and messages from it
are numbered; an order is kept until the driver has taken it, a message until it is acknowledged.
Only the owner of a driver gives orders; any process may answer its polls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from maintainer.domain.driver import SparkFacts
from maintainer.domain.pool import DEFAULT_POOL

MAX_ORDER_BYTES = 8 * 1024**2  # of one order as JSON
MAX_ORDERS = 1_000  # of one driver, not yet taken
MAX_MESSAGE_BYTES = 1024**2  # of one message as JSON
MAX_MESSAGES = 2_000  # of one driver; while so many are not acknowledged, no more are taken
MAX_TAKEN = 500  # messages of one poll; the driver sends the others again
MAX_HELLO_BYTES = 256 * 1024  # of a driver's description as JSON; some thousands of jobs
PROGRESS = "spark.progress"  # of a job's messages with this event, only the newest is kept
JOB_ENDS = frozenset({"job.finished", "job.failed", "job.cancelled"})


@dataclass(frozen=True, slots=True)
class DriverTokens:
    """The stored part of a driver's tokens, which is only their hashes."""

    digest: str  # SHA-256 of the newest token, in hexadecimal digits
    expires_at: datetime
    former: str = ""  # of the token before, until the newest token was used


@dataclass(frozen=True, slots=True)
class DriverRecord:
    """The store's record of a driver."""

    name: str
    owner: str  # Runner.owner
    tokens: DriverTokens
    created_at: datetime
    fingerprint: str = ""  # of its start settings
    megabytes: int = 0
    handle: str = ""  # the launcher's handle of the started driver
    process: str = ""  # an id that the driver's process has chosen; a second process is refused
    ordered: int = 1  # the number of the last order; the first starts the driver
    polls: int = 0  # the number of the newest poll
    received: int = 0  # the number of the newest message
    hello: Mapping[str, object] = field(default_factory=dict)  # of the newest poll
    fence: datetime | None = None  # its jobs may work until then, unless it polls again
    ended_at: datetime | None = None
    reason: str = ""  # why it was ended
    pool: str = DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class DriverPoll:
    """The contents of a driver's poll."""

    process: str
    number: int  # grows with each poll
    heard: int  # the number of the last order that the driver has taken
    hello: Mapping[str, object]
    messages: Sequence[Mapping[str, object]]  # each has a "number", which grows


@dataclass(frozen=True, slots=True)
class DriverAnswer:
    """The contents of the answer to a poll."""

    orders: Sequence[tuple[int, Mapping[str, object]]]
    received: int
    valid_until: Mapping[str, datetime]  # by job id
    is_late: bool  # a newer poll came first, so nothing of this poll was stored


@dataclass(frozen=True, slots=True)
class DriverNews:
    """The drivers of an owner that have not ended, and their messages in order, by name."""

    drivers: Sequence[DriverRecord]
    messages: Mapping[str, Sequence[Mapping[str, object]]]


class DriverStore(Protocol):
    """The part of the store that keeps remote drivers, and the heartbeats of processes."""

    def add_driver(self, driver: DriverRecord, order: Mapping[str, object]) -> None:
        """Store a new driver with its first order.

        InvalidValueError when the name exists or the order is too long.
        """

    def set_handle(self, name: str, handle: str) -> None:
        """Store the launcher's handle of the driver."""

    def driver(self, name: str) -> DriverRecord | None:
        """One driver, even if it has ended; None if it is unknown."""

    def drivers(self) -> Sequence[DriverRecord]:
        """The drivers of all owners that have not ended, by name."""

    def adopt_driver(self, name: str, before: str, owner: str) -> bool:
        """Give a driver to another owner; False if it has ended or `before` no longer owns it."""

    def order(
        self,
        name: str,
        owner: str,
        number: int,
        order: Mapping[str, object],
        valid_until: tuple[str, datetime] | None = None,
    ) -> bool:
        """Store an order for the driver; an order to run a job says until when it may work.

        Its number follows the last number. A number that is known already changes nothing, so
        that an owner can repeat an order if its storing was not confirmed. False if the driver
        has ended or has another owner. InvalidValueError if the order is too long, or if too
        many orders wait.
        """

    def renew_driver_job(self, name: str, owner: str, job_id: str, until: datetime) -> bool:
        """Extend the fence of the driver's job; False without such a job, or with another owner."""

    def pending_jobs(self, name: str) -> Sequence[str]:
        """The ids of the jobs that the driver was ordered to run and that have not ended."""

    def take_poll(
        self, name: str, poll: DriverPoll, tokens: DriverTokens | None = None
    ) -> DriverAnswer | None:
        """Store the contents of a poll, and the tokens; return the contents of the answer.

        Messages up to `received` are dropped, and orders up to `heard`. Of the others at most
        MAX_TAKEN are taken, and none while MAX_MESSAGES are not acknowledged: the answer says up
        to which number. None when the driver is unknown, has ended, or another process of its
        name has polled before. A description over MAX_HELLO_BYTES leaves the one before in place.
        InvalidValueError when a message is too long.
        """

    def hear(self, owner: str, after: Mapping[str, int]) -> DriverNews:
        """Return the drivers in `after` that the owner still owns and that have not ended.

        Their messages are those with greater numbers than in `after`.
        """

    def acknowledge_messages(self, name: str, numbers: Sequence[int]) -> None:
        """Delete messages of a driver."""

    def end_driver(self, name: str, reason: str, at: datetime, polls: int | None = None) -> bool:
        """End the driver: its polls are refused from now on, and its orders are deleted.

        False if it has ended before, or has polled after the poll with this number.
        """

    def beat(self, owner: str, now: datetime) -> None:
        """Count a heartbeat of a process."""

    def sign_off(self, owner: str) -> None:
        """Record that a process has ended."""

    def heartbeats(self) -> Mapping[str, int | None]:
        """The number of heartbeats of each process; None for a process that has signed off."""

    def spark_facts(self) -> Mapping[str, SparkFacts]:
        """The facts about Spark from the newest driver of each pool, of any process."""

    def record_spark_facts(self, facts: SparkFacts) -> None:
        """Replace the facts about the pool's Spark."""

    def prune_drivers(self, before: datetime) -> int:
        """Delete drivers that ended before then, and the heartbeats of ended processes.

        Returns the number of deleted drivers.
        """
