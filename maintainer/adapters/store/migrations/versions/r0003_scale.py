"""Stored counters, indexes for every list, and the conditions of a plan."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
FIGURES = (
    "average_file_size_bytes",
    "data_files",
    "data_bytes",
    "small_files",
    "small_file_ratio",
    "delete_files",
    "manifests",
    "snapshots",
    "measured_at",
)


def upgrade() -> None:
    """Add them; the caller of the migrations counts the existing rows."""
    op.add_column(
        "tables", sa.Column("plan_wanted", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("tables", sa.Column("planned_under", sa.Text(), nullable=True))
    op.add_column("tables", sa.Column("plan_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_tables_catalog", "tables", ["catalog", "full_name"])
    op.create_index("ix_tables_namespace", "tables", ["namespace"])
    op.create_index("ix_tables_search_name", "tables", ["search_name"])
    op.create_index("ix_tables_plan", "tables", ["planned_under", "plan_at"])
    for name in FIGURES:
        op.create_index(f"ix_tables_band_{name}", "tables", ["band", name, "full_name"])
    op.add_column("plans", sa.Column("planned", sa.Integer(), nullable=False, server_default="1"))
    op.create_index(
        "ix_plans_planned",
        "plans",
        ["full_name"],
        sqlite_where=sa.text("planned > 0"),
        postgresql_where=sa.text("planned > 0"),
    )
    op.add_column("health_samples", sa.Column("more", sa.Text(), nullable=True))
    op.create_index("ix_health_samples_measured_at", "health_samples", ["measured_at"])
    op.create_table(
        "fleet_counters",
        sa.Column("level", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("catalog", NAME, nullable=False),
        sa.Column("namespace", NAME, nullable=False),
        sa.Column("figures", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("level", "catalog", "namespace"),
    )
    op.create_index("ix_fleet_counters_namespace", "fleet_counters", ["namespace"])
    op.create_table(
        "job_counters",
        sa.Column("state", NAME, nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("state"),
    )
