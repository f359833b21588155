"""The data of admission: candidates with plans, charges, calibration, and pauses of scopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, and_, delete, exists, func, insert, or_, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import calibrations, candidates, scope_pauses, spending
from maintainer.adapters.store.schema import tables
from maintainer.adapters.store.types import write_text
from maintainer.adapters.store.verdicts import read_standing_verdicts, replace_verdict
from maintainer.domain.admission import Candidate, ScopePause, find_candidates
from maintainer.domain.cost import (
    NOTHING_LEARNT,
    SHARED_ALPHA,
    TABLE_ALPHA,
    WORK_VERSION,
    Calibration,
    CostFit,
)
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan, RuleVerdict, StandingVerdict
from maintainer.domain.policy import Charge, DailyWork, RuleName, Spending, day_of

_TABLE, _CATALOG, _FLEET = "table", "catalog", "fleet"
# More than one job can save. The sum of a thousand such jobs still fits into 64 bits.
_LARGEST_SAVING = 2**53


class SqlAdmission:
    """Implements AdmissionStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def candidates(self) -> Sequence[Candidate]:
        with self._database.read() as connection:
            rows = connection.execute(
                select(candidates.c.document).order_by(
                    candidates.c.full_name, candidates.c.position
                )
            )
            return tuple(documents.read(Candidate, row.document) for row in rows)

    def standing_verdicts(self) -> Sequence[StandingVerdict]:
        with self._database.read() as connection:
            return read_standing_verdicts(connection)

    def replace_verdicts(
        self, changes: Sequence[tuple[StandingVerdict, RuleVerdict]]
    ) -> Sequence[RuleVerdict]:
        with self._database.write() as connection:
            # A fixed order, so that two processes that change the same rows never deadlock.
            ordered = sorted(changes, key=lambda change: (change[0].table, change[0].rule))
            return tuple(
                fresh for standing, fresh in ordered if replace_verdict(connection, standing, fresh)
            )

    def spending(self, day: str) -> Spending:
        owner = (spending.c.catalog, spending.c.policy)
        sums = select(
            *owner,
            func.sum(spending.c.bytes).label("bytes"),
            func.sum(spending.c.gb_hours).label("gb_hours"),
        )
        with self._database.read() as connection:
            rows = connection.execute(
                sums.where(spending.c.day == day).group_by(*owner).order_by(*owner)
            )
            return Spending(
                day, {(row.catalog, row.policy): Charge(row.bytes, row.gb_hours) for row in rows}
            )

    def daily_work(
        self, catalog: str | None, namespace: str | None, first_day: str, last_day: str
    ) -> Sequence[DailyWork]:
        filters = [spending.c.day >= first_day, spending.c.day <= last_day]
        if catalog is not None:
            filters.append(spending.c.catalog == catalog)
        if namespace is not None:
            filters.append(spending.c.namespace == namespace)
        names = ("bytes", "gb_hours", "files_removed", "requests_saved")
        sums = (func.sum(spending.c[name]).label(name) for name in names)
        statement = (
            select(spending.c.day, *sums)
            .where(*filters)
            .group_by(spending.c.day)
            .order_by(spending.c.day)
        )
        with self._database.read() as connection:
            return tuple(
                DailyWork(
                    row.day,
                    Charge(row.bytes, row.gb_hours),
                    int(row.files_removed),
                    int(row.requests_saved),
                )
                for row in connection.execute(statement)
            )

    def calibration(self, table_uuid: str, catalog: str) -> Calibration:
        with self._database.read() as connection:
            return read_calibration(connection, table_uuid, catalog)

    def set_scope_pause(self, pause: ScopePause) -> None:
        with self._database.write(durable=True) as connection:
            connection.execute(
                self._database.upsert(
                    scope_pauses, {"scope": pause.scope, "document": documents.write(pause)}
                )
            )

    def remove_scope_pause(self, scope: str) -> bool:
        with self._database.write(durable=True) as connection:
            return (
                connection.execute(
                    delete(scope_pauses).where(scope_pauses.c.scope == scope)
                ).rowcount
                > 0
            )

    def scope_pauses(self) -> Sequence[ScopePause]:
        with self._database.read() as connection:
            return tuple(
                documents.read(ScopePause, row.document)
                for row in connection.execute(
                    select(scope_pauses.c.document).order_by(scope_pauses.c.scope)
                )
            )


def record_candidates(connection: Connection, plan: Plan) -> None:
    """Replace the candidates of the table's last plan with the candidates of this plan."""
    name = str(plan.table)
    connection.execute(delete(candidates).where(candidates.c.full_name == name))
    rows = [
        {"full_name": name, "position": position, "document": documents.write(candidate)}
        for position, candidate in enumerate(find_candidates(plan))
    ]
    if rows:
        connection.execute(insert(candidates), rows)


def bound_saving(figure: int) -> int:
    """Limit the figure of one job, so that the sum over many jobs fits into the database."""
    return max(-_LARGEST_SAVING, min(figure, _LARGEST_SAVING))


def charge(database: Database, connection: Connection, job: Job) -> None:
    """Add the job's cost and savings to the day on which the job was stored."""
    cost, effect = job.charge, job.effect
    row = {
        "day": day_of(job.created_at),
        "catalog": job.table.catalog,
        "namespace": job.table.namespace_text,
        "policy": write_text(job.charged_to),
        "bytes": cost.bytes,
        "gb_hours": cost.gb_hours,
        "files_removed": 0 if effect is None else bound_saving(effect.files_removed),
        "requests_saved": 0 if effect is None else bound_saving(effect.requests_saved),
    }
    connection.execute(database.upsert(spending, {"job_id": job.job_id, **row}))


def learn(database: Database, connection: Connection, job: Job, at: datetime) -> None:
    """Add a finished job to the calibration of its table, its catalog and the fleet."""
    sample = job.cost_sample
    if sample is None:
        return
    known = _read_fits(connection, job.table_uuid, job.table.catalog)
    for level, owner, alpha in (
        (_TABLE, job.table_uuid, TABLE_ALPHA),
        (_CATALOG, job.table.catalog, SHARED_ALPHA),
        (_FLEET, "", SHARED_ALPHA),
    ):
        fit = known.get((level, job.policy_rule), NOTHING_LEARNT).learn(sample, alpha)
        row = {
            "level": level,
            "owner": owner,
            "rule": job.policy_rule.value,
            "learnt_at": at,
            "document": documents.write(fit),
        }
        connection.execute(database.upsert(calibrations, row))


def read_calibration(connection: Connection, table_uuid: str, catalog: str) -> Calibration:
    """Read the calibration of the table, of its catalog and of the fleet."""
    known = _read_fits(connection, table_uuid, catalog)
    levels = (
        {rule: fit for (at, rule), fit in known.items() if at == level}
        for level in (_TABLE, _CATALOG, _FLEET)
    )
    return Calibration(*levels)


def _read_fits(
    connection: Connection, table_uuid: str, catalog: str
) -> Mapping[tuple[str, RuleName], CostFit]:
    owners = ((_TABLE, table_uuid), (_CATALOG, catalog), (_FLEET, ""))
    is_theirs = or_(
        *(
            and_(calibrations.c.level == level, calibrations.c.owner == owner)
            for level, owner in owners
        )
    )
    rows = connection.execute(
        select(calibrations.c.level, calibrations.c.rule, calibrations.c.document).where(is_theirs)
    )
    known = {(row.level, RuleName(row.rule)): documents.read(CostFit, row.document) for row in rows}
    return {key: fit for key, fit in known.items() if fit.version == WORK_VERSION}


def prune_admission(connection: Connection, before: datetime) -> None:
    """Delete old charges, and the calibration of tables that no longer exist."""
    connection.execute(delete(spending).where(spending.c.day < day_of(before)))
    is_known = exists().where(tables.c.table_uuid == calibrations.c.owner)
    connection.execute(
        delete(calibrations).where(
            calibrations.c.level == _TABLE, calibrations.c.learnt_at < before, ~is_known
        )
    )
