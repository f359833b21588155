"""Notices, so that all daemons of a store send each one once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
COUNTED = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the notices.

    Those that an earlier version sent are unknown here, and may be sent once more.
    """
    op.create_table(
        "notices",
        sa.Column("number", COUNTED, primary_key=True, autoincrement=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("held_back", sa.Integer(), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=False),
        sa.Column("delivered_at", sa.BigInteger(), nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notices_at", "notices", ["at"])
