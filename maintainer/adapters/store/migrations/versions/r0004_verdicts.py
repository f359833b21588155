"""The history of verdicts, and users' own query timings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
STANDS = sa.text("until IS NULL")


def upgrade() -> None:
    """Add them, empty: verdicts are recorded from the next plan on."""
    op.create_table(
        "verdicts",
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rule", NAME, nullable=False),
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("full_name", "at", "rule"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "uq_verdicts_standing",
        "verdicts",
        ["full_name", "rule"],
        unique=True,
        sqlite_where=STANDS,
        postgresql_where=STANDS,
    )
    op.create_index("ix_verdicts_until", "verdicts", ["until"])
    op.create_table(
        "query_timings",
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("data_files", sa.BigInteger(), nullable=True),
        sa.Column("average_file_size_bytes", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("table_uuid", "at", "name"),
        sqlite_with_rowid=False,
    )
