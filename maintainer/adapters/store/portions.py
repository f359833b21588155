"""Portions of jobs' long lists, with a compressed row for each."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, delete, exists, select, update

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import UNFINISHED_STATES, job_portions, jobs
from maintainer.ports.store.portions import Portion, PortionSet, check_bounds


class SqlPortions:
    """Implements PortionStore."""

    _database: Database

    def add_portion(self, portions: PortionSet, number: int, portion: Portion) -> bool:
        check_bounds(portions, number, portion)
        row = {
            "job_id": portions.job_id,
            "kind": portions.kind.value,
            "preparer": portions.preparer,
            "number": number,
            "lines": portion.lines,
            "is_last": portion.is_last,
            "data": portion.data,
        }
        with self._database.write() as connection:
            added = connection.execute(self._database.insert_unless_present(job_portions, row))
            return bool(added.rowcount)

    def count_lines(self, portions: PortionSet) -> tuple[int, ...] | None:
        found = (
            select(job_portions.c.number, job_portions.c.lines, job_portions.c.is_last)
            .where(_is_in(portions))
            .order_by(job_portions.c.number)
        )
        with self._database.read() as connection:
            rows = connection.execute(found).all()
        is_complete = (
            bool(rows)
            and [row.number for row in rows] == list(range(len(rows)))
            and bool(rows[-1].is_last)
        )
        return tuple(row.lines for row in rows) if is_complete else None

    def portion(self, portions: PortionSet, number: int) -> Portion | None:
        found = select(job_portions.c.lines, job_portions.c.data, job_portions.c.is_last).where(
            _is_in(portions), job_portions.c.number == number
        )
        with self._database.read() as connection:
            row = connection.execute(found).one_or_none()
        return None if row is None else Portion(row.lines, row.data, bool(row.is_last))

    def claim_portions(self, job_id: str, preparer: str) -> None:
        is_of_job = job_portions.c.job_id == job_id
        is_mine = and_(is_of_job, job_portions.c.preparer == preparer)
        with self._database.write(durable=True) as connection:
            kinds = connection.execute(select(job_portions.c.kind).where(is_mine).distinct())
            replaced = list(kinds.scalars())
            connection.execute(
                delete(job_portions).where(
                    is_of_job,
                    job_portions.c.preparer != preparer,
                    (job_portions.c.preparer != "") | job_portions.c.kind.in_(replaced),
                )
            )
            connection.execute(update(job_portions).where(is_mine).values(preparer=""))

    def forget_portions(self, job_id: str, preparer: str | None = None) -> None:
        is_gone = job_portions.c.job_id == job_id
        if preparer is not None:
            is_gone = and_(is_gone, job_portions.c.preparer == preparer)
        with self._database.write() as connection:
            connection.execute(delete(job_portions).where(is_gone))

    def prune_portions(self) -> int:
        is_needed = exists().where(
            jobs.c.job_id == job_portions.c.job_id, jobs.c.state.in_(UNFINISHED_STATES)
        )
        with self._database.write() as connection:
            return connection.execute(delete(job_portions).where(~is_needed)).rowcount


def _is_in(portions: PortionSet) -> ColumnElement[bool]:
    return and_(
        job_portions.c.job_id == portions.job_id,
        job_portions.c.kind == portions.kind.value,
        job_portions.c.preparer == portions.preparer,
    )
