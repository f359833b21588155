"""The audit log, which the database itself protects from changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SEQUENCE = sa.BigInteger().with_variant(
    sa.Integer(), "sqlite"
)  # SQLite increments this type alone by itself


def upgrade() -> None:
    """Add it, empty: earlier events are in the jobs' own activity."""
    op.create_table(
        "audit_log",
        sa.Column("sequence", SEQUENCE, primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", NAME, nullable=False),
        sa.Column("deed", sa.Text(), nullable=False),
        sa.Column("full_name", NAME, nullable=True),
        sa.Column("levels", sa.Text(), nullable=True),
        sa.Column("table_uuid", NAME, nullable=False),
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_log_at", "audit_log", ["at"])
    op.create_index("ix_audit_log_full_name", "audit_log", ["full_name", "sequence"])
    op.create_index("ix_audit_log_job_id", "audit_log", ["job_id", "sequence"])
    if op.get_bind().dialect.name == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_log_no_{deed.lower()} BEFORE {deed} ON audit_log BEGIN "
                f"SELECT RAISE(ABORT, 'the audit log only grows'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'the audit log only grows'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log FOR "
        "EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
    )
