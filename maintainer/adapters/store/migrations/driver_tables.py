"""The part of the initial schema for remote drivers. It is frozen, as r0001 is."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def create_driver_tables() -> None:
    """Create the tables."""
    op.create_table(
        "drivers",
        _column("name", _NAME),
        _column("owner", _NAME),
        _column("token_digest", sa.Text()),
        _column("token_expires_at", sa.BigInteger()),
        _column("former_digest", sa.Text()),
        _column("created_at", sa.BigInteger()),
        _column("fingerprint", sa.Text()),
        _column("megabytes", sa.BigInteger()),
        _column("handle", sa.Text()),
        _column("process", sa.Text()),
        _column("polls", sa.BigInteger()),
        _column("ordered", sa.BigInteger()),
        _column("heard", sa.BigInteger()),
        _column("received", sa.BigInteger()),
        _column("hello", sa.Text()),
        sa.Column("fence", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        _column("reason", sa.Text()),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_drivers_owner", "drivers", ["owner"])
    op.create_index("ix_drivers_ended_at", "drivers", ["ended_at"])
    op.create_table(
        "driver_orders",
        _of_driver(),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        _column("document", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("driver", "number"),
    )
    op.create_table(
        "driver_messages",
        _of_driver(),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        _column("job_id", _NAME),
        _column("event", sa.Text()),
        _column("document", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("driver", "number"),
    )
    op.create_table(
        "driver_jobs",
        _of_driver(),
        _column("job_id", _NAME),
        _column("until", sa.BigInteger()),
        sa.PrimaryKeyConstraint("driver", "job_id"),
    )
    op.create_table(
        "processes",
        _column("owner", _NAME),
        _column("beats", sa.BigInteger()),
        _column("seen_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("owner"),
    )


def _column(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _of_driver() -> sa.Column[Any]:
    reference = sa.ForeignKey("drivers.name", ondelete="CASCADE")
    return sa.Column("driver", _NAME, reference, nullable=False)
