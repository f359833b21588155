"""What an operator wants for a table: modes, rules, thresholds, and budgets with what was spent.

A policy has ages, not instants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, TypeVar

from maintainer.domain.action import Safeguards
from maintainer.domain.effect import Quantity
from maintainer.domain.identifier import TablePattern
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.pool import DEFAULT_POOL, JobSize
from maintainer.domain.rule_field import Direction, Duration, Flag, rule_field, timeout_field
from maintainer.domain.units import format_size


class Resource(StrEnum):
    """What a budget limits.

    A day is a calendar day in UTC. A job counts for the day on which it was admitted.
    """

    JOBS = "jobs"  # running at the same time
    BYTES_PER_DAY = "bytes_per_day"  # rewritten
    GB_HOURS_PER_DAY = "gb_hours_per_day"


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one budget. None: no limit."""

    max_jobs: int | None = None
    bytes_per_day: int | None = None
    gb_hours_per_day: float | None = None
    name: str = ""  # the owner: "the fleet", "catalog lake", "policies/cdc.yaml"

    @property
    def is_unlimited(self) -> bool:
        return (
            self.max_jobs is None and self.bytes_per_day is None and self.gb_hours_per_day is None
        )

    @property
    def daily_limits(self) -> Mapping[Resource, float]:
        """The budget's limits for a day."""
        limits = {
            Resource.BYTES_PER_DAY: self.bytes_per_day,
            Resource.GB_HOURS_PER_DAY: self.gb_hours_per_day,
        }
        return {resource: float(limit) for resource, limit in limits.items() if limit is not None}


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One limit of a budget at one moment."""

    name: str
    resource: Resource
    limit: float
    spent: float
    frees_at: datetime | None = None  # None: at the end of a job, or never; the sentence says which


@dataclass(frozen=True, slots=True)
class SpentBudget:
    """A daily budget that is used up, and how many actions wait for it."""

    state: BudgetState
    waiting: int


@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of one job for the budgets: predicted until the job has ended, then actual."""

    bytes: float = 0.0
    gb_hours: float = 0.0

    def __add__(self, other: Charge) -> Charge:
        return Charge(self.bytes + other.bytes, self.gb_hours + other.gb_hours)

    def amount(self, resource: Resource) -> float:
        """The amount of a resource in this charge."""
        return self.bytes if resource is Resource.BYTES_PER_DAY else self.gb_hours


NOTHING_SPENT = Charge()


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost so far of all jobs admitted on one day (UTC).

    The keys are a catalog and the name of the policy's budget ("" for no budget).
    """

    day: str  # 2026-11-21
    by_owner: Mapping[tuple[str, str], Charge] = field(default_factory=dict)

    @property
    def total(self) -> Charge:
        """The charge of the whole fleet."""
        return sum(self.by_owner.values(), NOTHING_SPENT)

    def of_catalog(self, catalog: str) -> Charge:
        return sum(
            (charge for (owner, _), charge in self.by_owner.items() if owner == catalog),
            NOTHING_SPENT,
        )

    def of_policy(self, name: str) -> Charge:
        """The charge of the tables whose policy has the budget with this name."""
        return sum(
            (charge for (_, policy), charge in self.by_owner.items() if policy == name),
            NOTHING_SPENT,
        )


@dataclass(frozen=True, slots=True)
class DailyWork:
    """What the jobs admitted on one day (UTC) have cost and saved so far."""

    day: str  # 2026-11-21
    cost: Charge
    files_removed: int
    requests_saved: int  # in one scan of each maintained table


def day_of(moment: datetime) -> str:
    """The day of an instant in UTC, in the form that Spending.day has."""
    return f"{moment:%Y-%m-%d}"


def write_amount(resource: Resource, amount: float) -> str:
    """Write an amount of a daily budget with its unit."""
    return format_size(amount) if resource is Resource.BYTES_PER_DAY else f"{amount:.3g} GB-hours"


class Mode(StrEnum):
    """Whether plans are only shown or also run."""

    OBSERVE = "observe"
    ENFORCE = "enforce"


class PropertyRights(StrEnum):
    """What a table's own property maintainer.mode may do."""

    MAY_RESTRICT = "may_restrict"
    MAY_ENFORCE = "may_enforce"


class Approval(StrEnum):
    """Whether a person must approve an orphan list before its removal."""

    REQUIRED = "required"
    AUTOMATIC = "automatic"


class ImportedFiles(StrEnum):
    """Whether expiry may delete files that migrate or add_files imported from another table."""

    KEEP = "keep"
    DELETE = "delete"


class Others(StrEnum):
    """What the rewrites do when another program rewrites the table too."""

    STAND_BACK = "stand_back"
    IGNORE = "ignore"


class UncheckedWriter(StrEnum):
    """An engine that changes rows without checking whether a rewrite has replaced their files."""

    HIVE = "hive"
    IMPALA = "impala"
    STARROCKS = "starrocks"


class RuleName(StrEnum):
    """The rules of a policy, in execution order."""

    REWRITE_DATA_FILES = "rewrite_data_files"
    REWRITE_POSITION_DELETE_FILES = "rewrite_position_delete_files"
    REWRITE_MANIFESTS = "rewrite_manifests"
    # After the rewrites, because statistics describe their snapshots. Before expiry, because the
    # statistics of a snapshot expire with it.
    COMPUTE_TABLE_STATS = "compute_table_stats"
    COMPUTE_PARTITION_STATS = "compute_partition_stats"
    EXPIRE_SNAPSHOTS = "expire_snapshots"
    REMOVE_ORPHAN_FILES = "remove_orphan_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The fields of every rule; domain/rules.py has one type for each."""

    name: ClassVar[RuleName]
    # True if work becomes due by age alone, on a table that nobody changes
    depends_on_age: ClassVar[bool] = False
    # True if it puts new data files in the place of others
    replaces_data_files: ClassVar[bool] = False
    # True if it takes files out of the table, or deletes them
    discards_files: ClassVar[bool] = False
    removes: ClassVar[Quantity | None] = None  # what it is meant to have fewer of
    metrics: ClassVar[tuple[Metric, ...]] = ()  # the metrics that thresholds in `when` may have
    # the thresholds in the built-in default; empty: the default does not have the rule
    built_in: ClassVar[tuple[Threshold, ...]] = ()

    when: tuple[Threshold, ...] = ()  # all must be met
    options: tuple[tuple[str, str], ...] = ()  # of the procedure, with Iceberg's names
    is_enabled: bool = rule_field(
        True,  # noqa: FBT003
        Flag(),
        "false switches the rule off for these tables",
        direction=Direction.OFF,
        key="enabled",
    )
    cooldown: timedelta = rule_field(
        timedelta(hours=6),
        Duration("1m"),
        "Least time between two runs of the rule on one table",
    )
    every: timedelta | None = rule_field(
        None,
        Duration("1m"),
        "The least time between two runs, if it is longer than the cooldown",
        unset="as the cooldown",
    )
    timeout: timedelta = timeout_field(hours=6)

    @classmethod
    def find_conflict(cls, _written: Mapping[str, object]) -> str | None:
        """Why these values of one file, by key, contradict each other; None when they do not."""
        return None


_Rule = TypeVar("_Rule", bound=Rule)


@dataclass(frozen=True, slots=True)
class Window:
    """When jobs may start: a duration from each firing of the cron expression, in a time zone."""

    cron: str
    duration: timedelta
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a layer, validated and in its unit, with its source."""

    value: object
    source: str  # "policies/cdc.yaml:12", "built-in default"


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A field with different values in layers of which none is more specific."""

    path: str
    settings: tuple[Setting, ...]  # ordered by source, at least two


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy that governs one table, after all layers are merged."""

    mode: Mode = Mode.OBSERVE
    priority: int = 50
    target_file_size_bytes: int | None = None  # None: the table's property decides
    window: Window | None = None
    rules: tuple[Rule, ...] = ()
    version: str = ""  # short hash of the layers' contents
    # "rules.expire_snapshots.keep" -> "policies/cdc.yaml:12"
    sources: Mapping[str, str] = field(default_factory=dict)
    ambiguities: tuple[Ambiguity, ...] = ()  # while there is an ambiguity, nothing runs
    # values from Iceberg's table properties or defaults, if no layer has a value
    inherited: Mapping[str, Setting] = field(default_factory=dict)
    # all tables that get the budget from the same file share it; its name is the file's
    budget: Budget | None = None
    blackouts: tuple[Window, ...] = ()
    stream_trigger: timedelta | None = None  # of the stream that writes the table
    safeguards: Safeguards = field(default_factory=Safeguards)
    others: Others = Others.STAND_BACK
    # engines that change the table's rows without such a check; None: the table itself may show one
    writers: tuple[UncheckedWriter, ...] | None = None
    min_size: JobSize = JobSize.SMALL  # of the table's jobs
    max_size: JobSize = JobSize.LARGE
    runs_on: str = DEFAULT_POOL  # the pool of the table's jobs
    properties: PropertyRights = PropertyRights.MAY_RESTRICT
    # if the table is registered under several names, only this name is maintained
    is_owner: bool = False
    # False: the table's owner has disabled all maintenance, requests included
    is_enabled: bool = True

    def rule(self, kind: type[_Rule]) -> _Rule | None:
        """The rule of that type; None when the policy does not have it."""
        return next((rule for rule in self.rules if isinstance(rule, kind)), None)


@dataclass(frozen=True, slots=True)
class PolicyLayer:
    """One policy file: the tables it speaks for, and the fields that it sets (dotted path ->
    setting).

    Paths and value types: mode (Mode), properties (PropertyRights), priority (int),
    target_file_size_bytes (int), window.cron (str), window.duration (timedelta), window.timezone
    (str), stream.trigger (timedelta), budget (Budget), blackouts (tuple of Window), others
    (Others), writers (tuple of UncheckedWriter), owner (bool), min_size and max_size (JobSize),
    runs_on (str), rollback_for (timedelta, zero for off), canary (Canary), checksum (Checksum),
    rules.<rule> (True when the rule is named at all), rules.<rule>.when.<key of a metric> (float:
    bytes, seconds, ratio or count), rules.<rule>.<key of a field> (of the field's own type),
    rules.<rule>.options.<iceberg option> (str).
    """

    name: str  # file name relative to the policy directory
    tables: tuple[TablePattern, ...]
    settings: Mapping[str, Setting]
    precedence: int = 0  # of equally specific layers, the highest wins; files have 0
    # of the layers of a family, only the strongest layer for a table is used
    family: str = ""


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """An unusable policy file, as ``file:line`` and a sentence."""

    source: str
    message: str
    is_note: bool = False  # this part was left out on purpose; the rest is in force


@dataclass(frozen=True, slots=True)
class PropertySettings:
    """The values of a table's maintainer.* properties, validated like a file.

    Ignored properties are listed with the reason (property -> reason).
    """

    settings: Mapping[str, Setting] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)


PropertyReader = Callable[[Mapping[str, str]], PropertySettings]


def read_no_properties(_properties: Mapping[str, str]) -> PropertySettings:
    """The default reader: the table's own properties set nothing."""
    return PropertySettings()


@dataclass(frozen=True, slots=True)
class PolicySet:
    """All layers in force, the problems of unusable files, and the reader of table properties."""

    layers: tuple[PolicyLayer, ...]
    problems: tuple[PolicyProblem, ...] = ()
    version: str = ""
    read_properties: PropertyReader = field(default=read_no_properties, compare=False, repr=False)
    unread: tuple[
        str, ...
        # catalogs whose source of policies could not be read yet; their tables are only observed
    ] = ()
