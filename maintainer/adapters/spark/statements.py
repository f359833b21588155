"""What Spark runs for a job: one CALL of a procedure, or the statements of a reading."""

from __future__ import annotations

from maintainer.adapters.spark.digest import digest_statements
from maintainer.adapters.spark.orphans import orphan_statements
from maintainer.adapters.spark.procedure import call_statement
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reading import DigestManifests, JobAction


def write_statements(table: TableIdentifier, action: JobAction) -> list[str]:
    """In the order in which they run; InvalidValueError for an unknown option or a value out of its bound."""
    match action:
        case DigestManifests():
            return digest_statements(table, action)
        case RemoveOrphanFiles():
            return orphan_statements(table, action)
        case _:
            return [call_statement(table, action)]


def main_statement(table: TableIdentifier, action: JobAction) -> str:
    """The one that does the work, as a job shows it."""
    return write_statements(table, action)[-1]
