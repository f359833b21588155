"""Duties of replicas. Each duty is a row with its end, by the database's clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Table,
    delete,
    literal_column,
    or_,
    select,
    text,
)

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import metadata
from maintainer.adapters.store.types import name_type
from maintainer.domain.replica import LONGEST_DUTY, Duty, DutyKind, HeldDuty

_MICROSECOND = timedelta(microseconds=1)
# A replica that freezes within the transaction delays the other replicas at most this long.
_LONGEST_TRANSACTION = text("SET LOCAL idle_in_transaction_session_timeout = '10s'")

duties = Table(
    "duties",
    metadata,
    Column("kind", name_type(), primary_key=True),
    Column("scope", name_type(), primary_key=True),
    Column("holder", name_type(), nullable=False),
    Column("until", BigInteger, nullable=False),  # microseconds since 1970 by the database's clock
)


def read_clock(database: Database) -> ColumnElement[int]:
    """Build the database's time in microseconds since 1970, constant within a statement."""
    sql = (
        "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
        if database.is_sqlite
        else "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS BIGINT)"
    )
    return literal_column(sql, BigInteger)


class SqlDuties:
    """Implements DutyStore."""

    _database: Database

    def duties(self) -> Sequence[HeldDuty]:
        now = read_clock(self._database)
        query = select(duties).where(~_is_over(now)).order_by(duties.c.kind, duties.c.scope)
        with self._database.read() as connection:
            return tuple(
                HeldDuty(Duty(DutyKind(row.kind), row.scope), row.holder)
                for row in connection.execute(query)
            )

    def hold_duties(
        self, holder: str, wanted: Collection[Duty], span: timedelta, gone: Collection[str] = ()
    ) -> frozenset[Duty]:
        now = read_clock(self._database)
        may_take = or_(duties.c.holder.in_({holder, *gone}), _is_over(now))
        taken: set[Duty] = set()
        with self._database.write() as connection:
            if not self._database.is_sqlite:
                connection.execute(_LONGEST_TRANSACTION)
            connection.execute(delete(duties).where(_is_over(now)))
            for duty in sorted(wanted):  # the same order in all replicas, so they never deadlock
                row = {"kind": duty.kind.value, "scope": duty.scope, "holder": holder}
                until = now + span // _MICROSECOND
                statement = self._database.upsert(
                    duties, row | {"until": until}, only_where=may_take
                ).returning(duties.c.kind)
                if connection.execute(statement).one_or_none() is not None:
                    taken.add(duty)
        return frozenset(taken)

    def give_back_duties(self, holder: str, given: Collection[Duty]) -> None:
        with self._database.write() as connection:
            for duty in sorted(given):
                connection.execute(
                    delete(duties).where(
                        duties.c.kind == duty.kind.value,
                        duties.c.scope == duty.scope,
                        duties.c.holder == holder,
                    )
                )


def _is_over(now: ColumnElement[int]) -> ColumnElement[bool]:
    """Match ended duties, and duties that end too late because the clock was set back."""
    return or_(duties.c.until <= now, duties.c.until > now + LONGEST_DUTY // _MICROSECOND)
