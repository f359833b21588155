"""The initial schema. It is frozen: a later change of the schema is a migration of its own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from maintainer.adapters.store.migrations.driver_tables import create_driver_tables

revision = "0001"
down_revision = None

Kind = sa.types.TypeEngine[Any]
NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
# SQLite increments this type alone by itself
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
IS_UNFINISHED = "state IN ('pending', 'submitted', 'running', 'unknown')"
SORTED_FIGURES = (
    "average_file_size_bytes", "data_files", "data_bytes", "small_files", "small_file_ratio",
    "delete_files", "manifests", "snapshots", "measured_at", "need",
)  # fmt: skip
SAMPLED_COUNTS = (
    "data_files", "data_bytes", "small_files", "records", "position_delete_files",
    "equality_delete_files", "deletion_vectors", "manifests", "manifest_bytes",
    "snapshots", "metadata_bytes", "small_file_bytes", "delete_bytes", "delete_records",
    "data_manifests", "delete_manifests", "manifest_excess", "branches",
    "tags", "kept_data_files", "metadata_files", "storage_files",
)  # fmt: skip
SAMPLED_NUMBERS = (
    "average_file_size_bytes", "small_file_ratio", "delete_file_ratio", "partition_skew",
    "live_file_ratio", "commits_per_hour", "growth_bytes_per_day",
    "growth_records_per_day",
)  # fmt: skip


# SQLAlchemy takes options of any type.
def _required(name: str, kind: Kind, **options: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, nullable=False, **options)


def _optional(name: str, kind: Kind) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def _reference(name: str, owner: str) -> sa.Column[Any]:
    return sa.Column(name, NAME, sa.ForeignKey(owner, ondelete="CASCADE"), nullable=False)


def _create_partial_index(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    only = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=only, postgresql_where=only)


def upgrade() -> None:
    """Create everything."""
    _create_tables()
    create_driver_tables()
    _create_plans()
    _create_samples()
    _create_jobs()
    _create_job_portions()
    _create_orphans()
    _create_pauses_and_notices()
    _create_audit_log()


def _create_tables() -> None:
    op.create_table(
        "tables",
        _required("full_name", NAME),
        _required("levels", sa.Text()),
        _required("catalog", NAME),
        _required("namespace", NAME),
        _required("search_name", sa.Text()),
        _optional("table_uuid", NAME),
        _required("first_seen_at", sa.BigInteger()),
        _optional("measured_at", sa.BigInteger()),
        _optional("band", sa.SmallInteger()),
        _required("benefit", sa.BigInteger(), server_default="0"),
        _optional("need", sa.BigInteger()),
        _optional("average_file_size_bytes", sa.Double()),
        _optional("data_files", sa.BigInteger()),
        _optional("data_bytes", sa.BigInteger()),
        _optional("small_files", sa.BigInteger()),
        _optional("small_file_ratio", sa.Double()),
        _optional("delete_files", sa.BigInteger()),
        _optional("manifests", sa.BigInteger()),
        _optional("snapshots", sa.BigInteger()),
        _optional("kept_data_files", sa.BigInteger()),
        _optional("fault", sa.Text()),
        _optional("pause", sa.Text()),
        _required("plan_wanted", sa.Integer(), server_default="0"),
        _optional("planned_under", sa.Text()),
        _optional("plan_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("full_name"),
    )
    op.create_index("ix_tables_band", "tables", ["band", "full_name"])
    op.create_index("ix_tables_catalog", "tables", ["catalog", "full_name"])
    op.create_index("ix_tables_catalog_namespace", "tables", ["catalog", "namespace", "full_name"])
    op.create_index("ix_tables_catalog_plan", "tables", ["catalog", "planned_under", "plan_at"])
    op.create_index("ix_tables_namespace", "tables", ["namespace"])
    op.create_index("ix_tables_table_uuid", "tables", ["table_uuid"])
    for figure in SORTED_FIGURES:
        op.create_index(f"ix_tables_{figure}", "tables", [figure, "full_name"])
        op.create_index(f"ix_tables_band_{figure}", "tables", ["band", figure, "full_name"])
    op.create_table(
        "table_health",
        _reference("full_name", "tables.full_name"),
        _required("summary", sa.LargeBinary()),
        _required("detail", sa.LargeBinary()),
        _required("grade", sa.Text()),
        sa.PrimaryKeyConstraint("full_name"),
    )
    op.create_table(
        "scan_marks",
        _reference("full_name", "tables.full_name"),
        _required("token", sa.Text()),
        _required("basis", sa.Text()),
        sa.PrimaryKeyConstraint("full_name"),
    )


def _create_plans() -> None:
    op.create_table(
        "plans",
        _reference("full_name", "tables.full_name"),
        _required("document", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("full_name"),
    )
    op.create_table(
        "candidates",
        _reference("full_name", "plans.full_name"),
        _required("position", sa.SmallInteger(), autoincrement=False),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("full_name", "position"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "verdicts",
        _required("full_name", NAME),
        _required("at", sa.BigInteger(), autoincrement=False),
        _required("rule", NAME),
        _required("table_uuid", NAME),
        _optional("until", sa.BigInteger()),
        _required("code", sa.Text()),
        _required("key", sa.Text()),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("full_name", "at", "rule"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_verdicts_until", "verdicts", ["until"])
    _create_partial_index(
        "uq_verdicts_standing", "verdicts", ["full_name", "rule"], "until IS NULL", unique=True
    )
    op.create_table(
        "policy_versions",
        _required("version", NAME),
        _required("first_seen_at", sa.BigInteger()),
        _required("last_seen_at", sa.BigInteger()),
        _required("layers", sa.Integer()),
        _required("problems", sa.Text()),
        _required("document", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("version"),
    )
    op.create_index(
        "ix_policy_versions_last_seen_at", "policy_versions", ["last_seen_at", "version"]
    )


def _create_samples() -> None:
    op.create_table(
        "health_samples",
        _required("table_uuid", NAME),
        _required("measured_at", sa.BigInteger(), autoincrement=False),
        _optional("last_at", sa.BigInteger()),
        _optional("more", sa.Text()),
        *(_optional(name, sa.BigInteger()) for name in SAMPLED_COUNTS),
        *(_optional(name, sa.Double()) for name in SAMPLED_NUMBERS),
        sa.PrimaryKeyConstraint("table_uuid", "measured_at"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_health_samples_measured_at", "health_samples", ["measured_at"])
    op.create_table(
        "manifest_digests",
        _required("table_uuid", NAME),
        _required("path", NAME),
        _required("target_bytes", sa.BigInteger()),
        _required("shape", sa.Text()),
        _required("document", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("table_uuid", "path"),
    )
    op.create_table(
        "unfinished_readings",
        _required("table_uuid", NAME),
        _required("kept_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("table_uuid"),
    )
    op.create_index("ix_unfinished_readings_kept_at", "unfinished_readings", ["kept_at"])
    op.create_table(
        "catalog_faults",
        _required("catalog", NAME),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("catalog"),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        _required("job_id", NAME),
        _required("full_name", NAME),
        _required("table_uuid", NAME),
        _required("rule", sa.Text()),
        _required("state", sa.Text()),
        _required("created_at", sa.BigInteger()),
        _optional("finished_at", sa.BigInteger()),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("job_id"),
    )
    op.create_index("ix_jobs_created_at", "jobs", ["created_at", "job_id"])
    op.create_index("ix_jobs_finished_at", "jobs", ["finished_at"])
    op.create_index("ix_jobs_full_name", "jobs", ["full_name", "created_at", "job_id"])
    op.create_index("ix_jobs_state", "jobs", ["state", "created_at", "job_id"])
    _create_partial_index("uq_jobs_unfinished", "jobs", ["table_uuid"], IS_UNFINISHED, unique=True)
    op.create_table(
        "job_events",
        _reference("job_id", "jobs.job_id"),
        _required("sequence", sa.Integer(), autoincrement=False),
        _required("at", sa.BigInteger()),
        _required("name", sa.Text()),
        _required("fields", sa.Text()),
        sa.PrimaryKeyConstraint("job_id", "sequence"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "leases",
        _required("table_uuid", NAME),
        _required("job_id", NAME),
        _required("holder", NAME),
        _required("token", sa.BigInteger()),
        _optional("expires_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("table_uuid"),
    )
    _create_partial_index("ix_leases_held", "leases", ["table_uuid"], "expires_at IS NOT NULL")
    op.create_table(
        "rule_histories",
        _required("table_uuid", NAME),
        _required("rule", NAME),
        _optional("last_finished_at", sa.BigInteger()),
        _optional("last_success_at", sa.BigInteger()),
        _optional("last_failure_at", sa.BigInteger()),
        _required("last_failure_reason", sa.Text()),
        _required("consecutive_failures", sa.Integer()),
        _optional("idle_at_state", sa.Text()),
        _required("recent_conflicts", sa.Integer(), server_default="0"),
        _required("empty_runs", sa.Integer(), server_default="0"),
        _optional("streak", sa.Text()),
        _required("recent_overloads", sa.Integer(), server_default="0"),
        sa.PrimaryKeyConstraint("table_uuid", "rule"),
    )
    op.create_table(
        "spending",
        _required("job_id", NAME),
        _required("day", NAME),
        _required("catalog", NAME),
        _required("policy", NAME),
        _required("bytes", sa.Double()),
        _required("gb_hours", sa.Double()),
        sa.PrimaryKeyConstraint("job_id"),
    )
    op.create_index("ix_spending_day", "spending", ["day"])
    op.create_table(
        "calibrations",
        _required("level", NAME),
        _required("owner", NAME),
        _required("rule", NAME),
        _required("learnt_at", sa.BigInteger()),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("level", "owner", "rule"),
    )
    op.create_table(
        "savings",
        _required("id", sa.SmallInteger(), autoincrement=False),
        _required("files_removed", sa.BigInteger()),
        _required("manifests_removed", sa.BigInteger()),
        _required("snapshots_removed", sa.BigInteger()),
        _required("bytes_rewritten", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
    )


def _create_job_portions() -> None:
    op.create_table(
        "job_portions",
        _required("job_id", NAME),
        _required("kind", NAME),
        _required("preparer", NAME),
        _required("number", sa.Integer(), autoincrement=False),
        _required("lines", sa.Integer()),
        _required("is_last", sa.Boolean()),
        _required("data", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("job_id", "kind", "preparer", "number"),
    )


def _create_orphans() -> None:
    op.create_table(
        "orphan_lists",
        _required("list_id", NAME),
        _required("full_name", NAME),
        _required("table_uuid", NAME),
        _required("state", sa.Text()),
        _required("made_at", sa.BigInteger()),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("list_id"),
    )
    op.create_index("ix_orphan_lists_full_name", "orphan_lists", ["full_name", "made_at"])
    op.create_index("ix_orphan_lists_table_uuid", "orphan_lists", ["table_uuid", "state"])
    op.create_table(
        "orphan_files",
        _reference("list_id", "orphan_lists.list_id"),
        _required("first", sa.Integer(), autoincrement=False),
        _required("document", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("list_id", "first"),
    )
    op.create_table(
        "fleet_counters",
        _required("level", sa.SmallInteger(), autoincrement=False),
        _required("catalog", NAME),
        _required("namespace", NAME),
        _required("figures", sa.Text()),
        sa.PrimaryKeyConstraint("level", "catalog", "namespace"),
    )
    op.create_index("ix_fleet_counters_namespace", "fleet_counters", ["namespace"])
    op.create_table(
        "job_counters",
        _required("state", NAME),
        _required("jobs", sa.BigInteger()),
        sa.PrimaryKeyConstraint("state"),
    )


def _create_pauses_and_notices() -> None:
    op.create_table(
        "scope_pauses",
        _required("scope", NAME),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("scope"),
    )
    op.create_table(
        "store_info",
        _required("key", NAME),
        _required("value", sa.Text()),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "pauses",
        _required("full_name", NAME),
        _required("levels", sa.Text()),
        _optional("table_uuid", NAME),
        _required("document", sa.Text()),
        sa.PrimaryKeyConstraint("full_name"),
    )
    op.create_index("ix_pauses_table_uuid", "pauses", ["table_uuid"])
    op.create_table(
        "notices",
        _required("number", SEQUENCE, autoincrement=True),
        _required("kind", sa.Text()),
        _required("subject", NAME),
        _required("sentence", sa.Text()),
        _required("at", sa.BigInteger()),
        _required("job_id", NAME),
        _required("held_back", sa.Integer()),
        _required("held_until", sa.BigInteger()),
        _optional("delivered_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("number"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notices_at", "notices", ["at"])


def _create_audit_log() -> None:
    """Only grows: triggers refuse to change or delete a row."""
    op.create_table(
        "audit_log",
        _required("sequence", SEQUENCE, autoincrement=True),
        _required("at", sa.BigInteger()),
        _required("actor", NAME),
        _required("deed", sa.Text()),
        _optional("full_name", NAME),
        _optional("levels", sa.Text()),
        _required("table_uuid", NAME),
        _required("job_id", NAME),
        _required("fields", sa.Text()),
        sa.PrimaryKeyConstraint("sequence"),
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
