"""Equal healths in a row as one sample, and a column for each metric of a sample."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

COUNTS = (
    "small_file_bytes", "delete_bytes", "delete_records", "data_manifests", "delete_manifests",
    "manifest_excess", "branches", "tags",
    "kept_data_files", "metadata_files", "storage_files",
)  # fmt: skip
NUMBERS = (
    "delete_file_ratio",
    "partition_skew",
    "live_file_ratio",
    "commits_per_hour",
    "growth_bytes_per_day",
    "growth_records_per_day",
)


def upgrade() -> None:
    """Add the columns.

    Samples of earlier versions stay as they are, one health each, with these metrics in one text: a
    year of them is too much to rewrite.
    """
    op.add_column("health_samples", sa.Column("last_at", sa.BigInteger(), nullable=True))
    for name in COUNTS:
        op.add_column("health_samples", sa.Column(name, sa.BigInteger(), nullable=True))
    for name in NUMBERS:
        op.add_column("health_samples", sa.Column(name, sa.Double(), nullable=True))
