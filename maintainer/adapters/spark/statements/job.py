"""All statements of a job: its main statements, and the statements before and after them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from maintainer.adapters.spark.statements.orphans import (
    GivenFiles,
    disposal_statement,
    orphan_statements,
)
from maintainer.adapters.spark.statements.procedure import (
    call_statement,
    name_table,
    rollback_statement,
)
from maintainer.adapters.spark.statements.safeguards import statements_after, statements_before
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.rollback import JobAction, RollBack


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements in order: the first prepare the main statements, and the last prove the result."""

    every: tuple[str, ...]
    main: int

    @property
    def work(self) -> str:
        return self.every[self.main]


def refuse_unknown_catalog(job: Job, catalogs: Collection[str]) -> None:
    """Raise InvalidValueError if Spark does not know the catalog of the job's table."""
    if job.table.catalog not in catalogs:
        raise InvalidValueError(
            f"catalog {job.table.catalog!r} of job {job.job_id} is not configured for Spark; "
            f"known are {', '.join(sorted(catalogs)) or 'none'}"
        )


def statements_of(job: Job, given: GivenFiles | None = None) -> Statements:
    """Return all statements of the job.

    InvalidValueError for an unknown option or an invalid value. `given` are the files that an
    orphan scan compares, or that a removal may remove.
    """
    own = write_statements(job.table, job.action, given)
    is_rewrite = not isinstance(job.action, RollBack) and job.action.procedure.rewrites_content
    before, after = (statements_before(job), statements_after(job)) if is_rewrite else ([], [])
    return Statements(
        (*before, *own, *after), len(before) + own.index(main_statement(job.table, job.action))
    )


def write_statements(
    table: TableIdentifier, action: JobAction, given: GivenFiles | None = None
) -> list[str]:
    """Return the action's own statements in order.

    InvalidValueError for an unknown option or an invalid value.
    """
    match action:
        case RemoveOrphanFiles():
            return orphan_statements(table, action, given)
        case RollBack():
            return [_check_main(table, action), rollback_statement(table, action)]
        case _:
            return [call_statement(table, action)]


def _check_main(table: TableIdentifier, action: RollBack) -> str:
    """Write a check that fails if main has newer commits, which the rollback would lose."""
    expected = action.expected_snapshot_id
    standing = f"(SELECT snapshot_id FROM {name_table(table)}.refs WHERE name = 'main')"
    return (
        f"SELECT assert_true({standing} = {expected}, 'main has changed from snapshot "
        f"{expected}') AS is_unmoved"
    )


def main_statement(table: TableIdentifier, action: JobAction) -> str:
    match action:
        case RollBack():
            return rollback_statement(table, action)
        case RemoveOrphanFiles():
            return disposal_statement(table, action)
        case _:
            return call_statement(table, action)
