"""Versions of the policies, by the hash of their content."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add them, empty: the next plan records the version in force."""
    op.create_table(
        "policy_versions",
        sa.Column("version", NAME, nullable=False),
        sa.Column("first_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("layers", sa.Integer(), nullable=False),
        sa.Column("problems", sa.Text(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("version"),
    )
    op.create_index(
        "ix_policy_versions_last_seen_at", "policy_versions", ["last_seen_at", "version"]
    )
