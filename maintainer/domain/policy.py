"""What an operator wants for a table: modes, rules, thresholds; ages, not instants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Literal

from maintainer.domain.budget import Budget
from maintainer.domain.identifier import TablePattern
from maintainer.domain.job_size import JobSize
from maintainer.domain.safeguards import Safeguards


class Mode(StrEnum):
    """Whether plans are only shown or also carried out."""

    OBSERVE = "observe"
    ENFORCE = "enforce"


class PropertyRights(StrEnum):
    """How far a table's own property maintainer.mode goes."""

    MAY_RESTRICT = "may_restrict"
    MAY_ENFORCE = "may_enforce"


class Approval(StrEnum):
    """Whether somebody must approve a list of orphan files before any of them goes."""

    REQUIRED = "required"
    AUTOMATIC = "automatic"


class ImportedFiles(StrEnum):
    """Whether expiry may delete files that migrate or add_files took over from another table."""

    KEEP = "keep"
    DELETE = "delete"


class Others(StrEnum):
    """What the rewrites do where another program rewrites the table too."""

    STAND_BACK = "stand_back"
    IGNORE = "ignore"


class RuleName(StrEnum):
    """Every rule a policy can hold, in the fixed order of execution."""

    REWRITE_DATA_FILES = "rewrite_data_files"
    REWRITE_POSITION_DELETE_FILES = "rewrite_position_delete_files"
    REWRITE_MANIFESTS = "rewrite_manifests"
    # Behind the rewrites, whose snapshots they describe, and before expiry: statistics of a
    # snapshot go when it does.
    COMPUTE_TABLE_STATS = "compute_table_stats"
    COMPUTE_PARTITION_STATS = "compute_partition_stats"
    EXPIRE_SNAPSHOTS = "expire_snapshots"
    REMOVE_ORPHAN_FILES = "remove_orphan_files"


class Metric(StrEnum):
    """What a threshold can look at; named like the fields of TableHealth."""

    AVERAGE_FILE_SIZE_BYTES = "average_file_size_bytes"
    SMALL_FILE_COUNT = "small_file_count"
    SMALL_FILE_RATIO = "small_file_ratio"
    MANIFEST_COUNT = "manifest_count"
    SNAPSHOT_COUNT = "snapshot_count"
    OLDEST_SNAPSHOT_AGE_SECONDS = "oldest_snapshot_age_seconds"
    POSITION_DELETE_FILE_COUNT = "position_delete_file_count"
    EQUALITY_DELETE_FILE_COUNT = "equality_delete_file_count"
    DELETION_VECTOR_COUNT = "deletion_vector_count"
    DELETE_RATIO = "delete_ratio"  # deleted records / records
    DELETE_FILE_RATIO = "delete_file_ratio"  # delete files of all kinds / data files
    DANGLING_DELETE_FILE_COUNT = (
        "dangling_delete_file_count"  # position delete files that apply to no data file
    )
    MANIFEST_EXCESS = "manifest_excess"
    LIVE_FILE_RATIO = "live_file_ratio"  # live data files / all that any kept snapshot reaches
    METADATA_FILE_COUNT = "metadata_file_count"


@dataclass(frozen=True, slots=True)
class Threshold:
    """One condition: holds when the metric is strictly above or below the bound."""

    metric: Metric
    direction: Literal["above", "below"]
    bound: float  # bytes, seconds, a ratio or a count: the metric's name says which


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its thresholds (all must hold) and the fields of its procedure; None =
    Iceberg's or our default.
    """

    name: RuleName
    when: tuple[Threshold, ...] = ()
    is_enabled: bool = True
    cooldown: timedelta = timedelta(hours=6)
    every: timedelta | None = None
    where: str | None = None
    strategy: str = "binpack"
    sort_order: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    max_age: timedelta | None = None  # expire_snapshots
    keep: int | None = None  # expire_snapshots
    older_than: timedelta | None = None  # remove_orphan_files
    columns: tuple[str, ...] = ()  # compute_table_stats; none: all
    hot_partition_age: timedelta | None = (
        # rewrite_data_files leaves alone what was written to within this; None: the default, zero:
        # nothing
        None
    )
    max_bytes_per_job: int | None = (
        None  # rewrite_data_files takes the best partitions up to this; None: all at once
    )
    staged_max_age: timedelta | None = None  # expire_snapshots: of snapshots that wait for an audit
    imported_files: ImportedFiles | None = None  # expire_snapshots; None: keep
    approval: Approval | None = None  # remove_orphan_files; None: required
    quarantine: timedelta | None = (
        # remove_orphan_files: how long files are kept aside before they are deleted; None: the
        # default, zero: not at all
        None
    )
    timeout: timedelta | None = None  # None: the default of the rule
    quiet_period: timedelta | None = (
        # a rewrite waits until others have committed nothing for so long; zero: it does not wait;
        # None: see policy.quiet
        None
    )
    wait_for_quiet: timedelta | None = (
        # the longest that it waits for that, and for hot partitions; then it acts all the same
        None
    )


@dataclass(frozen=True, slots=True)
class Window:
    """When work may start: from each firing of the cron expression, for the duration, in a time
    zone.
    """

    cron: str
    duration: timedelta
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a layer, already validated and in its unit, with where it was written."""

    value: object
    source: str  # "policies/cdc.yaml:12", "built-in default"


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A field that layers set to different values although none of them is narrower than the
    others.
    """

    path: str
    settings: tuple[Setting, ...]  # by source, at least two


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy that governs one table, after all layers are merged."""

    mode: Mode = Mode.OBSERVE
    priority: int = 50
    target_file_size_bytes: int | None = None  # None: the table's own property
    window: Window | None = None
    rules: tuple[Rule, ...] = ()
    version: str = ""  # short content hash of the layers it was merged from
    sources: Mapping[str, str] = field(
        default_factory=dict
    )  # "rules.expire_snapshots.keep" -> "policies/cdc.yaml:12"
    ambiguities: tuple[Ambiguity, ...] = ()  # while there is one, nothing is done
    inherited: Mapping[str, Setting] = field(
        default_factory=dict
    )  # what no layer says and Iceberg's own table properties, or its defaults, decide
    budget: Budget | None = (
        None  # shared by all tables that have it from the same file, whose name it bears
    )
    blackouts: tuple[Window, ...] = ()
    safeguards: Safeguards = field(default_factory=Safeguards)
    others: Others = Others.STAND_BACK
    min_size: JobSize = JobSize.SMALL  # of its jobs
    max_size: JobSize = JobSize.LARGE
    properties: PropertyRights = PropertyRights.MAY_RESTRICT
    # of a table that is registered under other names too, this name is the one that is maintained
    is_owner: bool = False
    is_enabled: bool = (
        True  # False: the table's owner has switched all maintenance off, on request too
    )

    def rule(self, name: RuleName) -> Rule | None:
        """The rule of that name, or None when the policy does not have it."""
        return next((rule for rule in self.rules if rule.name is name), None)


@dataclass(frozen=True, slots=True)
class PolicyLayer:
    """One policy file: the tables it speaks for, and the fields that it sets (dotted path ->
    setting).

    Paths and value types: mode (Mode), properties (PropertyRights), priority (int),
    target_file_size_bytes (int), window.cron (str), window.duration (timedelta), window.timezone
    (str), budget (Budget), blackouts (tuple of Window), others (Others), owner (bool), min_size and
    max_size (JobSize), rollback_for (timedelta, zero for off), canary (Canary), checksum
    (Checksum), rules.<rule> (True when the rule is named at all), rules.<rule>.when.<threshold as
    written> (float: bytes, seconds, ratio or count), rules.<rule>.enabled (bool), .cooldown
    (timedelta), .every (timedelta), .where (str), .strategy (str), .sort_order (str), .max_age
    (timedelta), .keep (int), .older_than (timedelta), .columns (tuple of str), .staged_max_age
    (timedelta), .imported_files (ImportedFiles), .hot_partition_age (timedelta), .max_bytes_per_job
    (int), .quiet_period (timedelta), .wait_for_quiet (timedelta), .timeout (timedelta),
    .options.<iceberg option> (str).
    """

    name: str  # the file's name, relative to the policy directory
    tables: tuple[TablePattern, ...]
    settings: Mapping[str, Setting]
    precedence: int = (
        0  # of layers that are equally narrow the higher one is stronger; files have 0
    )
    # of the layers of one family only the strongest that speaks for a table counts, as a whole
    family: str = ""


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """A policy file that cannot be used, as ``file:line`` and a sentence."""

    source: str
    message: str
    is_note: bool = False  # the rest of it is in force: this was left out on purpose


@dataclass(frozen=True, slots=True)
class PropertySettings:
    """What a table's own maintainer.* properties set, validated as a file is, and why others of
    them are ignored (property -> reason).
    """

    settings: Mapping[str, Setting] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)


PropertyReader = Callable[[Mapping[str, str]], PropertySettings]


def read_no_properties(_properties: Mapping[str, str]) -> PropertySettings:
    """For layers that come without a reader: the table's own properties set nothing."""
    return PropertySettings()


@dataclass(frozen=True, slots=True)
class PolicySet:
    """All layers in force, what is wrong with files that are not, and how a table's own properties
    are read.
    """

    layers: tuple[PolicyLayer, ...]
    problems: tuple[PolicyProblem, ...] = ()
    version: str = ""
    read_properties: PropertyReader = field(default=read_no_properties, compare=False, repr=False)
    unread: tuple[
        str, ...
        # catalogs with a source of policies that could not be read yet: their tables are only
        # observed
    ] = ()
