"""Lists of orphan files, and what people say about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from maintainer.api.auth import ActorIn, speak_for
from maintainer.api.deps import REQUESTED_BY, RecordIn, Services, ServicesIn, TableIn
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.health_schemas import Schema
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import OrphanList, OrphanListState

DEFAULT_FILES = 100
MAX_FILES_TOLD = 1000  # in one answer
_DIGEST = "^([0-9a-f]{64})?$"

router = APIRouter(tags=["tables"])
_LISTS = "/tables/{catalog}/{namespace}/{table}/orphans"
_ASKED = declare_problems(HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
_NOT_FOUND = declare_problems(HTTPStatus.NOT_FOUND)

ListId = Annotated[
    str, Path(alias="list", max_length=200, description="The id of the job that made the list.")
]
By = Annotated[
    str, Field(min_length=1, max_length=200, description="Who says so, for the audit log.")
]


class OrphanListOut(Schema):
    """The orphan files that one look has found; its files never change, and the digest stands for
    them.
    """

    list_id: str
    state: OrphanListState
    is_expired: Annotated[
        bool,
        Field(description="It waits and can be approved no more, or the approval holds no more."),
    ]
    location: str
    older_than: datetime
    made_at: datetime
    files: int
    bytes: int
    digest: str
    expires_at: Annotated[
        datetime,
        Field(
            description="Until when it may be approved; of an approved list, until when it may be "
            "carried out."
        ),
    ]
    kept_files: Annotated[int, Field(description="Found too, and none to touch.")]
    refusal: Annotated[str | None, Field(description="Why nothing of it may be removed.")]
    warning: str | None
    decided_by: str
    decided_at: datetime | None
    removed_by: Annotated[str, Field(description="The id of the job that carried it out.")]
    removed_at: datetime | None
    removed_files: int
    removed_bytes: int


class OrphanLists(Schema):
    """The lists made of tables of this name, newest first; at most 100."""

    items: list[OrphanListOut]


class OrphanFileOut(Schema):
    """One file of a list; null is unknown."""

    path: str
    size_bytes: int | None
    modified_at: datetime | None


class OrphanFiles(Schema):
    """A list with a page of its files."""

    list: OrphanListOut
    files: Sequence[OrphanFileOut]
    next_after: Annotated[
        int | None, Field(description="For `after`, to go on; null on the last page.")
    ]


class ApprovalRequest(Schema):
    """Let exactly these files go."""

    by: By = REQUESTED_BY
    digest: Annotated[
        str,
        Field(
            pattern=_DIGEST,
            description="Of the list that was looked at; where it is given, no other list is "
            "approved.",
        ),
    ] = ""


class DecisionRequest(Schema):
    """Reject a list, or have its files brought back."""

    by: By = REQUESTED_BY


def write_list(orphans: OrphanList, now: datetime) -> OrphanListOut:
    """As the API and the command line show it."""
    fields = {
        name: getattr(orphans, name) for name in OrphanListOut.model_fields if name != "is_expired"
    }
    return OrphanListOut(
        is_expired=orphans.state.is_undecided and now >= orphans.expires_at, **fields
    )


def _find(services: Services, table: TableIdentifier, list_id: str) -> OrphanList:
    orphans = services.store.orphan_list(list_id)
    if orphans is None or orphans.table != table:
        raise ProblemError(
            HTTPStatus.NOT_FOUND, f"table {table} has no list {list_id!r} of orphan files"
        )
    return orphans


@router.get(_LISTS, summary="Lists of orphan files", responses=_NOT_FOUND)
def get_orphan_lists(record: RecordIn, services: ServicesIn) -> OrphanLists:
    """What looks have found, and what became of it."""
    return OrphanLists(
        items=[
            write_list(orphans, services.clock.now())
            for orphans in services.store.orphan_lists(record.table)
        ]
    )


@router.get(f"{_LISTS}/{{list}}", summary="One list of orphan files", responses=_NOT_FOUND)
def get_orphan_list(
    table: TableIn,
    services: ServicesIn,
    list_id: ListId,
    after: Annotated[
        int, Query(ge=0, le=1_000_000, description="How many files to pass over.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_FILES_TOLD)] = DEFAULT_FILES,
) -> OrphanFiles:
    """The list with some of its files, in its order."""
    orphans = _find(services, table, list_id)
    files = services.store.orphan_files(list_id, after, limit)
    told = [
        OrphanFileOut(path=file.path, size_bytes=file.size_bytes, modified_at=file.modified_at)
        for file in files
    ]
    end = after + len(files)
    return OrphanFiles(
        list=write_list(orphans, services.clock.now()),
        files=told,
        next_after=end if files and end < orphans.files else None,
    )


@router.post(
    f"{_LISTS}/{{list}}/approve", summary="Approve a list of orphan files", responses=_ASKED
)
def approve_orphans(
    table: TableIn, services: ServicesIn, actor: ActorIn, list_id: ListId, request: ApprovalRequest
) -> OrphanListOut:
    """Exactly these files go with the next removal, as far as they still are nobody's. 409 when the
    list is none to approve, and why.
    """
    _find(services, table, list_id)
    return write_list(
        services.approve_orphans(table, list_id, speak_for(actor, request.by), request.digest),
        services.clock.now(),
    )


@router.post(f"{_LISTS}/{{list}}/reject", summary="Reject a list of orphan files", responses=_ASKED)
def reject_orphans(
    table: TableIn, services: ServicesIn, actor: ActorIn, list_id: ListId, request: DecisionRequest
) -> OrphanListOut:
    """None of them go, also when somebody had approved them; 409 when the list is over."""
    _find(services, table, list_id)
    return write_list(
        services.reject_orphans(table, list_id, speak_for(actor, request.by)), services.clock.now()
    )


@router.post(
    f"{_LISTS}/{{list}}/restore",
    summary="Bring orphan files back from quarantine",
    responses=_ASKED,
)
def restore_orphans(
    table: TableIn, services: ServicesIn, actor: ActorIn, list_id: ListId, request: DecisionRequest
) -> OrphanListOut:
    """The next job on the table moves them back; nothing is brought back over a file that is there.
    409 when they are not in quarantine.
    """
    _find(services, table, list_id)
    return write_list(
        services.restore_orphans(table, list_id, speak_for(actor, request.by)), services.clock.now()
    )
