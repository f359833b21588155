"""Pauses in a table of their own, which no scan prunes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, with the pauses from the rows of tables."""
    op.create_table(
        "pauses",
        sa.Column("full_name", NAME, primary_key=True),
        sa.Column("levels", sa.Text(), nullable=False),
        sa.Column("table_uuid", NAME, nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
    )
    op.create_index("ix_pauses_table_uuid", "pauses", ["table_uuid"])
    op.execute(
        "INSERT INTO pauses (full_name, levels, table_uuid, document) SELECT full_name, levels, "
        "table_uuid, pause FROM tables WHERE pause IS NOT NULL"
    )
