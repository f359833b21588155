"""The order of the table list by band and, within a band, by the benefit of maintenance."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the columns and their indexes.

    Every table is planned again, which computes its benefit.
    """
    op.add_column(
        "tables", sa.Column("benefit", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.add_column("tables", sa.Column("need", sa.BigInteger(), nullable=True))
    op.execute("UPDATE tables SET need = -band * 1000000000000000000, planned_under = NULL")
    op.create_index("ix_tables_need", "tables", ["need", "full_name"])
    op.create_index("ix_tables_band_need", "tables", ["band", "need", "full_name"])
