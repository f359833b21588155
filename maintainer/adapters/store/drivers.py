"""Remote drivers with their orders, messages and jobs, and the heartbeats of processes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, func, insert, or_, select, update

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.driver_schema import (
    driver_jobs,
    driver_messages,
    driver_orders,
    drivers,
    processes,
)
from maintainer.adapters.store.types import AnyRow
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

_LOG = logging.getLogger(__name__)
_SIGNED_OFF = -1
# The fields of a record that are stored in columns of the same name.
_PLAIN = tuple(
    field.name for field in fields(DriverRecord) if field.name not in {"tokens", "hello"}
)
_MAX_ANSWER_BYTES = 2 * MAX_ORDER_BYTES  # all orders in one answer


class SqlDrivers:
    """Implements DriverStore."""

    _database: Database

    def add_driver(self, driver: DriverRecord, order: Mapping[str, object]) -> None:
        document = _encode(order, "order", driver.name, MAX_ORDER_BYTES)
        values = {
            **{name: getattr(driver, name) for name in _PLAIN},
            "heard": 0,
            "hello": documents.write(driver.hello),
            **_token_columns(driver.tokens),
        }
        with self._database.write(durable=True) as connection:
            if not connection.execute(
                self._database.insert_unless_present(drivers, values)
            ).rowcount:
                raise InvalidValueError(f"driver {driver.name} is in the store already")
            connection.execute(
                insert(driver_orders).values(driver=driver.name, number=1, document=document)
            )

    def set_handle(self, name: str, handle: str) -> None:
        with self._database.write(durable=True) as connection:
            connection.execute(update(drivers).where(drivers.c.name == name).values(handle=handle))

    def driver(self, name: str) -> DriverRecord | None:
        with self._database.read() as connection:
            row = connection.execute(select(drivers).where(drivers.c.name == name)).one_or_none()
            return None if row is None else _read(row)

    def drivers(self) -> Sequence[DriverRecord]:
        with self._database.read() as connection:
            return _read_living(connection)

    def adopt_driver(self, name: str, before: str, owner: str) -> bool:
        is_still = (drivers.c.name == name, drivers.c.owner == before, drivers.c.ended_at.is_(None))
        with self._database.write(durable=True) as connection:
            return bool(
                connection.execute(update(drivers).where(*is_still).values(owner=owner)).rowcount
            )

    def order(
        self,
        name: str,
        owner: str,
        number: int,
        order: Mapping[str, object],
        valid_until: tuple[str, datetime] | None = None,
    ) -> bool:
        document = _encode(order, "order", name, MAX_ORDER_BYTES)
        with self._database.write(durable=True) as connection:
            row = _lock(connection, name)
            if row is None or row.ended_at is not None or row.owner != owner:
                return False
            if number <= row.ordered:
                return True
            if row.ordered - row.heard >= MAX_ORDERS:
                raise InvalidValueError(
                    f"{MAX_ORDERS} orders wait for driver {name}; no more are accepted"
                )
            connection.execute(
                insert(driver_orders).values(driver=name, number=number, document=document)
            )
            connection.execute(update(drivers).where(drivers.c.name == name).values(ordered=number))
            if valid_until is not None:
                job_id, until = valid_until
                connection.execute(
                    self._database.upsert(
                        driver_jobs, {"driver": name, "job_id": job_id, "until": until}
                    )
                )
        return True

    def renew_driver_job(self, name: str, owner: str, job_id: str, until: datetime) -> bool:
        is_theirs = exists().where(
            drivers.c.name == name, drivers.c.owner == owner, drivers.c.ended_at.is_(None)
        )
        with self._database.write(durable=True) as connection:
            return bool(
                connection.execute(
                    update(driver_jobs)
                    .where(driver_jobs.c.driver == name, driver_jobs.c.job_id == job_id, is_theirs)
                    .values(until=until)
                ).rowcount
            )

    def pending_jobs(self, name: str) -> Sequence[str]:
        with self._database.read() as connection:
            return tuple(
                connection.execute(
                    select(driver_jobs.c.job_id)
                    .where(driver_jobs.c.driver == name)
                    .order_by(driver_jobs.c.job_id)
                ).scalars()
            )

    def take_poll(
        self, name: str, poll: DriverPoll, tokens: DriverTokens | None = None
    ) -> DriverAnswer | None:
        """See DriverStore; durable if the loss of this write in a power failure would matter."""
        encoded = [
            (message, _encode(message, "message", name, MAX_MESSAGE_BYTES))
            for message in poll.messages
        ]
        hello = documents.write(poll.hello)
        if len(hello) > MAX_HELLO_BYTES:
            # The driver could not make it shorter, and its messages must arrive all the same.
            _LOG.warning("link.long_description driver=%s bytes=%d", name, len(hello))
            hello = ""
        with self._database.write(durable=bool(encoded or poll.hello.get("jobs"))) as connection:
            row = _lock(connection, name)
            if row is None or row.ended_at is not None or row.process not in {"", poll.process}:
                return None
            is_late = poll.number <= row.polls
            changes: dict[str, Any] = {}
            if not is_late:
                heard = min(max(row.heard, poll.heard), row.ordered)
                changes = {
                    "process": poll.process,
                    "polls": poll.number,
                    "heard": heard,
                    "received": _add_messages(connection, name, encoded, row.received),
                    **({} if hello in {"", row.hello} else {"hello": hello}),
                    **({} if tokens is None else _token_columns(tokens)),
                }
                connection.execute(
                    delete(driver_orders).where(
                        driver_orders.c.driver == name, driver_orders.c.number <= heard
                    )
                )
            valid_until = _read_validity(connection, name)
            latest = max(valid_until.values(), default=None)
            if latest is not None and (row.fence is None or row.fence < latest):
                changes["fence"] = latest
            if changes:
                connection.execute(update(drivers).where(drivers.c.name == name).values(**changes))
            orders = _read_orders(connection, name, poll.heard)
            received = changes.get("received", row.received)
            return DriverAnswer(orders, received, valid_until, is_late)

    def hear(self, owner: str, after: Mapping[str, int]) -> DriverNews:
        with self._database.read() as connection:
            theirs = [one for one in _read_living(connection, owner) if one.name in after]
            messages: dict[str, list[Mapping[str, object]]] = {}
            names = [driver.name for driver in theirs if driver.received > after[driver.name]]
            if names:
                are_new = or_(
                    *(
                        and_(
                            driver_messages.c.driver == name,
                            driver_messages.c.number > after[name],
                        )
                        for name in names
                    )
                )
                for row in connection.execute(
                    select(driver_messages)
                    .where(are_new)
                    .order_by(driver_messages.c.driver, driver_messages.c.number)
                ):
                    messages.setdefault(row.driver, []).append(documents.read_fields(row.document))
        return DriverNews(theirs, messages)

    def acknowledge_messages(self, name: str, numbers: Sequence[int]) -> None:
        with self._database.write() as connection:
            for start in range(0, len(numbers), MAX_SQL_VARIABLES):
                connection.execute(
                    delete(driver_messages).where(
                        driver_messages.c.driver == name,
                        driver_messages.c.number.in_(numbers[start : start + MAX_SQL_VARIABLES]),
                    )
                )

    def end_driver(self, name: str, reason: str, at: datetime, polls: int | None = None) -> bool:
        with self._database.write(durable=True) as connection:
            row = _lock(connection, name)
            if row is None or row.ended_at is not None or polls not in {None, row.polls}:
                return False
            connection.execute(
                update(drivers).where(drivers.c.name == name).values(ended_at=at, reason=reason)
            )
            for table in (driver_orders, driver_jobs):
                connection.execute(delete(table).where(table.c.driver == name))
        return True

    def beat(self, owner: str, now: datetime) -> None:
        fresh = {"owner": owner, "beats": 1, "seen_at": now}
        with self._database.write() as connection:
            if not connection.execute(
                update(processes)
                .where(processes.c.owner == owner)
                .values(beats=func.abs(processes.c.beats) + 1, seen_at=now)
            ).rowcount:
                connection.execute(self._database.upsert(processes, fresh))

    def sign_off(self, owner: str) -> None:
        with self._database.write(durable=True) as connection:
            connection.execute(
                update(processes).where(processes.c.owner == owner).values(beats=_SIGNED_OFF)
            )

    def heartbeats(self) -> Mapping[str, int | None]:
        with self._database.read() as connection:
            return {
                row.owner: None if row.beats == _SIGNED_OFF else row.beats
                for row in connection.execute(select(processes).order_by(processes.c.owner))
            }

    def prune_drivers(self, before: datetime) -> int:
        has_driver = exists().where(drivers.c.owner == processes.c.owner)
        with self._database.write() as connection:
            gone = connection.execute(delete(drivers).where(drivers.c.ended_at < before)).rowcount
            connection.execute(delete(processes).where(processes.c.seen_at < before, ~has_driver))
        return gone


def _lock(connection: Connection, name: str) -> AnyRow | None:
    return connection.execute(
        select(drivers).where(drivers.c.name == name).with_for_update()
    ).one_or_none()


def _add_messages(
    connection: Connection,
    name: str,
    encoded: Sequence[tuple[Mapping[str, object], bytes]],
    received: int,
) -> int:
    """Store the next new messages; return the number of the newest one that is stored.

    Nothing is dropped to make room: what is not taken, the driver keeps and sends again.
    """
    of_driver = driver_messages.c.driver == name
    stored = select(func.count()).select_from(driver_messages).where(of_driver)
    room = MAX_MESSAGES - connection.execute(stored).scalar_one() if encoded else 0
    rows: dict[int, dict[str, Any]] = {}
    progress: dict[str, int] = {}  # the number of the newest progress, by job
    ended: set[str] = set()
    taken = 0
    for message, document in encoded:
        number, job_id = message["number"], str(message.get("job") or "")
        if not isinstance(number, int) or number <= received:
            continue
        if taken >= min(MAX_TAKEN, room):
            break
        taken += 1
        received = number
        event = str(message["event"])
        if event == PROGRESS:
            rows.pop(progress.get(job_id, 0), None)
            progress[job_id] = number
        if event in JOB_ENDS:
            ended.add(job_id)
        rows[number] = {
            "driver": name,
            "number": number,
            "job_id": job_id,
            "event": event,
            "document": document,
        }
    if progress:
        connection.execute(
            delete(driver_messages).where(
                of_driver,
                driver_messages.c.event == PROGRESS,
                driver_messages.c.job_id.in_(sorted(progress)),
            )
        )
    if ended:
        connection.execute(
            delete(driver_jobs).where(
                driver_jobs.c.driver == name, driver_jobs.c.job_id.in_(sorted(ended))
            )
        )
    if rows:
        connection.execute(insert(driver_messages), list(rows.values()))
    return received


def _read_orders(
    connection: Connection, name: str, heard: int
) -> Sequence[tuple[int, Mapping[str, object]]]:
    """Read the orders by their numbers, as many as fit into one answer."""
    orders: list[tuple[int, Mapping[str, object]]] = []
    left = _MAX_ANSWER_BYTES
    for row in connection.execute(
        select(driver_orders)
        .where(driver_orders.c.driver == name, driver_orders.c.number > heard)
        .order_by(driver_orders.c.number)
    ):
        left -= len(row.document)
        if left < 0 and orders:
            break
        orders.append((row.number, documents.read_fields(row.document)))
    return tuple(orders)


def _read_validity(connection: Connection, name: str) -> dict[str, datetime]:
    rows = connection.execute(
        select(driver_jobs).where(driver_jobs.c.driver == name).order_by(driver_jobs.c.job_id)
    )
    return {row.job_id: row.until for row in rows}


def _read_living(connection: Connection, owner: str | None = None) -> Sequence[DriverRecord]:
    wanted = select(drivers).where(drivers.c.ended_at.is_(None)).order_by(drivers.c.name)
    if owner is not None:
        wanted = wanted.where(drivers.c.owner == owner)
    return tuple(_read(row) for row in connection.execute(wanted))


def _read(row: AnyRow) -> DriverRecord:
    return DriverRecord(
        tokens=DriverTokens(row.token_digest, row.token_expires_at, row.former_digest),
        hello=documents.read_fields(row.hello),
        **{name: getattr(row, name) for name in _PLAIN},
    )


def _token_columns(tokens: DriverTokens) -> dict[str, Any]:
    return {
        "token_digest": tokens.digest,
        "token_expires_at": tokens.expires_at,
        "former_digest": tokens.former,
    }


def _encode(value: Mapping[str, object], what: str, name: str, most: int) -> bytes:
    document = documents.write_bytes(value)
    if len(document) > most:
        raise InvalidValueError(
            f"driver {name}: {what} has {len(document)} bytes; the limit is {most}"
        )
    return document
