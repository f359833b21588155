"""The reads of each table and day. Older versions do not use them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
compatible_from = "0001"


def upgrade() -> None:
    """Add the table."""
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "table_reads",
        sa.Column("full_name", name, nullable=False),
        sa.Column("day", name, nullable=False),
        sa.Column("reads", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("full_name", "day"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_table_reads_day", "table_reads", ["day"])
