"""The remote drivers of the store in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime

from maintainer.domain.driver import SparkFacts
from maintainer.domain.errors import InvalidValueError
from maintainer.ports.store.drivers import (
    JOB_ENDS,
    MAX_HELLO_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_MESSAGES,
    MAX_ORDER_BYTES,
    MAX_ORDERS,
    MAX_TAKEN,
    PROGRESS,
    DriverAnswer,
    DriverNews,
    DriverPoll,
    DriverRecord,
    DriverTokens,
)


@dataclass
class _Rows:
    record: DriverRecord
    heard: int = 0
    orders: dict[int, Mapping[str, object]] = field(default_factory=dict)
    messages: dict[int, Mapping[str, object]] = field(default_factory=dict)
    jobs: dict[str, datetime] = field(default_factory=dict)


@dataclass
class FakeDrivers:
    """Implements DriverStore."""

    _drivers: dict[str, _Rows] = field(default_factory=dict, kw_only=True)
    _processes: dict[str, tuple[int | None, int, datetime]] = field(
        default_factory=dict, kw_only=True
    )  # the heartbeats as they are given, all of them, and when the last one was

    _spark_facts: dict[str, SparkFacts] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def add_driver(self, driver: DriverRecord, order: Mapping[str, object]) -> None:
        _check(order, MAX_ORDER_BYTES)
        with self._open():
            if driver.name in self._drivers:
                message = f"driver {driver.name} is in the store already"
                raise InvalidValueError(message)
            self._drivers[driver.name] = _Rows(driver, orders={1: order})

    def spark_facts(self) -> Mapping[str, SparkFacts]:
        with self._open():
            return dict(self._spark_facts)

    def record_spark_facts(self, facts: SparkFacts) -> None:
        with self._open():
            self._spark_facts[facts.pool] = facts

    def set_handle(self, name: str, handle: str) -> None:
        with self._open():
            if name in self._drivers:
                rows = self._drivers[name]
                rows.record = replace(rows.record, handle=handle)

    def driver(self, name: str) -> DriverRecord | None:
        with self._open():
            return self._drivers[name].record if name in self._drivers else None

    def drivers(self) -> Sequence[DriverRecord]:
        with self._open():
            return tuple(self._living(lambda _: True))

    def adopt_driver(self, name: str, before: str, owner: str) -> bool:
        with self._open():
            rows = self._of(name, before)
            if rows is not None:
                rows.record = replace(rows.record, owner=owner)
            return rows is not None

    def order(
        self,
        name: str,
        owner: str,
        number: int,
        order: Mapping[str, object],
        valid_until: tuple[str, datetime] | None = None,
    ) -> bool:
        _check(order, MAX_ORDER_BYTES)
        with self._open():
            rows = self._of(name, owner)
            if rows is None:
                return False
            if number <= rows.record.ordered:
                return True
            if rows.record.ordered - rows.heard >= MAX_ORDERS:
                message = f"{MAX_ORDERS} orders wait for driver {name}; no more are accepted"
                raise InvalidValueError(message)
            rows.record = replace(rows.record, ordered=number)
            rows.orders[number] = order
            if valid_until is not None:
                rows.jobs[valid_until[0]] = valid_until[1]
            return True

    def renew_driver_job(self, name: str, owner: str, job_id: str, until: datetime) -> bool:
        with self._open():
            rows = self._of(name, owner)
            if rows is None or job_id not in rows.jobs:
                return False
            rows.jobs[job_id] = until
            return True

    def pending_jobs(self, name: str) -> Sequence[str]:
        with self._open():
            return tuple(sorted(self._drivers[name].jobs)) if name in self._drivers else ()

    def take_poll(
        self, name: str, poll: DriverPoll, tokens: DriverTokens | None = None
    ) -> DriverAnswer | None:
        for message in poll.messages:
            _check(message, MAX_MESSAGE_BYTES)
        with self._open():
            rows = self._of(name)
            if rows is None or rows.record.process not in {"", poll.process}:
                return None
            is_late = poll.number <= rows.record.polls
            if not is_late:
                rows.heard = min(max(rows.heard, poll.heard), rows.record.ordered)
                rows.orders = {n: order for n, order in rows.orders.items() if n > rows.heard}
                rows.record = replace(
                    rows.record,
                    process=poll.process,
                    polls=poll.number,
                    received=_take(rows, poll.messages),
                    hello=dict(poll.hello)
                    if len(json.dumps(poll.hello)) <= MAX_HELLO_BYTES
                    else rows.record.hello,
                    tokens=tokens or rows.record.tokens,
                )
            fences = [*rows.jobs.values(), *([rows.record.fence] if rows.record.fence else [])]
            rows.record = replace(rows.record, fence=max(fences, default=None))
            orders = tuple((n, order) for n, order in rows.orders.items() if n > poll.heard)
            return DriverAnswer(orders, rows.record.received, dict(rows.jobs), is_late)

    def hear(self, owner: str, after: Mapping[str, int]) -> DriverNews:
        with self._open():
            theirs = tuple(
                self._living(lambda record: record.owner == owner and record.name in after)
            )
            new = {
                record.name: [
                    message
                    for number, message in self._drivers[record.name].messages.items()
                    if number > after[record.name]
                ]
                for record in theirs
            }
            return DriverNews(theirs, {name: found for name, found in new.items() if found})

    def acknowledge_messages(self, name: str, numbers: Sequence[int]) -> None:
        with self._open():
            for number in numbers:
                self._drivers[name].messages.pop(number, None)

    def end_driver(self, name: str, reason: str, at: datetime, polls: int | None = None) -> bool:
        with self._open():
            rows = self._of(name)
            if rows is None or polls not in {None, rows.record.polls}:
                return False
            rows.record = replace(rows.record, ended_at=at, reason=reason)
            rows.orders, rows.jobs = {}, {}
            return True

    def beat(self, owner: str, now: datetime) -> None:
        with self._open():
            _, beats, _ = self._processes.get(owner, (None, 0, now))
            self._processes[owner] = beats + 1, beats + 1, now

    def sign_off(self, owner: str) -> None:
        with self._open():
            if owner in self._processes:
                _, beats, seen_at = self._processes[owner]
                self._processes[owner] = None, beats, seen_at

    def heartbeats(self) -> Mapping[str, int | None]:
        with self._open():
            return {owner: reported for owner, (reported, _, _) in sorted(self._processes.items())}

    def prune_drivers(self, before: datetime) -> int:
        with self._open():
            gone = [
                name
                for name, rows in self._drivers.items()
                if rows.record.ended_at is not None and rows.record.ended_at < before
            ]
            for name in gone:
                del self._drivers[name]
            owners = {rows.record.owner for rows in self._drivers.values()}
            self._processes = {
                owner: known
                for owner, known in self._processes.items()
                if owner in owners or known[2] >= before
            }
            return len(gone)

    def _of(self, name: str, owner: str | None = None) -> _Rows | None:
        """The driver unless it is unknown, ended, or another owner's."""
        rows = self._drivers.get(name)
        if rows is None or rows.record.ended_at is not None:
            return None
        return rows if owner in {None, rows.record.owner} else None

    def _living(self, is_wanted: Callable[[DriverRecord], bool]) -> Iterator[DriverRecord]:
        for name in sorted(self._drivers):
            record = self._drivers[name].record
            if record.ended_at is None and is_wanted(record):
                yield record


def _take(rows: _Rows, messages: Sequence[Mapping[str, object]]) -> int:
    received, taken = rows.record.received, 0
    most = min(MAX_TAKEN, MAX_MESSAGES - len(rows.messages))
    for message in messages:
        number = message["number"]
        if not isinstance(number, int) or number <= received:
            continue
        if taken >= most:
            break
        taken += 1
        received = number
        job_id = str(message.get("job") or "")
        if message["event"] == PROGRESS:
            rows.messages = {
                n: kept
                for n, kept in rows.messages.items()
                if (kept["event"], str(kept.get("job") or "")) != (PROGRESS, job_id)
            }
        if message["event"] in JOB_ENDS:
            rows.jobs.pop(job_id, None)
        rows.messages[number] = message
    return received


def _check(value: Mapping[str, object], most: int) -> None:
    size = len(json.dumps(value))
    if size > most:
        message = f"{size} bytes for a driver; the limit is {most}"
        raise InvalidValueError(message)
