"""The history of verdicts."""

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
