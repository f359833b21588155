"""The store's part of the link to remote drivers: what was said, what was ordered, and until when.

A driver has rows here from before its start until it is pruned. Orders to it and messages from it
are numbered; an order is kept until the driver has taken it, a message until it is acknowledged.
Only the owner of a driver orders; any process may answer its polls.
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
MAX_MESSAGES = 2_000  # of one driver; beyond them the oldest are deleted
PROGRESS = "spark.progress"  # of a job's messages with this event, only the newest is kept
JOB_ENDS = frozenset({"job.finished", "job.failed", "job.cancelled"})


@dataclass(frozen=True, slots=True)
class DriverTokens:
    """What is known of a driver's tokens: only their digests."""

    digest: str  # SHA-256 of the newest token, in hexadecimal digits
    expires_at: datetime
    former: str = ""  # of the token before, until the newest token was used


@dataclass(frozen=True, slots=True)
class DriverRecord:
    """One driver as it is stored."""

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
    """What a driver says in one poll."""

    process: str
    number: int  # grows with each poll
    heard: int  # the number of the last order that the driver has taken
    hello: Mapping[str, object]
    messages: Sequence[Mapping[str, object]]  # each has a "number", which grows


@dataclass(frozen=True, slots=True)
class DriverAnswer:
    """What a poll is answered with."""

    orders: Sequence[tuple[int, Mapping[str, object]]]
    received: int
    valid_until: Mapping[str, datetime]  # by job id
    is_late: bool  # a newer poll came first, so nothing of this poll was stored


@dataclass(frozen=True, slots=True)
class DriverNews:
    """Drivers of one owner that have not ended, and their messages by name, in order."""

    drivers: Sequence[DriverRecord]
    messages: Mapping[str, Sequence[Mapping[str, object]]]


class DriverStore(Protocol):
    """The part of the store that keeps remote drivers, and which processes live."""

    def add_driver(self, driver: DriverRecord, order: Mapping[str, object]) -> None:
        """Store a new driver with its first order.

        InvalidValueError when the name exists or the order is too long.
        """

    def set_handle(self, name: str, handle: str) -> None:
        """Store what the launcher calls the driver."""

    def driver(self, name: str) -> DriverRecord | None:
        """One driver, ended ones too; None when it is unknown."""

    def drivers(self) -> Sequence[DriverRecord]:
        """The drivers of all owners that have not ended, by name."""

    def adopt_driver(self, name: str, before: str, owner: str) -> bool:
        """Give a driver to another owner; False when it has ended or is not `before`'s any more."""

    def order(
        self,
        name: str,
        owner: str,
        number: int,
        order: Mapping[str, object],
        valid_until: tuple[str, datetime] | None = None,
    ) -> bool:
        """Store an order for the driver; an order to run a job says until when it may work.

        Its number follows the last one's. A number that is known already changes nothing, so
        that an owner can repeat an order whose storing it did not see. False when the driver
        has ended or has another owner. InvalidValueError when the order is too long, or too
        many wait.
        """

    def renew_driver_job(self, name: str, owner: str, job_id: str, until: datetime) -> bool:
        """Let the driver's job work until then; False when it has none, or another owner."""

    def pending_jobs(self, name: str) -> Sequence[str]:
        """The ids of the jobs that the driver was ordered to run and that have not ended."""

    def take_poll(
        self, name: str, poll: DriverPoll, tokens: DriverTokens | None = None
    ) -> DriverAnswer | None:
        """Store what a poll says, and the tokens with it; return what it is answered with.

        Messages up to `received` are dropped, and orders up to `heard`. None when the driver
        is unknown, has ended, or another process of its name has polled before.
        InvalidValueError when a message is too long.
        """

    def hear(self, owner: str, after: Mapping[str, int]) -> DriverNews:
        """Those of the drivers in `after` that are the owner's and have not ended.

        Their messages are those of greater numbers than `after` says.
        """

    def acknowledge_messages(self, name: str, numbers: Sequence[int]) -> None:
        """Delete messages of a driver."""

    def end_driver(self, name: str, reason: str, at: datetime, polls: int | None = None) -> bool:
        """Have the driver's polls refused from now on, and delete its orders.

        False when it has ended before, or has polled since its poll of that number.
        """

    def beat(self, owner: str, now: datetime) -> None:
        """Count one more heartbeat of a process."""

    def sign_off(self, owner: str) -> None:
        """Note that a process has ended."""

    def heartbeats(self) -> Mapping[str, int | None]:
        """How often each process's heart has beaten; None for one that has signed off."""

    def spark_facts(self) -> Mapping[str, SparkFacts]:
        """What the newest driver of each pool, of any process, reported about its Spark."""

    def record_spark_facts(self, facts: SparkFacts) -> None:
        """Replace what is known of the pool's Spark."""

    def prune_drivers(self, before: datetime) -> int:
        """Delete drivers that ended before then, and what was last heard of ended processes.

        Returns how many drivers.
        """
