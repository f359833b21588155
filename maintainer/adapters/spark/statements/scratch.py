"""The statements of a scratch table, on which a trial runs a procedure."""

from __future__ import annotations

from collections.abc import Sequence

from maintainer.adapters.spark.statements.procedure import call_statement, name_table
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier


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
