"""What the daemon remembers. The steps meet here: each reads what another wrote."""

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
from maintainer.domain.timing import QueryTiming
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.admission import AdmissionStore
from maintainer.ports.digests import DigestStore
from maintainer.ports.figures import FiguresStore
from maintainer.ports.leases import LeaseStore
from maintainer.ports.notices import NoticeStore
from maintainer.ports.orphans import OrphanStore
from maintainer.ports.upkeep import UpkeepStore

T = TypeVar("T")

MAX_PAGE = 1000
# Of a plan: verdicts say when they are to be looked at again; this is for what no verdict foresaw,
# at the cost of 28 plans a second for 100,000 tables.
LONGEST_TRUST = timedelta(hours=1)
MAX_POLICY_VERSIONS = 1000

# The columns of the table list that can be sorted by; None sorts last in both directions. Within a
# band the plan's benefit decides: from the worst to the best the greatest comes first, and tables
# of equal benefit by name.
TABLE_SORTS: tuple[str, ...] = (
    "name", "band", "average_file_size_bytes", "data_files", "data_bytes", "small_files",
    "small_file_ratio",
    "delete_files", "manifests", "snapshots", "measured_at",
)  # fmt: skip

# The scalar metrics of which history is kept.
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
    """One page of a list; next_cursor is opaque and None on the last page."""

    items: tuple[T, ...]
    next_cursor: str | None
    total: int
    total_is_exact: bool = True  # False: there are at least so many


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which tables, in which order. search is a case-insensitive part of the full name."""

    search: str = ""
    catalog: str | None = None
    namespace: str | None = None  # namespace_text; its nested namespaces are included
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
    """Somebody asked that nothing be started on a table."""

    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """All that is known of one table. A table that failed to be measured keeps its last health
    beside the fault.
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
    """What a table's last measurement rested on. While both stay the same, measuring again would
    find the same.
    """

    token: str  # the catalog's own, see Catalog.poll
    basis: str  # what of the policies and of this program it was measured under
    measured_at: datetime | None = (
        None  # filled by the store: when the table's health was last measured
    )


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums over the tables of a namespace, a catalog or the fleet; a table's unknown figure adds
    nothing.
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
    live_data_files: (
        int  # of those tables alone of which it is known how many their kept snapshots reach
    )
    kept_data_files: int  # that any kept snapshot reaches
    bands: Mapping[Band, int]

    @property
    def average_file_size_bytes(self) -> float | None:
        """All bytes by all files; None without files."""
        return self.data_bytes / self.data_files if self.data_files else None

    @property
    def live_file_ratio(self) -> float | None:
        """Live data files by those that are kept; None without any."""
        return self.live_data_files / self.kept_data_files if self.kept_data_files else None


@dataclass(frozen=True, slots=True)
class Overview(Counters):
    """The fleet in figures; jobs by state; what finished jobs have saved in all."""

    jobs: Mapping[JobState, int]
    files_removed: int
    manifests_removed: int
    snapshots_removed: int
    bytes_rewritten: int
    last_measured_at: datetime | None


@dataclass(frozen=True, slots=True)
class NamespaceCounters:
    """The sums of one namespace, without those nested in it."""

    catalog: str
    namespace: str  # namespace_text
    counters: Counters


@dataclass(frozen=True, slots=True)
class PlanDue:
    """A table whose plan is to be made; `wanted` goes back to mark_planned, and says what the plan
    rests on.
    """

    table: TableIdentifier
    wanted: int


class Store(
    AdmissionStore,
    DigestStore,
    FiguresStore,
    LeaseStore,
    NoticeStore,
    OrphanStore,
    UpkeepStore,
    Protocol,
):
    """Every method is one transaction. StoreUnavailableError when the database cannot be read or
    written.
    """

    # -- tables
    def record_health(self, health: TableHealth, grade: Grade) -> None:
        """Keep the latest health and what history lacks of it; clears a fault. A table of the same
        name with another UUID starts a new history.
        """
        ...

    def record_fault(self, fault: TableFault) -> None:
        """Keep the fault beside the last health; VIEW and DROPPED forget the table (its jobs with
        their events, its history and its pause stay).
        """
        ...

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        """Replace what is known to be wrong with listing a catalog."""
        ...

    def catalog_faults(self) -> Sequence[CatalogFault]:
        """What was wrong at the last listing."""
        ...

    def forget_tables_except(
        self, catalog: str, seen: Iterable[TableIdentifier]
    ) -> Sequence[TableIdentifier]:
        """Forget a catalog's tables that a complete listing did not have; returns them."""
        ...

    def table(self, table: TableIdentifier) -> TableRecord | None:
        """Everything about one table."""
        ...

    def grade(self, table: TableIdentifier, table_uuid: str) -> Grade | None:
        """The grade that was recorded last under this UUID."""
        ...

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        """A page of the table list: health without partitions, history and refs, and no plan.

        InvalidValueError for an unknown sort, a limit outside 1..MAX_PAGE or a foreign cursor.
        """
        ...

    def table_names(self) -> Sequence[TableIdentifier]:
        """Every known table, by name."""
        ...

    def names_of(self, table_uuid: str) -> Sequence[TableIdentifier]:
        """The names of known tables that were measured with this UUID last."""
        ...

    def shared_tables(self) -> Mapping[TableIdentifier, Sequence[TableIdentifier]]:
        """All names of each table that has several, by each of them."""
        ...

    def history(
        self, table: TableIdentifier, metric: str, since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, float | None]]:
        """Samples of one of HISTORY_METRICS, oldest first, of the table's present UUID.

        Measurements in a row that were equal in all of them are told by the first and the last, or
        by the end of the time asked for that they reach beyond.
        """
        ...

    def record_mark(self, table: TableIdentifier, mark: ScanMark) -> None:
        """Keep what the table's measurement rested on; nothing happens when the table is not known
        (any more).
        """
        ...

    def marks(self, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
        """The marks of a catalog's tables, without those that have a fault: they are to be measured
        anew.
        """
        ...

    def set_pause(
        self, table: TableIdentifier, pause: Pause | None, table_uuid: str | None = None
    ) -> None:
        """Pause a table, or resume it, under every name that it has. UnknownTableError when it is
        neither known nor paused, and no UUID is given.

        A pause holds the table of its name and the table of its UUID, and stays when they are
        forgotten.
        """
        ...

    def paused_tables(self) -> Mapping[TableIdentifier, Pause]:
        """Every table that is paused by itself, by name; also those that are not known any more."""
        ...

    def overview(self) -> Overview:
        """The fleet."""
        ...

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        """The exact sums of one namespace (without nested ones), of a catalog, or of the fleet:
        kept with each change, not computed now.
        """
        ...

    def namespaces(
        self, catalog: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[NamespaceCounters]:
        """A page of the namespaces that have tables, by catalog and name."""
        ...

    # -- users' own measurements
    def record_timing(self, table: TableIdentifier, timing: QueryTiming) -> None:
        """Keep what a user measured on the table; another of the same name and time is replaced.
        UnknownTableError when it was never measured by us.
        """
        ...

    def timings(
        self, table: TableIdentifier, limit: int = 100, cursor: str | None = None
    ) -> Page[QueryTiming]:
        """A page of what users measured on the table's present UUID, newest first."""
        ...

    # -- plans
    def record_plan(self, plan: Plan, verdicts: Sequence[RuleVerdict] = ()) -> None:
        """Keep the latest plan of a table, and of its verdicts those that differ by code or key
        from the standing ones, which end then.

        A standing verdict on a rule that has none any more ends too; without any verdict the
        history stays as it is.
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

    def plans_with_work(self) -> Sequence[Plan]:
        """Those of the latest plans that want a job started."""
        ...

    def tables_to_plan(
        self, now: datetime, version: str, catalogs: Collection[str] | None = None
    ) -> Sequence[PlanDue]:
        """Measured tables of these catalogs (None: of all), by name, that are to be planned: what a
        plan rests on has changed since, or its next look is due.

        A plan rests on health, pause, jobs and the version. A next look that lies further ahead
        than a plan is trusted comes from a clock that was ahead.
        """
        ...

    def mark_planned(self, due: PlanDue, version: str, next_at: datetime | None) -> None:
        """The table's plan is of this version and holds until next_at; does nothing when something
        that it rests on has changed meanwhile.
        """
        ...

    # -- policies
    def record_policies(self, version: PolicyVersion) -> bool:
        """Keep a version as the one in force since last_seen_at, beside when it was first seen;
        False when it was in force already with the same problems.

        Of more than MAX_POLICY_VERSIONS those go that were in force longest ago.
        """
        ...

    def policy_versions(self, limit: int = 100, cursor: str | None = None) -> Page[PolicyVersion]:
        """A page of the versions without their layers, the one in force first, then by when each
        came into force last.
        """
        ...

    def policy_version(self, version: str) -> PolicyVersion | None:
        """One version with its layers."""
        ...

    def rule_history(self, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
        """What became of each rule's finished jobs on this table."""
        ...

    # -- places
    def places_near(self, paths: Sequence[str]) -> Sequence[Place]:
        """Places of tables, by path, that are the same as, in or around one of these (as
        normalise_path writes them), dropped tables' included.
        """
        ...

    # -- pins
    def pins(self, table_uuid: str) -> Sequence[Pin]:
        """What readers of the table have asked to be kept, by name, those whose time is over
        too.
        """
        ...

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        """Add a pin, or replace the one of that name; the table's plan is to be made anew."""
        ...

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        """Take a pin away; False when there is none of that name."""
        ...

    # -- jobs
    def add_job(self, job: Job) -> bool:
        """Store a pending job; False (and nothing stored) when the table UUID has an unfinished
        job, or the id exists.
        """
        ...

    def update_job(self, job: Job, expected: JobState | Job, token: int | None = None) -> bool:
        """Replace the job if it is in the expected state, or the very one that was read before;
        else False. Under a lease its state needs the lease's token.
        """
        ...

    def job(self, job_id: str) -> Job | None:
        """One job."""
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
        """Add to the jobs' stories; the store gives each event its sequence number."""
        ...

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        """A job's events with a sequence number greater than `after`, in order."""
        ...

    # -- audit
    def record_audit(self, entries: Iterable[AuditEntry]) -> None:
        """Add to the audit log what jobs do not say by themselves: their own entries are written
        with each change of theirs (domain.audit).
        """
        ...

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """A page of the audit log, newest first. Nothing ever leaves it."""
        ...
