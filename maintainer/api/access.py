"""The object that a path names, and the role that a route needs: declared, checked, documented."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from fastapi.routing import APIRoute

from maintainer.api.deps import ApiContext, ContextIn, PersonIn, PortsIn, authenticate
from maintainer.api.errors import ProblemError
from maintainer.domain.access import Person, Role, is_within
from maintainer.domain.errors import InvalidValueError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.domain.job import Job
from maintainer.ports.store.tables import TableRecord

MAX_NAMES_COMPARED = 2000  # when suggesting names similar to an unknown one
MAX_NEAR_NAMES = 3
MAX_ID_CHARACTERS = 1000


def table_in_path(
    person: PersonIn,
    context: ContextIn,
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
    """The table that the path names.

    UnknownTableError when the namespace is invalid, or when the person may not see the table.
    """
    try:
        levels = split_levels(unquote(namespace))
    except InvalidValueError as error:
        raise UnknownTableError(
            f"no table {unquote(catalog)}.{unquote(namespace)}.{unquote(table)}: {error}"
        ) from error
    found = TableIdentifier(unquote(catalog), levels, unquote(table))
    if person.role_on(found) is None:
        raise UnknownTableError(_describe_unknown(found, context, person))
    return found


TableIn = Annotated[TableIdentifier, Depends(table_in_path)]


def record_in_path(table: TableIn, context: ContextIn, person: PersonIn) -> TableRecord:
    """The record of the table in the path; UnknownTableError suggests similar names."""
    record = context.ports.store.table(table)
    if record is None:
        raise UnknownTableError(_describe_unknown(table, context, person))
    return record


RecordIn = Annotated[TableRecord, Depends(record_in_path)]


def _describe_unknown(table: TableIdentifier, context: ApiContext, person: Person) -> str:
    catalogs = [name for name in context.catalogs if person.sees_catalog(name)]
    if table.catalog not in catalogs:
        known = ", ".join(sorted(catalogs)) or "none"
        return f"no catalog {table.catalog!r} is configured; there are: {known}"
    names = (
        str(known)
        for known in context.ports.store.table_names()
        if known.catalog == table.catalog and is_within(known, person.sees)
    )
    near = difflib.get_close_matches(
        str(table), list(islice(names, MAX_NAMES_COMPARED)), n=MAX_NEAR_NAMES
    )
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"no table {table} is known in catalog {table.catalog!r}{hint}"


def job_in_path(
    person: PersonIn,
    job_id: Annotated[str, Path(max_length=MAX_ID_CHARACTERS)],
    ports: PortsIn,
) -> Job:
    """The job that the path names; a 404 problem when there is none that the person may see."""
    job = ports.store.job(job_id)
    if job is None or person.role_on(job.table) is None:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"no job {job_id!r} is known; finished jobs are deleted after the time in prune.jobs",
        )
    return job


JobIn = Annotated[Job, Depends(job_in_path)]


class Of(StrEnum):
    """On which tables the role is needed."""

    TABLE = "the table"
    JOB = "the job's table"
    SCOPE = "the scope"
    SEEN = "any table"  # the answer contains only tables that the person may see
    ALL = "all tables"


@dataclass(frozen=True, slots=True)
class Need:
    """The role that a route needs; role None: nobody is asked who they are."""

    role: Role | None
    of: Of = Of.SEEN


_needs: dict[Callable[..., Any], Need] = {}


# ANN401 here and below: Depends returns Any itself.
def _declare(check: Callable[..., Awaitable[None] | None], need: Need) -> Any:  # noqa: ANN401
    _needs[check] = need
    return Depends(check)


def _require(held: Role | None, role: Role, person: Person, what: str) -> None:
    if held is None or not held.includes(role):
        raise ProblemError(
            HTTPStatus.FORBIDDEN,
            f"this needs the role {role} on {what}; {person.name} has "
            f"{f'the role {held}' if held else 'no role'} there",
        )


def on_table(role: Role) -> Any:  # noqa: ANN401
    """The role on the table that the path names."""

    async def check(person: PersonIn, table: TableIn) -> None:
        _require(person.role_on(table), role, person, str(table))

    return _declare(check, Need(role, Of.TABLE))


def on_job(role: Role) -> Any:  # noqa: ANN401
    """The role on the table of the job that the path names."""

    async def check(person: PersonIn, job: JobIn) -> None:
        _require(person.role_on(job.table), role, person, str(job.table))

    return _declare(check, Need(role, Of.JOB))


def on_any(role: Role) -> Any:  # noqa: ANN401
    """The role on any table; the route itself answers with what the person may see."""

    async def check(person: PersonIn) -> None:
        _require(person.greatest_role, role, person, "any table")

    return _declare(check, Need(role, Of.SEEN))


def on_scope(role: Role) -> Any:  # noqa: ANN401
    """The role on a scope that the request names; the route itself calls require_scope."""

    async def check(person: PersonIn) -> None:
        _require(person.greatest_role, role, person, "the scope")

    return _declare(check, Need(role, Of.SCOPE))


def on_all(role: Role) -> Any:  # noqa: ANN401
    """The role on all tables."""

    async def check(person: PersonIn) -> None:
        _require(person.role_on(""), role, person, "all tables")

    return _declare(check, Need(role, Of.ALL))


def for_metrics() -> Any:  # noqa: ANN401
    """The role viewer on all tables, unless the metrics are open."""

    def check(request: Request, context: ContextIn) -> None:
        if not context.open_metrics:
            person = authenticate(request, context)
            _require(person.role_on(""), Role.VIEWER, person, "all tables")

    return _declare(check, Need(Role.VIEWER, Of.ALL))


def for_everybody() -> Any:  # noqa: ANN401
    """Nobody is asked who they are."""

    async def check() -> None:
        pass

    return _declare(check, Need(None))


def require_scope(person: Person, role: Role, scope: str) -> None:
    """ProblemError (403) when the person lacks the role on any table of the scope."""
    _require(person.role_on_scope(scope), role, person, scope)


def need_of(route: APIRoute) -> Need:
    """The role that a route declares; LookupError for a route without one."""
    checks = [found.dependency for found in route.dependencies]
    declared = [_needs[check] for check in checks if check in _needs]
    if len(declared) != 1:
        raise LookupError(
            f"route {route.name} declares {len(declared)} roles, but every route needs one"
        )
    return declared[0]
