"""Leases of tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the leases.

    A job that an earlier version submitted has none, and is taken over when its process is gone.
    """
    op.create_table(
        "leases",
        sa.Column("table_uuid", NAME, primary_key=True),
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("holder", NAME, nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
    )
    held = sa.text("expires_at IS NOT NULL")
    op.create_index(
        "ix_leases_held", "leases", ["table_uuid"], sqlite_where=held, postgresql_where=held
    )
