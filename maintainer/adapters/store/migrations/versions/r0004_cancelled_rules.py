"""A rule's history keeps when a person last cancelled a job of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
compatible_from = "0003"


def upgrade() -> None:
    op.add_column("rule_histories", sa.Column("cancelled_at", sa.BigInteger))
    op.add_column("rule_histories", sa.Column("cancelled_by", sa.Text))
