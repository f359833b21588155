"""The store's tables about jobs: candidates, jobs with their events and logs, and calibration."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    text,
)

from maintainer.adapters.store.schema import metadata, owned_by
from maintainer.adapters.store.types import Count, Instant, Packed, name_type
from maintainer.domain.job import JobState

UNFINISHED_STATES = tuple(state.value for state in JobState if not state.is_final)
_IS_UNFINISHED = text("state IN (" + ", ".join(f"'{state}'" for state in UNFINISHED_STATES) + ")")

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", name_type(), primary_key=True),
    Column("full_name", name_type(), nullable=False),
    Column("table_uuid", name_type(), nullable=False),
    Column("rule", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("requested_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant),  # None until the job is in a final state
    Column("document", Text, nullable=False),  # JSON
    # The database refuses a second unfinished job on a table.
    Index(
        "uq_jobs_unfinished",
        "table_uuid",
        unique=True,
        sqlite_where=_IS_UNFINISHED,
        postgresql_where=_IS_UNFINISHED,
    ),
    Index("ix_jobs_created_at", "created_at", "job_id"),
    Index("ix_jobs_state", "state", "created_at", "job_id"),
    Index("ix_jobs_full_name", "full_name", "created_at", "job_id"),
    Index("ix_jobs_rule", "rule", "created_at", "job_id"),
    Index("ix_jobs_requested_by", "requested_by", "created_at", "job_id"),
    Index("ix_jobs_finished_at", "finished_at"),
)

job_events = Table(
    "job_events",
    metadata,
    owned_by("job_id", "jobs.job_id"),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("name", Text, nullable=False),
    Column("fields", Text, nullable=False),  # JSON
    sqlite_with_rowid=False,
)

_IS_HELD = text("expires_at IS NOT NULL")

# Leases of tables. The row is kept after the job, so that a table's tokens only grow.
leases = Table(
    "leases",
    metadata,
    Column("table_uuid", name_type(), primary_key=True),
    Column("job_id", name_type(), nullable=False),
    Column("holder", name_type(), nullable=False),
    Column("token", Count, nullable=False),
    Column("expires_at", Instant),  # None: no job runs on the table
    Index("ix_leases_held", "table_uuid", sqlite_where=_IS_HELD, postgresql_where=_IS_HELD),
)

# The outcomes of each rule on each table, updated when a job finishes. They are kept longer than
# the jobs.
rule_histories = Table(
    "rule_histories",
    metadata,
    Column("table_uuid", name_type(), primary_key=True),
    Column("rule", name_type(), primary_key=True),
    Column("last_finished_at", Instant),
    Column("last_success_at", Instant),
    Column("last_failure_at", Instant),
    Column("last_failure_reason", Text, nullable=False),
    Column("consecutive_failures", Integer, nullable=False),
    Column("idle_at_state", Text),
    Column("recent_conflicts", Integer, nullable=False, server_default="0"),
    Column("empty_runs", Integer, nullable=False, server_default="0"),
    Column("streak", Text),  # JSON: the failures in a row for one reason
    Column("recent_overloads", Integer, nullable=False, server_default="0"),
    Column("cancelled_at", Instant),
    Column("cancelled_by", Text),
)

# The planned actions of each plan, for admission. They are written and deleted with the plan.
candidates = Table(
    "candidates",
    metadata,
    owned_by("full_name", "plans.full_name"),
    Column("position", SmallInteger, primary_key=True, autoincrement=False),
    Column("document", Text, nullable=False),  # JSON
    sqlite_with_rowid=False,
)

# The cost and the savings of jobs, by the day on which the job was stored. Budgets count the cost.
spending = Table(
    "spending",
    metadata,
    Column("job_id", name_type(), primary_key=True),
    Column("day", name_type(), nullable=False),  # 2026-11-21, in UTC
    Column("catalog", name_type(), nullable=False),
    Column("namespace", name_type(), nullable=False),
    # the name of the policy's budget; empty: the policy has none
    Column("policy", name_type(), nullable=False),
    Column("bytes", Double, nullable=False),
    Column("gb_hours", Double, nullable=False),
    Column("files_removed", Count, nullable=False),
    Column("requests_saved", Count, nullable=False),
    Index("ix_spending_day", "day"),
)

# Calibration, updated when a job finishes.
calibrations = Table(
    "calibrations",
    metadata,
    Column("level", name_type(), primary_key=True),  # table, catalog, fleet
    Column("owner", name_type(), primary_key=True),  # a table's UUID, a catalog's name or empty
    Column("rule", name_type(), primary_key=True),
    Column("learnt_at", Instant, nullable=False),
    Column("document", Text, nullable=False),  # JSON
)

scope_pauses = Table(
    "scope_pauses",
    metadata,
    Column("scope", name_type(), primary_key=True),
    Column("document", Text, nullable=False),  # JSON
)

# The savings of all finished jobs, also of pruned jobs. The table has one row.
savings = Table(
    "savings",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("files_removed", Count, nullable=False),
    Column("manifests_removed", Count, nullable=False),
    Column("snapshots_removed", Count, nullable=False),
    Column("bytes_rewritten", Count, nullable=False),
)

# Compressed portions of the long lists that jobs get and of the rows that jobs report. No foreign
# key refers to a job: `prune` deletes the portions of finished and unknown jobs.
job_portions = Table(
    "job_portions",
    metadata,
    Column("job_id", name_type(), primary_key=True),
    Column("kind", name_type(), primary_key=True),
    Column("preparer", name_type(), primary_key=True),  # empty: the job uses this set of portions
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("lines", Integer, nullable=False),
    Column("is_last", Boolean, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# The end of each job's log, in parts. No foreign key refers to a job: `prune` deletes the logs of
# unknown jobs.
job_logs = Table(
    "job_logs",
    metadata,
    Column("job_id", name_type(), primary_key=True),
    Column("start", Count, primary_key=True, autoincrement=False),  # in characters of the log
    Column("end", Count, nullable=False),
    Column("source", Count, nullable=False),
    Column("is_last", Boolean, nullable=False),
    Column("data", Packed, nullable=False),
)
