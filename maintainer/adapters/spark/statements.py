"""What Spark runs for a job: one CALL of a procedure with what surrounds it, or the statements of a
repair.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maintainer.adapters.spark.orphans import disposal_statement, orphan_statements
from maintainer.adapters.spark.procedure import call_statement, rollback_statement
from maintainer.adapters.spark.safeguards import name_table, statements_after, statements_before
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.rollback import JobAction, RollBack


@dataclass(frozen=True, slots=True)
class Statements:
    """In the order in which they run; what comes before the main one prepares it, what comes after
    it proves it.
    """

    every: tuple[str, ...]
    main: int

    @property
    def work(self) -> str:
        """The one that does the work."""
        return self.every[self.main]


def statements_of(job: Job, listed: Path | None = None) -> Statements:
    """All that Spark runs for the job; InvalidValueError for an unknown option or a value out of
    its bound. `listed` has what a removal of orphans may take.
    """
    own = write_statements(job.table, job.action, listed)
    is_rewrite = not isinstance(job.action, RollBack) and job.action.procedure.rewrites_content
    before, after = (statements_before(job), statements_after(job)) if is_rewrite else ([], [])
    return Statements(
        (*before, *own, *after), len(before) + own.index(main_statement(job.table, job.action))
    )


def write_statements(
    table: TableIdentifier, action: JobAction, listed: Path | None = None
) -> list[str]:
    """The action's own statements in the order in which they run; InvalidValueError for an unknown
    option or a value out of its bound.
    """
    match action:
        case RemoveOrphanFiles():
            return orphan_statements(table, action, listed)
        case RollBack():
            return [_check_main(table, action), rollback_statement(table, action)]
        case _:
            return [call_statement(table, action)]


def _check_main(table: TableIdentifier, action: RollBack) -> str:
    """Fails when main has moved on: what was committed meanwhile would be lost with the
    rollback.
    """
    expected = action.expected_snapshot_id
    standing = f"(SELECT snapshot_id FROM {name_table(table)}.refs WHERE name = 'main')"  # noqa: S608 - names are quoted
    return (
        f"SELECT assert_true({standing} = {expected}, 'main has moved on from snapshot "  # noqa: S608 - as above
        f"{expected}') AS is_unmoved"
    )


def main_statement(table: TableIdentifier, action: JobAction) -> str:
    """The one that does the work, as a job shows it."""
    match action:
        case RollBack():
            return rollback_statement(table, action)
        case RemoveOrphanFiles():
            return disposal_statement(table, action)
        case _:
            return call_statement(table, action)
