"""The role of each route: declared at the route, checked before it, and documented."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from maintainer.api.auth import PersonIn, authenticate
from maintainer.api.deps import ContextIn
from maintainer.api.errors import ProblemError
from maintainer.api.paths import JobIn, TableIn
from maintainer.domain.access import Person, Role


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
