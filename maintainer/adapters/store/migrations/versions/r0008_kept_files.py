"""The number of data files that each table keeps, and due tables by catalog."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column, unknown until a table is measured, and the index by catalog."""
    op.add_column("tables", sa.Column("kept_data_files", sa.BigInteger(), nullable=True))
    op.drop_index("ix_tables_plan", "tables")
    op.create_index("ix_tables_catalog_plan", "tables", ["catalog", "planned_under", "plan_at"])
