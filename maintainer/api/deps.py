"""The endpoints' dependencies: the services, and the table that a path names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from threading import Event
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path, Request

from maintainer.api.hosts import AllowedHosts
from maintainer.api.queue_cache import Queue
from maintainer.domain.admission import Halt, Standstill
from maintainer.domain.errors import InvalidTransitionError, InvalidValueError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.domain.job import Job
from maintainer.domain.orphan import OrphanList
from maintainer.domain.plan import Plan
from maintainer.domain.policy import Policy, PolicyLayer, PolicyProblem, PolicySet, RuleName
from maintainer.domain.policy_version import PolicyChange
from maintainer.domain.preview import TablePreview
from maintainer.domain.rollback import JobAction
from maintainer.measure.impact import ImpactModel
from maintainer.ports.clock import Clock
from maintainer.ports.policies import Policies
from maintainer.ports.store import Store, TableRecord

MAX_NAMES_COMPARED = 2000  # when suggesting names similar to an unknown one
MAX_NEAR_NAMES = 3
REQUESTED_BY = "person"  # any person through the API; "policy" is the daemon itself


def _have_no_list(table: TableIdentifier, list_id: str, *_: str) -> OrphanList:
    message = f"table {table} has no list {list_id!r} of orphan files"
    raise UnknownTableError(message)


def refuse_rollbacks(job: Job, _requested_by: str) -> Job:
    """Refuse every rollback; the default of services without rollback."""
    message = f"job {job.job_id} cannot be rolled back here"
    raise InvalidTransitionError(message)


@dataclass(frozen=True, slots=True)
class Services:
    """The functions and ports that the API uses, filled by the composition root.

    Callables may raise any MaintainerError.
    """

    store: Store
    policies: Policies
    clock: Clock
    catalogs: Mapping[str, str]  # name -> type, as configured
    effective: Callable[
        [TableIdentifier, Mapping[str, str]], Policy
    ]  # (table, its properties) -> the policy in force for it
    parse_policy: Callable[
        [str, str], PolicyLayer | tuple[PolicyProblem, ...]
    ]  # (yaml, name of the file)
    statement: Callable[[TableIdentifier, JobAction], str]  # the SQL text that Spark gets
    preview: Callable[
        [TableIdentifier, PolicyLayer | None], Plan
    ]  # a new dry run with the candidate as the last layer; stores nothing
    run_now: Callable[
        [TableIdentifier, tuple[RuleName, ...], str], tuple[Plan, tuple[Job, ...]]
    ]  # (table, rules or none, requested by)
    cancel: Callable[
        [str, str], Job
    ]  # (job id, requested by); InvalidTransitionError when the job has ended
    readiness: Callable[[], Sequence[tuple[str, bool, str]]]  # (what, whether it works, sentence)
    metrics: Callable[[], tuple[bytes, str]]  # the exposition and its content type
    compare_versions: Callable[
        [str, str], tuple[PolicyChange, ...]
    ]  # the changes from the first version of the policies to the second
    preview_tables: Callable[
        [PolicySet, Sequence[TableIdentifier]], Iterable[TablePreview]
    ]  # verdicts under other policies, from stored health
    stopping: Event = field(
        default_factory=Event
    )  # set when the daemon stops: open event streams end at once
    impact: ImpactModel = field(
        default_factory=ImpactModel
    )  # assumptions for estimating the cost of small files
    standstill: Callable[[], Standstill] = field(
        default=lambda: Standstill((), is_draining=False, running=())
    )  # the pauses in force
    halt: Callable[[Halt, bool], None] = field(
        default=lambda _halt, _cancels: None
    )  # True: cancel the jobs in the scope, too
    lift: Callable[[str, str], bool] = field(
        default=lambda _scope, _by: False
    )  # (scope, by); False: the scope was not paused
    approve_orphans: Callable[[TableIdentifier, str, str, str], OrphanList] = field(
        default=_have_no_list
    )  # (table, list, by, hash of the list that was seen or "")
    reject_orphans: Callable[[TableIdentifier, str, str], OrphanList] = field(default=_have_no_list)
    restore_orphans: Callable[[TableIdentifier, str, str], OrphanList] = field(
        default=_have_no_list
    )
    roll_back: Callable[[Job, str], Job] = field(
        default=refuse_rollbacks
    )  # (job, requested by) -> the job that undoes it; InvalidTransitionError when impossible
    tokens: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # name -> token; empty: no token is needed
    hosts: AllowedHosts = field(
        default=AllowedHosts()
    )  # accepted names in a Host header, in addition to those of the loopback
    queue: Callable[[], Queue] = field(default=lambda: Queue(datetime.now(UTC)))  # the queue


def services_of(request: Request) -> Services:
    """The services that build_api got."""
    services: Services = request.app.state.services
    return services


ServicesIn = Annotated[Services, Depends(services_of)]


def table_in_path(
    catalog: Annotated[str, Path(description="Catalog.", examples=["lake"])],
    namespace: Annotated[
        str,
        Path(
            description='Namespace levels joined by "."; a level that holds a dot in backticks.',
            examples=["sales.daily"],
        ),
    ],
    table: Annotated[
        str, Path(description="Table name; a slash is written %2F.", examples=["orders"])
    ],
) -> TableIdentifier:
    """The table that the path names; UnknownTableError when the namespace is invalid."""
    try:
        levels = split_levels(unquote(namespace))
    except InvalidValueError as error:
        message = f"no table {unquote(catalog)}.{unquote(namespace)}.{unquote(table)}: {error}"
        raise UnknownTableError(message) from error
    return TableIdentifier(unquote(catalog), levels, unquote(table))


TableIn = Annotated[TableIdentifier, Depends(table_in_path)]


def record_in_path(table: TableIn, services: ServicesIn) -> TableRecord:
    """The record of the table in the path; UnknownTableError suggests similar names."""
    record = services.store.table(table)
    if record is None:
        raise UnknownTableError(_describe_unknown(table, services))
    return record


RecordIn = Annotated[TableRecord, Depends(record_in_path)]


def _describe_unknown(table: TableIdentifier, services: Services) -> str:
    if table.catalog not in services.catalogs:
        known = ", ".join(sorted(services.catalogs)) or "none"
        return f"no catalog {table.catalog!r} is configured; there are: {known}"
    names = (str(known) for known in services.store.table_names() if known.catalog == table.catalog)
    near = difflib.get_close_matches(
        str(table), list(islice(names, MAX_NAMES_COMPARED)), n=MAX_NEAR_NAMES
    )
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"no table {table} is known in catalog {table.catalog!r}{hint}"
