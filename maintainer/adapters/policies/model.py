"""The shape of a policy file, all defined here: keys, units, bounds, descriptions, JSON schema."""

from __future__ import annotations

from datetime import timedelta
from json import dumps
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from maintainer.adapters.policies.rule_models import RulesModel
from maintainer.adapters.policies.texts import (
    check_cron,
    check_pattern,
    check_pool,
    check_timezone,
)
from maintainer.adapters.policies.validation import (
    DurationBetween,
    OffOrBetween,
    SizeBetween,
    Strict,
    refuse,
)
from maintainer.domain.action import Canary, Checksum
from maintainer.domain.policy import (
    Budget,
    Mode,
    Others,
    PropertyRights,
    UncheckedWriter,
    Window,
)
from maintainer.domain.pool import JobSize

MAXIMUM_WINDOWS = 100


def _read_patterns(value: object) -> object:
    return [value] if isinstance(value, str) else value


def read_windows(value: object) -> object:
    """Convert a list to a tuple; check its length before reading its windows."""
    if isinstance(value, list) and len(value) > MAXIMUM_WINDOWS:
        refuse(f"has {len(value)} items, over the limit of {MAXIMUM_WINDOWS}")
    return tuple(value) if isinstance(value, list) else value


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
        return Window(self.cron, self.duration, self.timezone or "UTC")


class StreamModel(Strict):
    """The stream that writes the table."""

    trigger: Annotated[timedelta, DurationBetween("1s", "7d")] = Field(
        description="The time between two batches of the stream; 1s to 7d. A table whose commits "
        "take longer has a finding.",
        examples=["50s"],
    )


class BudgetModel(Strict):
    """The limits for all tables together that get this budget from this file.

    A limit that is left out does not apply.
    """

    max_jobs: Annotated[int, Field(ge=0, le=10_000)] | None = Field(
        default=None, description="Jobs at the same time."
    )
    bytes_per_day: Annotated[int, SizeBetween("0B", "1000PiB")] | None = Field(
        default=None, description="Bytes that jobs admitted on one day (UTC) rewrite."
    )
    gb_hours_per_day: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Memory in GB times hours of Spark's work, of jobs admitted on one day (UTC).",
    )

    def as_budget(self, name: str = "") -> Budget:
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
        description="Required, except in default.yaml, where it is `*`: a table "
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
        None,
        description="The order of tables when jobs must wait; higher first, 0 to 100, default 50.",
    )
    target_file_size: Annotated[int, SizeBetween("1MiB", "10GiB")] | None = Field(
        None,
        description="The file size that rewrite_data_files aims at; 1MiB to 10GiB; default: the "
        "table's own "
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
    ) = Field(
        None, description="Windows in which nothing starts, not even within the policy's window."
    )
    stream: StreamModel | None = None
    budget: BudgetModel | None = None
    others: Annotated[Others, Field(strict=False)] | None = Field(
        None,
        description="If another program rewrites the table regularly: stand_back leaves rewrites "
        "to that program, ignore rewrites the table too; default stand_back.",
    )
    writers: (
        Annotated[tuple[Annotated[UncheckedWriter, Field(strict=False)], ...], Field(strict=False)]
        | None
    ) = Field(
        None,
        max_length=len(UncheckedWriter),
        description="Engines that delete or update rows of the table without checking whether a "
        "rewrite has replaced their files: hive, impala, starrocks. rewrite_data_files then runs "
        "only in the policy's window. Default: what the table's properties and commits show; [] "
        "says that there is none.",
    )
    owner: bool | None = Field(
        None,
        description="true: a table that is registered under several names (one UUID) is "
        "maintained under this name only. While no name or several names are the owner, no job "
        "starts under any. Default false.",
    )
    min_size: Annotated[JobSize, Field(strict=False)] | None = Field(
        None, description="The smallest size of the table's jobs; default small."
    )
    max_size: Annotated[JobSize, Field(strict=False)] | None = Field(
        None, description="The largest size of the table's jobs; default large."
    )
    runs_on: Annotated[str, BeforeValidator(check_pool)] | None = Field(
        None,
        description="The pool of `spark.pools` in maintainer.yaml for the table's jobs; default "
        "`default`.",
        examples=["default"],
    )
    rollback_for: Annotated[timedelta, OffOrBetween("1h", "30d")] | None = Field(
        None,
        description="The time in which a rewrite can be rolled back, by a tag that is set before "
        "it; 1h to "
        "30d, or off; default 1d.",
    )
    canary: Annotated[Canary, Field(strict=False)] | None = Field(
        None,
        description="sample: a few of the rewritten files and rows are read again; off: none; "
        "default sample.",
    )
    checksum: Annotated[Checksum, Field(strict=False)] | None = Field(
        None,
        description="Whether the contents of rows before and after a rewrite are compared: in a "
        "sample of the partitions, or in all; default off.",
    )
    # Made from the rules' fields at run time.
    rules: RulesModel | None = None  # type: ignore[valid-type]


def policy_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) that every valid policy file satisfies.

    The descriptions contain the bounds of sizes and durations.
    """
    schema = PolicyModel.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **tidy(schema)}


def write_policy_schema() -> str:
    """Return the text of policies/schema.json."""
    return dumps(policy_schema(), indent=2, ensure_ascii=False) + "\n"


def tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove null, which no file may hold, and titles that repeat the keys."""
    return {
        key: _tidy_value(key, value)
        for key, value in _unwrap(schema).items()
        if not (key == "title" and isinstance(value, str))
    }


def _tidy_value(key: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
    if key in {"properties", "$defs"}:
        return {name: tidy(inner) for name, inner in value.items()}
    if isinstance(value, dict):
        return tidy(value)
    if isinstance(value, list):
        return [tidy(item) if isinstance(item, dict) else item for item in value]
    return value


def _unwrap(schema: dict[str, Any]) -> dict[str, Any]:
    outer = {
        key: value
        for key, value in schema.items()
        if key != "anyOf" and not (key == "default" and value is None)
    }
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    match choices:
        case []:
            return outer
        case [only]:
            return {**only, **outer}
        case _:
            return {"anyOf": choices, **outer}
