"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create everything."""
    op.create_table(
        "catalog_faults",
        sa.Column("catalog", NAME, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("catalog"),
    )
    op.create_table(
        "health_samples",
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("measured_at", sa.BigInteger(), nullable=False),
        sa.Column("average_file_size_bytes", sa.Double(), nullable=True),
        sa.Column("data_files", sa.BigInteger(), nullable=True),
        sa.Column("data_bytes", sa.BigInteger(), nullable=True),
        sa.Column("small_files", sa.BigInteger(), nullable=True),
        sa.Column("small_file_ratio", sa.Double(), nullable=True),
        sa.Column("records", sa.BigInteger(), nullable=True),
        sa.Column("position_delete_files", sa.BigInteger(), nullable=True),
        sa.Column("equality_delete_files", sa.BigInteger(), nullable=True),
        sa.Column("deletion_vectors", sa.BigInteger(), nullable=True),
        sa.Column("manifests", sa.BigInteger(), nullable=True),
        sa.Column("manifest_bytes", sa.BigInteger(), nullable=True),
        sa.Column("snapshots", sa.BigInteger(), nullable=True),
        sa.Column("metadata_bytes", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("table_uuid", "measured_at"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "jobs",
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
    )
    op.create_index("ix_jobs_created_at", "jobs", ["created_at", "job_id"], unique=False)
    op.create_index("ix_jobs_finished_at", "jobs", ["finished_at"], unique=False)
    op.create_index(
        "ix_jobs_full_name", "jobs", ["full_name", "created_at", "job_id"], unique=False
    )
    op.create_index("ix_jobs_state", "jobs", ["state", "created_at", "job_id"], unique=False)
    op.create_index(
        "uq_jobs_unfinished",
        "jobs",
        ["table_uuid"],
        unique=True,
        sqlite_where=sa.text("state IN ('pending', 'submitted', 'running', 'unknown')"),
        postgresql_where=sa.text("state IN ('pending', 'submitted', 'running', 'unknown')"),
    )
    op.create_table(
        "manifest_digests",
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("path", NAME, nullable=False),
        sa.Column("target_bytes", sa.BigInteger(), nullable=False),
        sa.Column("shape", sa.Text(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("table_uuid", "path"),
    )
    op.create_table(
        "rule_histories",
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("rule", NAME, nullable=False),
        sa.Column("last_finished_at", sa.BigInteger(), nullable=True),
        sa.Column("last_success_at", sa.BigInteger(), nullable=True),
        sa.Column("last_failure_at", sa.BigInteger(), nullable=True),
        sa.Column("last_failure_reason", sa.Text(), nullable=False),
        sa.Column("consecutive_failures", sa.Integer(), nullable=False),
        sa.Column("idle_at_metadata_location", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("table_uuid", "rule"),
    )
    op.create_table(
        "savings",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("files_removed", sa.BigInteger(), nullable=False),
        sa.Column("manifests_removed", sa.BigInteger(), nullable=False),
        sa.Column("snapshots_removed", sa.BigInteger(), nullable=False),
        sa.Column("bytes_rewritten", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "store_info",
        sa.Column("key", NAME, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "tables",
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("levels", sa.Text(), nullable=False),
        sa.Column("catalog", NAME, nullable=False),
        sa.Column("namespace", NAME, nullable=False),
        sa.Column("search_name", sa.Text(), nullable=False),
        sa.Column("table_uuid", NAME, nullable=True),
        sa.Column("first_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("measured_at", sa.BigInteger(), nullable=True),
        sa.Column("band", sa.SmallInteger(), nullable=True),
        sa.Column("average_file_size_bytes", sa.Double(), nullable=True),
        sa.Column("data_files", sa.BigInteger(), nullable=True),
        sa.Column("data_bytes", sa.BigInteger(), nullable=True),
        sa.Column("small_files", sa.BigInteger(), nullable=True),
        sa.Column("small_file_ratio", sa.Double(), nullable=True),
        sa.Column("delete_files", sa.BigInteger(), nullable=True),
        sa.Column("manifests", sa.BigInteger(), nullable=True),
        sa.Column("snapshots", sa.BigInteger(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("pause", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("full_name"),
    )
    op.create_index(
        "ix_tables_average_file_size_bytes",
        "tables",
        ["average_file_size_bytes", "full_name"],
        unique=False,
    )
    op.create_index("ix_tables_band", "tables", ["band", "full_name"], unique=False)
    op.create_index(
        "ix_tables_catalog_namespace", "tables", ["catalog", "namespace", "full_name"], unique=False
    )
    op.create_index("ix_tables_data_bytes", "tables", ["data_bytes", "full_name"], unique=False)
    op.create_index("ix_tables_data_files", "tables", ["data_files", "full_name"], unique=False)
    op.create_index("ix_tables_delete_files", "tables", ["delete_files", "full_name"], unique=False)
    op.create_index("ix_tables_manifests", "tables", ["manifests", "full_name"], unique=False)
    op.create_index("ix_tables_measured_at", "tables", ["measured_at", "full_name"], unique=False)
    op.create_index(
        "ix_tables_small_file_ratio", "tables", ["small_file_ratio", "full_name"], unique=False
    )
    op.create_index("ix_tables_small_files", "tables", ["small_files", "full_name"], unique=False)
    op.create_index("ix_tables_snapshots", "tables", ["snapshots", "full_name"], unique=False)
    op.create_index("ix_tables_table_uuid", "tables", ["table_uuid"], unique=False)
    op.create_table(
        "job_events",
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("sequence", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "sequence"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "plans",
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["full_name"], ["tables.full_name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("full_name"),
    )
    op.create_table(
        "table_health",
        sa.Column("full_name", NAME, nullable=False),
        sa.Column("summary", sa.LargeBinary(), nullable=False),
        sa.Column("detail", sa.LargeBinary(), nullable=False),
        sa.Column("grade", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["full_name"], ["tables.full_name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("full_name"),
    )
