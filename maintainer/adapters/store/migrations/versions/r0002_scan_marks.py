"""Scan marks, which show whether a table has changed since it was measured."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the scan marks."""
    op.create_table(
        "scan_marks",
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["full_name"], ["tables.full_name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("full_name"),
    )
