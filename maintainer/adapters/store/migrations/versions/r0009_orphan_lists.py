"""Orphan lists that wait for an approval."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add them, empty: earlier results are in their jobs' activity."""
    op.create_table(
        "orphan_lists",
        sa.Column("list_id", NAME, primary_key=True),
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
    )
    op.create_index("ix_orphan_lists_full_name", "orphan_lists", ["full_name", "made_at"])
    op.create_index("ix_orphan_lists_table_uuid", "orphan_lists", ["table_uuid", "state"])
    op.create_table(
        "orphan_files",
        sa.Column(
            "list_id",
            NAME,
            sa.ForeignKey("orphan_lists.list_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("first", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
    )
