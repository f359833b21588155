"""Sums are computed, not stored. No released version uses the tables that are dropped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
compatible_from = "0003"


def upgrade() -> None:
    """Keep the figures of the last samples, drop stored sums, and add indexes to sum up."""
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "last_fleet_samples",
        sa.Column("level", sa.SmallInteger(), nullable=False, autoincrement=False),
        sa.Column("catalog", name, nullable=False),
        sa.Column("namespace", name, nullable=False),
        sa.Column("figures", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("level", "catalog", "namespace"),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO last_fleet_samples SELECT level, catalog, namespace, sampled "
        "FROM fleet_counters WHERE sampled IS NOT NULL"
    )
    op.create_index(
        "ix_tables_sums",
        "tables",
        [
            "catalog", "namespace", "full_name", "measured_at", "band", "data_files", "data_bytes",
            "small_files", "delete_files", "manifests", "snapshots", "kept_data_files",
        ],
    )  # fmt: skip
    op.drop_index("ix_tables_catalog_namespace", "tables")
    has_trouble = sa.text("fault IS NOT NULL OR pause IS NOT NULL")
    op.create_index(
        "ix_tables_trouble",
        "tables",
        ["catalog", "namespace"],
        sqlite_where=has_trouble,
        postgresql_where=has_trouble,
    )
    op.drop_table("fleet_counters")
    op.drop_table("job_counters")
