"""Unfinished reads of large tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, empty."""
    op.create_table(
        "unfinished_readings",
        sa.Column("table_uuid", NAME, primary_key=True),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_unfinished_readings_kept_at", "unfinished_readings", ["kept_at"])
