"""All statements of a job, its main ones and those around them, and those of a trial."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from maintainer.adapters.spark.statements.orphans import (
    GivenFiles,
    disposal_statement,
    orphan_statements,
)
from maintainer.adapters.spark.statements.safeguards import statements_after, statements_before
from maintainer.domain.action import JobAction, RemoveOrphanFiles, RewriteDataFiles, RollBack
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.procedures.call import name_table, write_call, write_snapshot
from maintainer.procedures.registry import call_statement


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
    before, after = (statements_before(job), statements_after(job)) if job.is_rewrite else ([], [])
    return Statements(
        (*before, *own, *after), len(before) + own.index(main_statement(job.table, job.action))
    )


def write_statements(
    table: TableIdentifier, action: JobAction, given: GivenFiles | None = None
) -> list[str]:
    """Return the action's own statements in order.

    InvalidValueError for an unknown option or an invalid value.
    """
    return _write_own(table, action, lambda orphans: orphan_statements(table, orphans, given))


def _check_main(table: TableIdentifier, action: RollBack) -> str:
    """Write a check that fails if main has newer commits, which the rollback would lose."""
    expected = action.expected_snapshot_id
    standing = f"(SELECT snapshot_id FROM {name_table(table)}.refs WHERE name = 'main')"
    return (
        f"SELECT assert_true({standing} = {expected}, 'main has changed from snapshot "
        f"{expected}') AS is_unmoved"
    )


def rollback_statement(table: TableIdentifier, action: RollBack) -> str:
    """Write the statement that sets main back; it fails if the snapshot is not an ancestor."""
    name = "rollback_to_snapshot"
    return write_call(table, name, [write_snapshot(name, action.snapshot_id)])


def main_statement(table: TableIdentifier, action: JobAction) -> str:
    """Return the statement whose result is the result of the job."""
    return _write_own(table, action, lambda orphans: [disposal_statement(table, orphans)])[-1]


def _write_own(
    table: TableIdentifier,
    action: JobAction,
    write_orphans: Callable[[RemoveOrphanFiles], list[str]],
) -> list[str]:
    """Return the statements of the action; those of orphan files are the caller's."""
    match action:
        case RemoveOrphanFiles():
            return write_orphans(action)
        case RollBack():
            return [_check_main(table, action), rollback_statement(table, action)]
        case _:
            return [call_statement(table, action)]


def create_scratch(table: TableIdentifier) -> Sequence[str]:
    """Create the table with two data files; the first statement fails if the table exists."""
    name = name_table(table)
    insert = f"INSERT INTO {name} VALUES (1)"
    return [f"CREATE TABLE {name} (id BIGINT) USING iceberg", insert, insert]


def rewrite_scratch(table: TableIdentifier) -> Sequence[str]:
    """Rewrite the table's two data files into one."""
    return [call_statement(table, RewriteDataFiles(options=(("rewrite-all", "true"),)))]


def drop_scratch(table: TableIdentifier, *, with_files: bool) -> Sequence[str]:
    """Drop the table; `with_files` also deletes all files that its metadata names."""
    return [f"DROP TABLE IF EXISTS {name_table(table)}{' PURGE' if with_files else ''}"]
