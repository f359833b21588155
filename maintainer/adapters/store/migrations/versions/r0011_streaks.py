"""Failures in a row for one reason, and how often a rule took on too much, in the memory of
rules.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns, empty: failures of before wait as one row, whatever their reasons were."""
    op.add_column("rule_histories", sa.Column("streak", sa.Text(), nullable=True))
    op.add_column(
        "rule_histories",
        sa.Column("recent_overloads", sa.Integer(), nullable=False, server_default="0"),
    )
