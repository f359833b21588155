"""Notices that wait for delivery or still count for the limits, with a row for each.

Posting a notice locks one fact of the store.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
    update,
)

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import metadata, store_info
from maintainer.adapters.store.types import AnyRow, Instant, Sequenced, name_type
from maintainer.domain.notice import Notice, NoticeKind, NoticeLimits, PostedNotice
from maintainer.domain.units import CLOCK_TOLERANCE
from maintainer.ports.store.notices import MAX_AGE, MAX_TAKEN

_HELD_BACK = "notices_held_back"  # the number of notices held back since the last posted notice
_HOUR = timedelta(hours=1)

notices = Table(
    "notices",
    metadata,
    Column("number", Sequenced, primary_key=True, autoincrement=True),
    Column("kind", Text, nullable=False),
    Column("subject", name_type(), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("job_id", name_type(), nullable=False),
    Column("held_back", Integer, nullable=False),
    Column("held_until", Instant, nullable=False),  # until then, one process delivers the notice
    Column("delivered_at", Instant),
    Index("ix_notices_at", "at"),
    sqlite_autoincrement=True,  # a number is never used again
)


class SqlNotices:
    """Implements NoticeStore."""

    _database: Database

    def post_notice(
        self, notice: Notice, limits: NoticeLimits, held_until: datetime
    ) -> PostedNotice | None:
        with self._database.write(durable=True) as connection:
            held_back = _lock(self._database, connection)
            forgotten = notice.at - max(limits.repeat_after, _HOUR)
            connection.execute(
                delete(notices).where(
                    notices.c.at <= forgotten, notices.c.delivered_at.is_not(None)
                )
            )
            # a notice with a future time, from a wrong clock, must not suppress later notices
            believed = notices.c.at <= notice.at + CLOCK_TOLERANCE
            same = (
                notices.c.kind == notice.kind.value,
                notices.c.subject == notice.subject,
                notices.c.at > notice.at - limits.repeat_after,
                believed,
            )
            if (
                connection.execute(select(notices.c.number).where(*same).limit(1)).first()
                is not None
            ):
                return None  # the same notice was posted recently
            recent = connection.execute(
                select(func.count())
                .select_from(notices)
                .where(notices.c.at > notice.at - _HOUR, believed)
            ).scalar_one()
            if recent >= limits.max_per_hour:
                _count(connection, held_back + 1)
                return None
            _count(connection, 0)
            reported = {
                "kind": notice.kind.value,
                "subject": notice.subject,
                "sentence": notice.sentence,
                "at": notice.at,
                "job_id": notice.job_id,
            }
            row = (
                insert(notices)
                .values(**reported, held_back=held_back, held_until=held_until)
                .returning(notices.c.number)
            )
            return PostedNotice(connection.execute(row).scalar_one(), notice, held_back)

    def hold_notices(self, numbers: Collection[int], until: datetime) -> None:
        if numbers:
            with self._database.write() as connection:
                connection.execute(
                    update(notices)
                    .where(notices.c.number.in_(sorted(numbers)))
                    .values(held_until=until)
                )

    def take_notices(self, now: datetime, until: datetime) -> Sequence[PostedNotice]:
        """See NoticeStore; the usual case, that no notice waits, takes no lock."""
        left = (notices.c.delivered_at.is_(None), notices.c.held_until <= now)
        with self._database.read() as connection:
            if connection.execute(select(notices.c.number).where(*left).limit(1)).first() is None:
                return ()
        with self._database.write(durable=True) as connection:
            _lock(self._database, connection)
            connection.execute(delete(notices).where(*left, notices.c.at <= now - MAX_AGE))
            rows = connection.execute(
                select(notices).where(*left).order_by(notices.c.number).limit(MAX_TAKEN)
            ).all()
            if rows:
                connection.execute(
                    update(notices)
                    .where(notices.c.number.in_([row.number for row in rows]))
                    .values(held_until=until)
                )
            return tuple(_read(row) for row in rows)

    def note_delivered(self, number: int, at: datetime) -> None:
        with self._database.write(durable=True) as connection:
            connection.execute(
                update(notices).where(notices.c.number == number).values(delivered_at=at)
            )

    def give_up_notice(self, number: int) -> None:
        with self._database.write(durable=True) as connection:
            held_back = _lock(self._database, connection)
            gone = connection.execute(
                delete(notices).where(notices.c.number == number).returning(notices.c.held_back)
            ).scalar_one_or_none()
            if gone is not None:
                _count(connection, held_back + gone + 1)


def _lock(database: Database, connection: Connection) -> int:
    """Lock posting until the transaction ends; return the number of notices held back."""
    connection.execute(
        database.insert_unless_present(store_info, {"key": _HELD_BACK, "value": "0"})
    )
    return int(
        connection.execute(
            select(store_info.c.value).where(store_info.c.key == _HELD_BACK).with_for_update()
        ).scalar_one()
    )


def _count(connection: Connection, held_back: int) -> None:
    connection.execute(
        update(store_info).where(store_info.c.key == _HELD_BACK).values(value=str(held_back))
    )


def _read(row: AnyRow) -> PostedNotice:
    return PostedNotice(
        row.number,
        Notice(NoticeKind(row.kind), row.subject, row.sentence, row.at, row.job_id),
        row.held_back,
    )
