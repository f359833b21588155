"""Failures in a row for one reason, and how often a rule took on too much, in a rule's history."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns, empty: earlier failures count as one streak, whatever their reasons."""
    op.add_column("rule_histories", sa.Column("streak", sa.Text(), nullable=True))
    op.add_column(
        "rule_histories",
        sa.Column("recent_overloads", sa.Integer(), nullable=False, server_default="0"),
    )
