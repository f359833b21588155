"""The daemon's database. The steps meet here: each reads what another wrote."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from maintainer.domain.audit import AuditEntry, AuditQuery
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, TableFault
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.location import Place
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan, RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.policy_version import PolicyVersion
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.admission import AdmissionStore
from maintainer.ports.digests import DigestStore
from maintainer.ports.drivers import DriverStore
from maintainer.ports.figures import FiguresStore
from maintainer.ports.leases import LeaseStore
from maintainer.ports.notices import NoticeStore
from maintainer.ports.orphans import OrphanStore
from maintainer.ports.portions import PortionStore
from maintainer.ports.upkeep import UpkeepStore

T = TypeVar("T")

MAX_PAGE = 1000
# The longest time until a table is planned again. Verdicts name the time of their next check;
# this covers changes that no verdict foresees. It costs 28 plans a second for 100,000 tables.
LONGEST_TRUST = timedelta(hours=1)
MAX_POLICY_VERSIONS = 1000

# The columns by which the table list can be sorted; None is last in both directions. Tables of
# equal band are sorted by their plan's benefit, greatest first from the worst band to the best,
# and then by name.
TABLE_SORTS: tuple[str, ...] = (
    "name", "band", "average_file_size_bytes", "data_files", "data_bytes", "small_files",
    "small_file_ratio",
    "delete_files", "manifests", "snapshots", "measured_at",
)  # fmt: skip

# The scalar metrics that have a history.
HISTORY_METRICS: tuple[str, ...] = (
    "average_file_size_bytes", "data_files", "data_bytes", "small_files", "small_file_ratio",
    "records",
    "position_delete_files", "equality_delete_files", "deletion_vectors", "manifests",
    "manifest_bytes", "snapshots", "metadata_bytes",
    "small_file_bytes", "delete_bytes", "delete_records", "delete_file_ratio", "data_manifests",
    "delete_manifests", "manifest_excess", "branches", "tags",
    "partition_skew", "kept_data_files", "live_file_ratio", "commits_per_hour",
    "growth_bytes_per_day", "growth_records_per_day", "metadata_files",
    "storage_files",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list; next_cursor is opaque, and None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None
    total: int
    total_is_exact: bool = True  # False: total is a lower bound


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which tables, in which order; `search` is a case-insensitive part of the full name."""

    search: str = ""
    catalog: str | None = None
    namespace: str | None = None  # namespace_text; nested namespaces are included
    band: Band | None = None
    sort: str = "name"
    descending: bool = False
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which jobs, newest first."""

    states: tuple[JobState, ...] = ()
    table: TableIdentifier | None = None
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of one table: who asked for it, when and why."""

    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """All that is known of one table.

    A table that could not be measured keeps its last health in addition to the fault.
    """

    table: TableIdentifier
    first_seen_at: datetime
    health: TableHealth | None = None
    grade: Grade | None = None
    fault: TableFault | None = None
    pause: Pause | None = None
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class ScanMark:
    """The state and the rules that a table's last measurement rested on.

    While both are the same, measuring again would give the same health.
    """

    token: str  # the catalog's own, see Catalog.poll
    basis: str  # identifies the policies and the program version of the measurement
    measured_at: datetime | None = None  # set by the store: when the health was last measured


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums over the tables of a namespace, a catalog or the fleet.

    An unknown figure of a table adds nothing.
    """

    tables: int
    measured_tables: int
    faulty_tables: int
    paused_tables: int
    data_files: int
    data_bytes: int
    small_files: int
    delete_files: int
    manifests: int
    snapshots: int
    live_data_files: int  # of those tables alone for which kept_data_files is known
    kept_data_files: int  # data files that any kept snapshot references
    bands: Mapping[Band, int]

    @property
    def average_file_size_bytes(self) -> float | None:
        """All bytes divided by all files; None without files."""
        return self.data_bytes / self.data_files if self.data_files else None

    @property
    def live_file_ratio(self) -> float | None:
        """Live data files divided by kept data files; None without any."""
        return self.live_data_files / self.kept_data_files if self.kept_data_files else None


@dataclass(frozen=True, slots=True)
class Overview(Counters):
    """The sums of the fleet, its jobs by state, and what finished jobs have saved in total."""

    jobs: Mapping[JobState, int]
    files_removed: int
    manifests_removed: int
    snapshots_removed: int
    bytes_rewritten: int
    last_measured_at: datetime | None


@dataclass(frozen=True, slots=True)
class NamespaceCounters:
    """The sums of one namespace without its nested namespaces."""

    catalog: str
    namespace: str  # namespace_text
    counters: Counters


@dataclass(frozen=True, slots=True)
class PlanDue:
    """A table that is to be planned.

    `wanted` identifies what the plan rests on, and is passed back to mark_planned.
    """

    table: TableIdentifier
    wanted: int


class Store(
    AdmissionStore,
    DigestStore,
    DriverStore,
    FiguresStore,
    LeaseStore,
    NoticeStore,
    OrphanStore,
    PortionStore,
    UpkeepStore,
    Protocol,
):
    """The whole store; every method is one transaction.

    StoreUnavailableError when the database cannot be read or written.
    """

    # -- tables
    def record_health(self, health: TableHealth, grade: Grade) -> None:
        """Store the latest health and, if it differs, a new sample; clears a fault.

        A table of the same name with another UUID starts a new history.
        """
        ...

    def record_fault(self, fault: TableFault) -> None:
        """Store the fault in addition to the last health.

        VIEW and DROPPED make the store forget the table; its jobs with their events, its
        history and its pause stay.
        """
        ...

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        """Replace the faults found when a catalog was listed."""
        ...

    def catalog_faults(self) -> Sequence[CatalogFault]:
        """The faults of the last listing of each catalog."""
        ...

    def forget_tables_except(
        self, catalog: str, seen: Iterable[TableIdentifier]
    ) -> Sequence[TableIdentifier]:
        """Forget the catalog's tables that a complete listing lacks; return them."""
        ...

    def table(self, table: TableIdentifier) -> TableRecord | None:
        """All that is known of one table."""
        ...

    def grade(self, table: TableIdentifier, table_uuid: str) -> Grade | None:
        """The grade that was recorded last under this UUID."""
        ...

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        """A page of the table list: health without partitions, history and refs, and no plan.

        InvalidValueError for an unknown sort, a limit outside 1..MAX_PAGE or a foreign
        cursor.
        """
        ...

    def table_names(self) -> Sequence[TableIdentifier]:
        """Every known table, by name."""
        ...

    def names_of(self, table_uuid: str) -> Sequence[TableIdentifier]:
        """The names of known tables whose last measurement had this UUID."""
        ...

    def shared_tables(self) -> Mapping[TableIdentifier, Sequence[TableIdentifier]]:
        """For every name of a table with several names, all its names."""
        ...

    def history(
        self, table: TableIdentifier, metric: str, since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, float | None]]:
        """Samples of one of HISTORY_METRICS of the table's present UUID, oldest first.

        Of equal healths in a row only the first and the last are returned; one that lasts
        beyond the requested time ends with it.
        """
        ...

    def record_mark(self, table: TableIdentifier, mark: ScanMark) -> None:
        """Store what the table's measurement rested on; do nothing for an unknown table."""
        ...

    def marks(self, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
        """The marks of a catalog's tables.

        Tables with a fault are left out, because they are to be measured again.
        """
        ...

    def set_pause(
        self, table: TableIdentifier, pause: Pause | None, table_uuid: str | None = None
    ) -> None:
        """Pause a table, or resume it, under every name that it has.

        The pause covers the table's name and its UUID, and stays when the table is
        forgotten. UnknownTableError when the table is neither known nor paused, and no UUID
        is given.
        """
        ...

    def paused_tables(self) -> Mapping[TableIdentifier, Pause]:
        """Every pause of a single table, by name; also of tables that are no longer known."""
        ...

    def overview(self) -> Overview:
        """The sums of the fleet."""
        ...

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        """The exact sums of one namespace (without nested ones), of a catalog, or of the fleet.

        They are updated with each change, not computed at the call.
        """
        ...

    def namespaces(
        self, catalog: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[NamespaceCounters]:
        """A page of the namespaces that have tables, by catalog and name."""
        ...

    # -- plans
    def record_plan(self, plan: Plan, verdicts: Sequence[RuleVerdict] = ()) -> None:
        """Store a table's latest plan, and those verdicts that differ by code or key.

        A new verdict ends the standing one of its rule, and a rule without a verdict ends
        its standing one. Without any verdict the history is unchanged.
        """
        ...

    def verdicts(
        self, table: TableIdentifier, limit: int = 100, cursor: str | None = None
    ) -> Page[RuleVerdict]:
        """A page of the history of verdicts on the table's present UUID, newest first."""
        ...

    def plans(self) -> Sequence[Plan]:
        """The latest plan of every table that has one."""
        ...

    def tables_to_plan(
        self, now: datetime, version: str, catalogs: Collection[str] | None = None
    ) -> Sequence[PlanDue]:
        """Measured tables of these catalogs (None: of all) that are to be planned, by name.

        A table is due when what its plan rests on has changed (health, pause, jobs or the
        version), or when its next check is due. A next check further ahead than
        LONGEST_TRUST was stored under a clock that was ahead, and counts as due.
        """
        ...

    def mark_planned(self, due: PlanDue, version: str, next_at: datetime | None) -> None:
        """Record that the table's plan has this version and is valid until next_at.

        Does nothing when something that the plan rests on has changed meanwhile.
        """
        ...

    # -- policies
    def record_policies(self, version: PolicyVersion) -> bool:
        """Store a version as the one in force; False when it was in force with the same problems.

        It keeps the time when it was first seen and gets a new last_seen_at. Of more than
        MAX_POLICY_VERSIONS, those that were in force longest ago are deleted.
        """
        ...

    def policy_versions(self, limit: int = 100, cursor: str | None = None) -> Page[PolicyVersion]:
        """A page of the versions without their layers, ordered by when each last came into force.

        The version in force comes first.
        """
        ...

    def policy_version(self, version: str) -> PolicyVersion | None:
        """One version with its layers."""
        ...

    def rule_history(self, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
        """The history of each rule's finished jobs on this table."""
        ...

    # -- locations
    def places_near(self, paths: Sequence[str]) -> Sequence[Place]:
        """Locations of tables that equal, contain or lie in one of these paths, by path.

        Paths are written as normalise_path writes them. Locations of dropped tables are
        included.
        """
        ...

    # -- pins
    def pins(self, table_uuid: str) -> Sequence[Pin]:
        """The table's pins by name, including expired ones."""
        ...

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        """Add a pin, or replace the one of that name, and have the table planned again."""
        ...

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        """Remove a pin; False when there is none of that name."""
        ...

    # -- jobs
    def add_job(self, job: Job) -> bool:
        """Store a pending job.

        False (and nothing stored) when the table UUID has an unfinished job, or the id
        exists.
        """
        ...

    def update_job(
        self,
        job: Job,
        expected: JobState | Job,
        token: int | None = None,
        learnt: RuleHistory | None = None,
    ) -> bool:
        """Replace the job if it is in the expected state, or equals the expected job; else False.

        Under a lease, changing the state needs the lease's fencing token. `learnt` becomes the
        history of the job's rule if the job reaches a final state.
        """
        ...

    def job(self, job_id: str) -> Job | None:
        """One job; None when the id is unknown."""
        ...

    def jobs(self, query: JobQuery) -> Page[Job]:
        """A page of jobs, newest first."""
        ...

    def unfinished_jobs(self) -> Sequence[Job]:
        """Every job that is not in a final state, oldest first."""
        ...

    def unfinished_job_of(self, table_uuid: str) -> Job | None:
        """The one job on the table that is not in a final state."""
        ...

    def append_events(self, events: Iterable[JobEvent]) -> None:
        """Store events of jobs; the store assigns each event its sequence number."""
        ...

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        """A job's events with a sequence number greater than `after`, in order."""
        ...

    # -- audit
    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        """Add entries to the audit log.

        Entries about jobs are not passed here: the store writes them with each change of a
        job (domain.audit).
        """
        ...

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """A page of the audit log, newest first; entries are never deleted."""
        ...
