"""Parts of table names, for searches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add them, empty; the caller of the migrations adds the existing names."""
    op.create_table(
        "searched_names",
        sa.Column("name_id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column(
            "full_name", NAME, sa.ForeignKey("tables.full_name", ondelete="CASCADE"), nullable=False
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_searched_names", "searched_names", ["full_name"], unique=True)
    op.create_table(
        "name_parts",
        sa.Column("part", NAME, nullable=False),
        sa.Column("name_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("part", "name_id"),
        sqlite_with_rowid=False,
    )
