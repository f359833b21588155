"""The store's tables.

A change here needs a migration of older stores. A test compares migrated stores with this schema.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    event,
    text,
)

from maintainer.adapters.store.types import Count, Instant, Packed, Sequenced, name_type
from maintainer.domain.health import Band
from maintainer.domain.plan import SkipCode

# Not Alembic's default name: other programs that use Alembic may share the PostgreSQL database.
VERSION_TABLE = "maintainer_schema"
INSTANCE_ID_KEY = "instance_id"  # in store_info
COMPATIBLE_FROM_KEY = "compatible_from"  # in store_info: the oldest schema of a usable version

BANDS = tuple(Band)  # a row of `tables` has the position of its band in this tuple

# The table list can be sorted by these figures, also within one band.
SORTED_FIGURES = (
    "average_file_size_bytes", "data_files", "data_bytes", "small_files", "small_file_ratio",
    "delete_files", "manifests", "snapshots", "measured_at", "need",
)  # fmt: skip

# One index contains these figures, so that sums over them do not read the rows.
SUMMED_FIGURES = (
    "data_files", "data_bytes", "small_files", "delete_files", "manifests", "snapshots",
    "kept_data_files",
)  # fmt: skip
HAS_TROUBLE = text("fault IS NOT NULL OR pause IS NOT NULL")

metadata = MetaData()


def owned_by(name: str, owner: str) -> Column[str]:
    """Return a key column with a foreign key; a row is deleted with the row that it refers to."""
    return Column(name, name_type(), ForeignKey(owner, ondelete="CASCADE"), primary_key=True)


# One narrow row for each known table. Lists sort, filter and sum these rows. The documents are in
# other tables, so that a sum over the fleet does not read them.
tables = Table(
    "tables",
    metadata,
    Column("full_name", name_type(), primary_key=True),
    Column("levels", Text, nullable=False),  # JSON: catalog, namespace levels, name
    Column("catalog", name_type(), nullable=False),
    Column("namespace", name_type(), nullable=False),
    # case-folded by Python: SQLite folds only ASCII, and PostgreSQL by locale
    Column("search_name", Text, nullable=False),
    Column("table_uuid", name_type()),  # None until the table is measured
    Column("first_seen_at", Instant, nullable=False),
    Column("measured_at", Instant),
    Column("band", SmallInteger),  # position in BANDS, best first
    # of maintenance, by the latest plan: see need.py
    Column("benefit", Count, nullable=False, server_default="0"),
    Column("need", Count),  # band and benefit in one number, the worst first: see need.py
    Column("average_file_size_bytes", Double),
    Column("data_files", Count),
    Column("data_bytes", Count),
    Column("small_files", Count),
    Column("small_file_ratio", Double),
    Column("delete_files", Count),
    Column("manifests", Count),
    Column("snapshots", Count),
    Column("kept_data_files", Count),
    Column("fault", Text),  # JSON
    Column("pause", Text),  # JSON: a copy of the pause, for lists and sums; see pauses.py
    # When a new plan is due: a change of the table's data increments plan_wanted and clears
    # planned_under.
    Column("plan_wanted", Integer, nullable=False, server_default="0"),
    Column("planned_under", Text),  # the version of all policies; None: a plan is due now
    Column("plan_at", Instant),  # from this time on a plan is due, even under the same policies
    Index("ix_tables_catalog", "catalog", "full_name"),
    Index("ix_tables_namespace", "namespace"),
    Index("ix_tables_catalog_plan", "catalog", "planned_under", "plan_at"),
    Index(
        "ix_tables_sums",
        "catalog",
        "namespace",
        "full_name",  # for the list of a namespace
        "measured_at",
        "band",
        *SUMMED_FIGURES,
    ),
    Index(
        "ix_tables_trouble",
        "catalog",
        "namespace",
        sqlite_where=HAS_TROUBLE,
        postgresql_where=HAS_TROUBLE,
    ),
    Index("ix_tables_table_uuid", "table_uuid"),
    Index("ix_tables_measured_at", "measured_at", "full_name"),
    Index("ix_tables_band", "band", "full_name"),
    Index("ix_tables_average_file_size_bytes", "average_file_size_bytes", "full_name"),
    Index("ix_tables_data_files", "data_files", "full_name"),
    Index("ix_tables_data_bytes", "data_bytes", "full_name"),
    Index("ix_tables_small_files", "small_files", "full_name"),
    Index("ix_tables_small_file_ratio", "small_file_ratio", "full_name"),
    Index("ix_tables_delete_files", "delete_files", "full_name"),
    Index("ix_tables_manifests", "manifests", "full_name"),
    Index("ix_tables_snapshots", "snapshots", "full_name"),
    Index("ix_tables_need", "need", "full_name"),
    *(Index(f"ix_tables_band_{name}", "band", name, "full_name") for name in SORTED_FIGURES),
)

# The latest health in two parts. Lists read the summary; the page of a table reads both parts.
table_health = Table(
    "table_health",
    metadata,
    owned_by("full_name", "tables.full_name"),
    Column("summary", Packed, nullable=False),  # TableHealth without partitions, history and refs
    Column("detail", Packed, nullable=False),  # partitions, history and refs
    Column("grade", Text, nullable=False),  # JSON
)

# The state in which each table was measured. A scan reads all of it. It is not in `tables`, because
# lists never need it.
scan_marks = Table(
    "scan_marks",
    metadata,
    owned_by("full_name", "tables.full_name"),
    Column("token", Text, nullable=False),
    Column("basis", Text, nullable=False),
)

# The reads that engines report. The key has the name because a report has no UUID. No foreign key
# refers to a table, so that a table that is missing for a while keeps its counts. `prune` deletes
# old days.
table_reads = Table(
    "table_reads",
    metadata,
    Column("full_name", name_type(), primary_key=True),
    Column("day", name_type(), primary_key=True),  # 2026-11-21, in UTC
    Column("reads", Count, nullable=False),
    Index("ix_table_reads_day", "day"),
    sqlite_with_rowid=False,
)

plans = Table(
    "plans",
    metadata,
    owned_by("full_name", "tables.full_name"),
    Column("document", Packed, nullable=False),
)

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

# The key has the UUID, not the name: another table with the same name has its own history.
health_samples = Table(
    "health_samples",
    metadata,
    Column("table_uuid", name_type(), primary_key=True),
    Column("measured_at", Instant, primary_key=True),
    Column("last_at", Instant),  # the time of the last equal health; None: there was one health
    Column("more", Text),  # JSON: metrics by name that had no column at the time
    *(Column(name, Count) for name in SAMPLED_COUNTS),
    *(Column(name, Double) for name in SAMPLED_NUMBERS),
    Index("ix_health_samples_measured_at", "measured_at"),
    sqlite_with_rowid=False,  # clustered by the key: the rows of a chart are neighbours
)

manifest_digests = Table(
    "manifest_digests",
    metadata,
    Column("table_uuid", name_type(), primary_key=True),
    Column("path", name_type(), primary_key=True),
    Column("target_bytes", Count, nullable=False),
    Column(
        "shape",
        Text,
        nullable=False,
        # A fingerprint of ManifestDigest's fields: a manifest is read again if another version of
        # this program made its digest.
    ),
    Column("document", Packed, nullable=False),
)

# Tables whose read has stored some digests and is not finished. If such a table was never measured,
# its digests belong to no health.
unfinished_readings = Table(
    "unfinished_readings",
    metadata,
    Column("table_uuid", name_type(), primary_key=True),
    Column("kept_at", Instant, nullable=False),  # when the last portion was stored
    Index("ix_unfinished_readings_kept_at", "kept_at"),
)

catalog_faults = Table(
    "catalog_faults",
    metadata,
    Column("catalog", name_type(), primary_key=True),
    Column("document", Text, nullable=False),  # JSON: a list
)

_STANDS = text("until IS NULL")
IS_OBSERVED = text(f"until IS NULL AND code = '{SkipCode.OBSERVE_ONLY}'")

# Verdicts with their beginning and end. Like jobs, they are kept after the table's row is deleted,
# until they are pruned.
verdicts = Table(
    "verdicts",
    metadata,
    Column("full_name", name_type(), primary_key=True),
    Column("at", Instant, primary_key=True, autoincrement=False),
    Column("rule", name_type(), primary_key=True),
    Column("table_uuid", name_type(), nullable=False),
    Column("until", Instant),  # None: still valid
    Column("code", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("document", Text, nullable=False),  # JSON
    Index(
        "uq_verdicts_standing",
        "full_name",
        "rule",
        unique=True,
        sqlite_where=_STANDS,
        postgresql_where=_STANDS,
    ),
    Index("ix_verdicts_until", "until"),
    Index(
        "ix_verdicts_observed",
        "full_name",
        sqlite_where=IS_OBSERVED,
        postgresql_where=IS_OBSERVED,
    ),
    sqlite_with_rowid=False,
)

store_info = Table(
    "store_info",
    metadata,
    Column("key", name_type(), primary_key=True),
    Column("value", Text, nullable=False),
)

# The history of the sums over `tables`. Each row is valid until the next one of its key.
fleet_samples = Table(
    "fleet_samples",
    metadata,
    # the fleet, a catalog, a namespace: see fleet_samples.py
    Column("level", SmallInteger, primary_key=True, autoincrement=False),
    Column("catalog", name_type(), primary_key=True),  # empty for the fleet
    Column("namespace", name_type(), primary_key=True),  # empty for a catalog
    Column("measured_at", Instant, primary_key=True),
    Column("figures", Text, nullable=False),  # JSON: sums of any size
    Index("ix_fleet_samples_measured_at", "measured_at"),
    sqlite_with_rowid=False,
)

# The figures of the last sample of each key. Equal figures add no sample.
last_fleet_samples = Table(
    "last_fleet_samples",
    metadata,
    Column("level", SmallInteger, primary_key=True, autoincrement=False),
    Column("catalog", name_type(), primary_key=True),
    Column("namespace", name_type(), primary_key=True),
    Column("figures", Text, nullable=False),
    sqlite_with_rowid=False,
)

# The versions of the policies that were in force, by their content hash.
policy_versions = Table(
    "policy_versions",
    metadata,
    Column("version", name_type(), primary_key=True),
    Column("first_seen_at", Instant, nullable=False),
    Column("last_seen_at", Instant, nullable=False),
    Column("layers", Integer, nullable=False),
    Column("problems", Text, nullable=False),  # JSON
    Column("document", Packed, nullable=False),  # JSON: the layers as in policy files
    Index("ix_policy_versions_last_seen_at", "last_seen_at", "version"),
)

# Triggers refuse to change or delete a row.
audit_log = Table(
    "audit_log",
    metadata,
    Column("sequence", Sequenced, primary_key=True, autoincrement=True),
    Column("at", Instant, nullable=False),
    Column("actor", name_type(), nullable=False),
    Column("deed", Text, nullable=False),
    Column("full_name", name_type()),
    Column("levels", Text),  # JSON, as in tables
    Column("table_uuid", name_type(), nullable=False),
    Column("job_id", name_type(), nullable=False),
    Column("fields", Text, nullable=False),  # JSON
    Index("ix_audit_log_at", "at"),
    Index("ix_audit_log_full_name", "full_name", "sequence"),
    Index("ix_audit_log_job_id", "job_id", "sequence"),
    sqlite_autoincrement=True,
)

_REFUSES = """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log only grows'; END $$"""
_REFUSED = """
CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"""
_REFUSED_BY_SQLITE = """
CREATE TRIGGER audit_log_no_{0} BEFORE {0} ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END"""
for _dialect, _statement in (
    ("postgresql", _REFUSES),
    ("postgresql", _REFUSED),
    ("sqlite", _REFUSED_BY_SQLITE.format("update")),
    ("sqlite", _REFUSED_BY_SQLITE.format("delete")),
):
    _refusal = DDL(_statement)  # type: ignore[no-untyped-call] # SQLAlchemy does not type DDL
    event.listen(audit_log, "after_create", _refusal.execute_if(dialect=_dialect))

# The orphan lists of scans, and the decisions about them.
orphan_lists = Table(
    "orphan_lists",
    metadata,
    Column("list_id", name_type(), primary_key=True),
    Column("full_name", name_type(), nullable=False),
    Column("table_uuid", name_type(), nullable=False),
    Column("state", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("document", Text, nullable=False),  # JSON
    Index("ix_orphan_lists_full_name", "full_name", "made_at"),
    Index("ix_orphan_lists_table_uuid", "table_uuid", "state"),
)

orphan_files = Table(
    "orphan_files",
    metadata,
    owned_by("list_id", "orphan_lists.list_id"),
    # the position of the row's first file in the list
    Column("first", Integer, primary_key=True, autoincrement=False),
    Column("document", Packed, nullable=False),  # JSON: at most a thousand files
)
