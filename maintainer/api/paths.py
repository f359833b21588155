"""The object that a path names: a table with its record, or a job."""

from __future__ import annotations

import difflib
from http import HTTPStatus
from itertools import islice
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path

from maintainer.api.auth import PersonIn
from maintainer.api.deps import ApiContext, ContextIn, PortsIn
from maintainer.api.errors import ProblemError
from maintainer.domain.access import Person, is_within
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
