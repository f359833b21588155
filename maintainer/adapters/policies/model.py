"""The shape of a policy file: its keys, units, bounds and descriptions, all defined here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model, model_validator

from maintainer.adapters.policies.document import resolve_scalar
from maintainer.adapters.policies.texts import (
    MAXIMUM_PATTERN_CHARACTERS,
    check_cron,
    check_filter,
    check_pattern,
    check_text,
    check_timezone,
)
from maintainer.adapters.policies.validation import (
    SIZE_SCHEMA,
    DurationBetween,
    OffOrBetween,
    SizeBetween,
    Strict,
    refuse,
)
from maintainer.domain.action import Procedure
from maintainer.domain.budget import Budget
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.job_size import JobSize
from maintainer.domain.option import PROCEDURE_OPTIONS, OptionBound, OptionKind, check_option
from maintainer.domain.policy import Approval, ImportedFiles, Mode, Others, PropertyRights, Window
from maintainer.domain.safeguards import Canary, Checksum
from maintainer.domain.units import parse_size

MAXIMUM_COLUMNS = 1_000
MAXIMUM_WINDOWS = 100
_LARGEST_COUNT = 2**31 - 1  # Iceberg counts in a Java int


Count = Annotated[int, Field(ge=0, le=_LARGEST_COUNT)]
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
FileRatio = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Column = Annotated[
    str, BeforeValidator(lambda value: check_text(value, MAXIMUM_PATTERN_CHARACTERS))
]


def _read_patterns(value: object) -> object:
    return [value] if isinstance(value, str) else value


def read_windows(value: object) -> object:
    """Convert a list to a tuple; check its length before reading its windows."""
    if isinstance(value, list) and len(value) > MAXIMUM_WINDOWS:
        refuse(f"has {len(value)} items, over the limit of {MAXIMUM_WINDOWS}")
    return tuple(value) if isinstance(value, list) else value


def _read_columns(value: object) -> object:
    return (
        tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value
    )


class RewriteDataFilesWhen(Strict):
    """Thresholds of rewrite_data_files; all given thresholds must be met."""

    average_file_size_below: Annotated[int, SizeBetween("1B", "10GiB")] | None = Field(
        None, description="Fires while the live data files are smaller than this on average."
    )
    small_file_count_above: Count | None = Field(
        None,
        description="Fires while more data files than this are under 75 % of the target file size.",
    )
    small_file_ratio_above: Ratio | None = Field(
        None, description="Fires while more than this share of the data files is small; 0 to 1."
    )
    position_delete_file_count_above: Count | None = Field(
        None, description="Fires while the table has more position delete files than this."
    )
    equality_delete_file_count_above: Count | None = Field(
        None, description="Fires while the table has more equality delete files than this."
    )
    deletion_vector_count_above: Count | None = Field(
        None, description="Fires while the table has more deletion vectors than this."
    )
    delete_ratio_above: Ratio | None = Field(
        None, description="Fires while more than this share of the records is deleted; 0 to 1."
    )
    delete_file_ratio_above: FileRatio | None = Field(
        None, description="Fires while there are more delete files than this for each data file."
    )


class RewriteManifestsWhen(Strict):
    """Thresholds of rewrite_manifests; all given thresholds must be met."""

    manifest_count_above: Count | None = Field(
        None, description="Fires while the current snapshot has more manifests than this."
    )
    manifest_excess_above: Count | None = Field(
        None,
        description="Fires while it has more manifests than this beyond those that its entries "
        "need.",
    )


class ExpireSnapshotsWhen(Strict):
    """Thresholds of expire_snapshots; all given thresholds must be met."""

    snapshot_count_above: Count | None = Field(
        None, description="Fires while the table keeps more snapshots than this."
    )
    oldest_snapshot_age_above: Annotated[timedelta, DurationBetween("1s")] | None = Field(
        None, description="Fires while the oldest snapshot is older than this."
    )
    live_file_ratio_below: Ratio | None = Field(
        None,
        description="Fires while a smaller share than this of the data files that are kept is "
        "live; 0 to 1.",
    )
    metadata_file_count_above: Count | None = Field(
        None, description="Fires while the table's log names more metadata files than this."
    )


class RewritePositionDeleteFilesWhen(Strict):
    """Thresholds of rewrite_position_delete_files; all given thresholds must be met."""

    position_delete_file_count_above: Count | None = Field(
        None, description="Fires while the table has more position delete files than this."
    )
    dangling_delete_file_count_above: Count | None = Field(
        None,
        description="Fires while more position delete files than this apply to no data file any "
        "more.",
    )
    delete_file_ratio_above: FileRatio | None = Field(
        None, description="Fires while there are more delete files than this for each data file."
    )


class _RuleModel(Strict):
    enabled: bool | None = Field(
        None, description="false switches the rule off for these tables; default true."
    )
    timeout: Annotated[timedelta, DurationBetween("1m", "7d")] | None = Field(
        None,
        description="A job that takes longer is ended and counts as failed; what it has committed "
        "stays. Default 2h to 12h, by rule.",
    )
    cooldown: Annotated[timedelta, DurationBetween("1m")] | None = Field(
        None,
        description="Least time between two runs of the rule "
        "on one table; at least 1m, default 6h.",
    )
    every: Annotated[timedelta, DurationBetween("1m")] | None = Field(
        None,
        description="How often at most, where that is less often than the cooldown allows; at "
        "least 1m, default as the cooldown.",
    )


class _RewriteModel(_RuleModel):
    quiet_period: Annotated[timedelta, DurationBetween("0s", "365d")] | None = Field(
        None,
        description="Waits until others have committed nothing for so long; 0s never waits; "
        "default: 15m without a deletion or an update for the data files of a table without "
        "partitions and without a window, else never.",
    )
    wait_for_quiet: Annotated[timedelta, DurationBetween("1m", "365d")] | None = Field(
        None,
        description="How long it waits at most for writers to be quiet, in the table or in its hot "
        "partitions; "
        "then it acts all the same, and can fail a MERGE beside it; default 1d.",
    )


def _read_option(procedure: Procedure, name: str) -> Callable[[object], object]:
    bound = PROCEDURE_OPTIONS[procedure][name]

    def read(value: object) -> object:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, dict | list):
            refuse("must be a single value")
        if bound.kind is OptionKind.BYTES:
            try:
                text = str(parse_size(value))
            except InvalidValueError as error:
                refuse(f"is not a size: {error}")
        reason = check_option(name, text, procedure)
        if reason is not None:
            refuse(reason.removeprefix(f"option {name} "))
        return text

    return read


def _option_schema(bound: OptionBound) -> dict[str, object]:
    match bound.kind:
        case OptionKind.BYTES:
            return dict(SIZE_SCHEMA)
        case OptionKind.COUNT:
            return {"type": "integer", "minimum": bound.minimum, "maximum": bound.maximum}
        case OptionKind.RATIO:
            return {"type": "number", "minimum": bound.minimum, "maximum": bound.maximum}
        case OptionKind.BOOLEAN:
            return {"enum": [resolve_scalar(choice) for choice in bound.choices]}
        case OptionKind.CHOICE:
            return {"enum": list(bound.choices)}


# Create_model takes (type, default).
def _option_field(procedure: Procedure, name: str) -> Any:  # noqa: ANN401
    bound = PROCEDURE_OPTIONS[procedure][name]
    limits = (
        " or ".join(bound.choices)
        if bound.choices
        else f"{bound.minimum:.15g} to {bound.maximum:.15g}"
    )
    annotation = Annotated[
        str | None,
        BeforeValidator(_read_option(procedure, name)),
        WithJsonSchema(_option_schema(bound)),
    ]
    return (
        annotation,
        Field(
            None, alias=name, description=f"Iceberg's option of that name: {limits} ({bound.kind})."
        ),
    )


def _options_model(procedure: Procedure) -> type[Strict]:
    name = procedure.value.title().replace("_", "") + "Options"
    text = (
        f"Options of Iceberg's {procedure}, in Iceberg's own names; sizes may be written like "
        f"32MiB."
    )
    options = {
        option.replace("-", "_").replace(".", "__"): _option_field(procedure, option)
        for option in PROCEDURE_OPTIONS[procedure]
    }
    return create_model(name, __base__=Strict, __doc__=text, **options)


RewriteDataFilesOptions = _options_model(Procedure.REWRITE_DATA_FILES)
RewritePositionDeleteFilesOptions = _options_model(Procedure.REWRITE_POSITION_DELETE_FILES)
RewriteManifestsOptions = _options_model(Procedure.REWRITE_MANIFESTS)
ExpireSnapshotsOptions = _options_model(Procedure.EXPIRE_SNAPSHOTS)
RemoveOrphanFilesOptions = _options_model(Procedure.REMOVE_ORPHAN_FILES)
Filter = Annotated[str, BeforeValidator(check_filter)]


class RewriteDataFilesRule(_RewriteModel):
    """Compact data files with Iceberg's rewrite_data_files."""

    when: RewriteDataFilesWhen | None = None
    where: Filter | None = Field(
        None,
        description="Only files that may hold matching rows, as a Spark SQL condition on the "
        "table's columns.",
    )
    strategy: Literal["binpack", "sort"] | None = Field(
        None,
        description="How rows are laid out; default binpack, or sort when sort_order is given.",
    )
    sort_order: (
        Annotated[str, BeforeValidator(lambda value: check_text(value, MAXIMUM_PATTERN_CHARACTERS))]
        | None
    ) = Field(
        None,
        description="Columns to sort by, like `id DESC NULLS LAST, name` or `zorder(a, b)`; with "
        "strategy sort.",
    )
    hot_partition_age: Annotated[timedelta, DurationBetween("0s", "365d")] | None = Field(
        None,
        description="Partitions that were written to within this are left alone; 0s takes all, and "
        "can fail a MERGE beside it; default 15m.",
    )
    max_bytes_per_job: Annotated[int, SizeBetween("1MiB", "1000PiB")] | None = Field(
        None,
        description="One job takes the partitions with the most to gain up to this size, the next "
        "job the next; default all at once.",
    )
    # Made from the allow-list at run time.
    options: RewriteDataFilesOptions | None = None  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _check_sort_order(self) -> RewriteDataFilesRule:
        if self.sort_order is not None and self.strategy == "binpack":
            refuse("has a sort_order with strategy binpack; a sort_order needs strategy sort")
        return self


class RewriteManifestsRule(_RewriteModel):
    """Regroup manifests with Iceberg's rewrite_manifests."""

    when: RewriteManifestsWhen | None = None
    options: RewriteManifestsOptions | None = None  # type: ignore[valid-type]  # as above


class ComputeTableStatsRule(_RuleModel):
    """Count the distinct values of columns with Iceberg's compute_table_stats; it reads the whole
    table.
    """

    every: Annotated[timedelta, DurationBetween("1h")] | None = Field(
        None, description="How often; at least 1h, default 7d."
    )
    columns: (
        Annotated[
            tuple[Column, ...],
            BeforeValidator(_read_columns),
            Field(min_length=1, max_length=MAXIMUM_COLUMNS),
        ]
        | None
    ) = Field(None, description="Only these columns; default all.")


class ComputePartitionStatsRule(_RuleModel):
    """Sum up each partition's files, bytes and rows with Iceberg's compute_partition_stats."""

    every: Annotated[timedelta, DurationBetween("1h")] | None = Field(
        None, description="How often; at least 1h, default 1d."
    )


class ExpireSnapshotsRule(_RuleModel):
    """Drop old snapshots and the files that only they use with Iceberg's expire_snapshots."""

    when: ExpireSnapshotsWhen | None = None
    max_age: Annotated[timedelta, DurationBetween("24h", bound="floor")] | None = Field(
        None, description="Snapshots older than this may go; floor 24h, default 5d."
    )
    keep: Annotated[int, Field(le=_LARGEST_COUNT), BeforeValidator(_check_keep)] | None = Field(
        None,
        description="Snapshots kept whatever their age; floor 2, default 10.",
        json_schema_extra={"minimum": 2},
    )
    staged_max_age: Annotated[timedelta, DurationBetween("24h", bound="floor")] | None = Field(
        None,
        description="Staged snapshots (wap.id) that are not published yet may go when they are "
        "older than this; floor 24h, default 14d.",
    )
    imported_files: Annotated[ImportedFiles, Field(strict=False)] | None = Field(
        None,
        description="Tables that migrate or add_files gave files to: keep refuses expiry, because "
        "another table may still read the files; "
        "delete lets them go like the table's own; default keep. A table property cannot say "
        "delete.",
    )
    options: ExpireSnapshotsOptions | None = None  # type: ignore[valid-type]  # as above


def _check_keep(value: object) -> object:
    floor = 2
    if isinstance(value, int) and not isinstance(value, bool) and value < floor:
        refuse(f"is {value}, under the floor {floor}")
    return value


class RemoveOrphanFilesRule(_RuleModel):
    """Find files that no snapshot references with a dry run of Iceberg's remove_orphan_files.

    Only approved files are removed.
    """

    every: Annotated[timedelta, DurationBetween("1h")] | None = Field(
        None, description="How often to look; at least 1h, default 7d."
    )
    older_than: Annotated[timedelta, DurationBetween("3d", bound="floor")] | None = Field(
        None, description="Only files older than this; floor 3d, default 7d."
    )
    approval: Annotated[Approval, Field(strict=False)] | None = Field(
        None,
        description="Whether somebody must approve a list before its files go; default required. A "
        "table property cannot say automatic.",
    )
    quarantine: Annotated[timedelta, OffOrBetween("1h", "365d")] | None = Field(
        None,
        description="How long approved files are kept aside, and can be brought back, before they "
        "are deleted; 1h to 365d, or off; default 7d.",
    )
    options: RemoveOrphanFilesOptions | None = None  # type: ignore[valid-type]  # as above


class RewritePositionDeleteFilesRule(_RewriteModel):
    """Compact position delete files with Iceberg's rewrite_position_delete_files.

    In format version 3 they become deletion vectors.
    """

    when: RewritePositionDeleteFilesWhen | None = None
    where: Filter | None = Field(
        None,
        description="Only deletes of files that may hold matching rows, as a Spark SQL condition "
        "on the table's columns.",
    )
    options: RewritePositionDeleteFilesOptions | None = None  # type: ignore[valid-type]  # as above


class RulesModel(Strict):
    """The rules for these tables; wider policies decide a rule that is missing here."""

    rewrite_data_files: RewriteDataFilesRule | None = None
    rewrite_position_delete_files: RewritePositionDeleteFilesRule | None = None
    rewrite_manifests: RewriteManifestsRule | None = None
    compute_table_stats: ComputeTableStatsRule | None = None
    compute_partition_stats: ComputePartitionStatsRule | None = None
    expire_snapshots: ExpireSnapshotsRule | None = None
    remove_orphan_files: RemoveOrphanFilesRule | None = None


class WindowModel(Strict):
    """When work may start: each time cron fires, for the duration."""

    cron: Annotated[str, BeforeValidator(check_cron)] = Field(
        description="Five fields: minute, hour, day of month, month, weekday.",
        examples=["0 1 * * *"],
    )
    duration: Annotated[timedelta, DurationBetween("1m", "31d")] = Field(
        description="How long the window stays open; 1m to 31d."
    )
    timezone: Annotated[str, BeforeValidator(check_timezone)] | None = Field(
        None, description="The time zone of cron; default UTC.", examples=["UTC", "Europe/Berlin"]
    )

    def as_window(self) -> Window:
        """Return the window."""
        return Window(self.cron, self.duration, self.timezone or "UTC")


class BudgetModel(Strict):
    """The limits for all tables together that get this budget from this file.

    A limit that is left out does not apply.
    """

    max_jobs: Annotated[int, Field(ge=0, le=10_000)] | None = Field(
        default=None, description="Jobs side by side."
    )
    bytes_per_day: Annotated[int, SizeBetween("0B", "1000PiB")] | None = Field(
        default=None, description="Bytes that jobs admitted on one day (UTC) rewrite."
    )
    gb_hours_per_day: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Memory in GB times hours of Spark's work, of jobs admitted on one day (UTC).",
    )

    def as_budget(self, name: str = "") -> Budget:
        """Return the budget under this name."""
        return Budget(self.max_jobs, self.bytes_per_day, self.gb_hours_per_day, name)


class PolicyModel(Strict):
    """A maintenance policy for one table or a group of tables."""

    tables: (
        Annotated[
            list[Annotated[str, BeforeValidator(check_pattern)]],
            BeforeValidator(_read_patterns),
            Field(min_length=1),
            WithJsonSchema(
                {
                    "anyOf": [
                        {"type": "string", "minLength": 1},
                        {
                            "type": "array",
                            "items": {"type": "string", "minLength": 1},
                            "minItems": 1,
                        },
                    ]
                }
            ),
        ]
        | None
    ) = Field(
        None,
        description="Required but in default.yaml, where it is `*`: a table "
        "(catalog.namespace.table), a glob over whole names, or a list of them.",
        examples=["lake.sales.orders", "*.streaming.*"],
    )
    mode: Annotated[Mode, Field(strict=False)] | None = Field(
        None, description="observe only shows plans, enforce carries them out; default observe."
    )
    properties: Annotated[PropertyRights, Field(strict=False)] | None = Field(
        None,
        description="Whether a table's own property maintainer.mode may only restrict "
        "(may_restrict) "
        "or may also switch from observe to enforce (may_enforce); default may_restrict.",
    )
    priority: Annotated[int, Field(ge=0, le=100)] | None = Field(
        None, description="Which table goes first when work must wait; 0 to 100, default 50."
    )
    target_file_size: Annotated[int, SizeBetween("1MiB", "10GiB")] | None = Field(
        None,
        description="What rewrite_data_files aims at; 1MiB to 10GiB; default: the table's own "
        "write.target-file-size-bytes.",
    )
    window: WindowModel | None = None
    blackouts: (
        Annotated[
            tuple[WindowModel, ...],
            BeforeValidator(read_windows),
            Field(max_length=MAXIMUM_WINDOWS),
        ]
        | None
    ) = Field(None, description="When nothing starts, whatever the window says; a list of windows.")
    budget: BudgetModel | None = None
    others: Annotated[Others, Field(strict=False)] | None = Field(
        None,
        description="Where another program keeps rewriting the table: stand_back leaves rewrites "
        "to that one, ignore does not; default stand_back.",
    )
    owner: bool | None = Field(
        None,
        description="Of a table that is registered under several names (one UUID), whether these "
        "names own it: true maintains the table under this name alone; "
        "while no name or several own it, nothing is done under any. Default false.",
    )
    min_size: Annotated[JobSize, Field(strict=False)] | None = Field(
        None, description="The smallest of Spark's profiles that its jobs run in; default small."
    )
    max_size: Annotated[JobSize, Field(strict=False)] | None = Field(
        None, description="The largest of Spark's profiles that its jobs run in; default large."
    )
    rollback_for: Annotated[timedelta, OffOrBetween("1h", "30d")] | None = Field(
        None,
        description="How long a rewrite can be rolled back, by a tag that is set before it; 1h to "
        "30d, or off; default 1d.",
    )
    canary: Annotated[Canary, Field(strict=False)] | None = Field(
        None, description="sample reads some of what a rewrite wrote, off nothing; default sample."
    )
    checksum: Annotated[Checksum, Field(strict=False)] | None = Field(
        None,
        description="Whether rows before and after a rewrite are compared by their contents: those "
        "of a sample of its partitions, or all; default off.",
    )
    rules: RulesModel | None = None
