"""Values for the store's tests: any value of a domain type, and plain ones to change by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from itertools import count
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.effect import Effect, Measurement, RowProof
from maintainer.domain.health import (
    Band,
    Finding,
    Grade,
    PartitionHealth,
    SnapshotStamp,
    TableHealth,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Ref
from maintainer.domain.job import Baseline, FailureReason, Job, JobState
from maintainer.domain.plan import Estimate, Plan
from maintainer.domain.policy import Mode, RuleName

NOW = datetime(2026, 5, 4, 12, 30, 15, 123456, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ORDERS = TableIdentifier("lake", ("sales",), "orders")
ORDERS_UUID = "9a1f3a52-0000-4000-8000-000000000001"

MEASUREMENT = Measurement(1, NOW, 10, 1000, 100.0, 0, 500, 7, 700, 9)

_numbers = count(1)

_LEVEL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
_ZONES = st.one_of(
    st.just(UTC),
    st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
_LEAVES: dict[object, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    bytes: st.binary(max_size=20),
    # Hypothesis wants bounds without a zone.
    datetime: st.datetimes(datetime(1970, 1, 2), datetime(2400, 1, 1), timezones=_ZONES),  # noqa: DTZ001
    timedelta: st.timedeltas(timedelta(0), timedelta(days=36_500)),
    NoneType: st.none(),
    TableIdentifier: st.builds(
        TableIdentifier, _LEVEL, st.lists(_LEVEL, min_size=1, max_size=3).map(tuple), _LEVEL
    ),
}


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a domain type, by its annotations."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin is Union or origin is UnionType:
            return st.one_of([any_of(argument) for argument in arguments])
        case origin if origin is Literal:
            return st.sampled_from(arguments)
        case origin if origin is tuple and arguments[-1] is Ellipsis:
            return st.lists(any_of(arguments[0]), max_size=3).map(tuple)
        case origin if origin is tuple:
            return st.tuples(*(any_of(argument) for argument in arguments))
        case origin if origin is Mapping:
            return st.dictionaries(any_of(arguments[0]), any_of(arguments[1]), max_size=3)
        case _ if isinstance(kind, type) and issubclass(kind, Enum):
            return st.sampled_from(list(kind))
        case _ if isinstance(kind, type) and is_dataclass(kind):
            hints = get_type_hints(kind)
            return st.builds(
                kind, **{field.name: any_of(hints[field.name]) for field in fields(kind)}
            )
        case _ if isinstance(kind, type) and issubclass(kind, tuple):  # a NamedTuple
            return st.builds(
                kind, **{name: any_of(hint) for name, hint in get_type_hints(kind).items()}
            )
        case _:
            raise AssertionError(kind)


def any_job() -> st.SearchStrategy[Job]:
    """Any job, with an id and a table UUID that no other has."""
    return any_of(Job).map(
        lambda job: replace(
            job, job_id=f"job-{next(_numbers)}", table_uuid=f"uuid-{next(_numbers)}"
        )
    )


def make_health(
    table: TableIdentifier = ORDERS,
    table_uuid: str = ORDERS_UUID,
    at: datetime = NOW,
    **changes: Any,
) -> TableHealth:
    figures: dict[str, Any] = {
        "data_files": 10, "data_bytes": 1000, "average_file_size_bytes": 100.0, "small_files": 4,
        "small_file_ratio": 0.4, "small_file_bytes": 40,
        "records": 500, "position_delete_files": 1, "equality_delete_files": 2,
        "deletion_vectors": 3, "delete_bytes": 60, "delete_records": 6,
        "manifests": 7, "manifest_bytes": 700, "data_manifests": 5, "delete_manifests": 2,
        "snapshots": 9, "oldest_snapshot_at": at - MINUTE,
        "newest_snapshot_at": at, "branches": 1, "tags": 0, "metadata_bytes": 4096, "histogram": (1,
        2, 3), "formats": {"parquet": 10},
        "partitions": (PartitionHealth(0, "day=1", 10, 1000, 4, 40, 0, 0, 1),),
        "history": (SnapshotStamp(1, None, at - MINUTE),),
        "refs": (Ref("main", 1, is_branch=True),), "properties": {"owner": "sales"},
    }  # fmt: skip
    location = f"s3://lake/{table.name}"
    return TableHealth(
        table, table_uuid, 2, location, f"{location}/metadata/1.json", 1, at, 512, 8, **{**figures,
        **changes},
    )  # fmt: skip


def make_grade(band: Band = Band.WATCH) -> Grade:
    return Grade(band, (Finding("small_file_count", 4, 2.0, band),), "many small files")


def make_plan(
    table: TableIdentifier = ORDERS, table_uuid: str = ORDERS_UUID, version: str = "v1"
) -> Plan:
    return Plan(
        table,
        table_uuid,
        1,
        "s3://lake/orders/metadata/1.json",
        version,
        Mode.ENFORCE,
        50,
        NOW,
        (),
        (),
    )


def make_job(
    job_id: str = "job-a",
    table_uuid: str = ORDERS_UUID,
    at: datetime = NOW,
    **changes: Any,
) -> Job:
    job = Job(
        job_id=job_id,
        table=ORDERS,
        table_uuid=table_uuid,
        rule=RuleName.REWRITE_DATA_FILES,
        action=RewriteDataFiles(),
        findings=(),
        estimate=Estimate(10, 1, 9, 1000),
        reason="small files",
        policy_version="v1",
        priority=50,
        requested_by="policy",
        created_at=at,
        baseline=Baseline(
            1,
            1,
            at,
            f"s3://lake/orders/metadata/{job_id}.json",
            MEASUREMENT,
            state=f"state-{job_id}",
        ),
    )
    return replace(job, **changes)


def make_effect(own_commits: int = 1, files_removed: int = 9) -> Effect:
    return Effect(
        MEASUREMENT,
        MEASUREMENT,
        own_commits,
        0,
        files_removed,
        0,
        0,
        0,
        files_removed * 100,
        12.5,
        RowProof.EQUAL,
        500,
        500,
    )


def succeeded(job: Job, at: datetime, effect: Effect | None = None) -> Job:
    return replace(job, state=JobState.SUCCEEDED, effect=effect or make_effect(), finished_at=at)


def failed(job: Job, at: datetime, reason: FailureReason = FailureReason.CONFLICT) -> Job:
    return replace(job, state=JobState.FAILED, failure_reason=reason, finished_at=at)
