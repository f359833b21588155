"""The data of admission: candidates, spending, calibration and pauses of scopes.

A rule's history also counts conflicts and runs without an effect.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add them, empty: this version plans all tables again, and learns from jobs from now on."""
    op.create_table(
        "candidates",
        sa.Column(
            "full_name", NAME, sa.ForeignKey("plans.full_name", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("position", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("full_name", "position"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "spending",
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("day", NAME, nullable=False),
        sa.Column("catalog", NAME, nullable=False),
        sa.Column("policy", NAME, nullable=False),
        sa.Column("bytes", sa.Double(), nullable=False),
        sa.Column("gb_hours", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
    )
    op.create_index("ix_spending_day", "spending", ["day"])
    op.create_table(
        "calibrations",
        sa.Column("level", NAME, nullable=False),
        sa.Column("owner", NAME, nullable=False),
        sa.Column("rule", NAME, nullable=False),
        sa.Column("learnt_at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("level", "owner", "rule"),
    )
    op.create_table(
        "halts",
        sa.Column("scope", NAME, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("scope"),
    )
    op.add_column(
        "rule_histories",
        sa.Column("recent_conflicts", sa.Integer(), nullable=False, server_default="0"),
    )
    op.add_column(
        "rule_histories", sa.Column("empty_runs", sa.Integer(), nullable=False, server_default="0")
    )
    # Stored plans have no candidates yet: every table is planned again.
    op.execute("UPDATE tables SET planned_under = NULL")
