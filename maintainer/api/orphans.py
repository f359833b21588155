"""Lists of orphan files, and the decisions about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from maintainer.api.access import RecordIn, TableIn, on_table
from maintainer.api.deps import REQUESTED_BY, ActorIn, PortsIn, speak_for
from maintainer.api.errors import declare_problems
from maintainer.api.health_schemas import Schema
from maintainer.domain.access import Role
from maintainer.domain.orphan import OrphanList, OrphanListState
from maintainer.procedures.remove_orphan_files.approval import describe_removal
from maintainer.requests.approval import approve_list, find_list, reject_list, restore_list

DEFAULT_FILES = 100
MAX_FILES_TOLD = 1000  # in one answer
_SHA256 = "^([0-9a-f]{64})?$"

router = APIRouter(tags=["tables"])
_LISTS = "/tables/{catalog}/{namespace}/{table}/orphans"
_CONFLICT = declare_problems(HTTPStatus.CONFLICT)

ListId = Annotated[
    str, Path(alias="list", max_length=200, description="The id of the job that made the list.")
]
By = Annotated[
    str, Field(min_length=1, max_length=200, description="The person's name, for the audit log.")
]


class OrphanListOut(Schema):
    """The orphan files that one scan found; they never change, and `sha256` is their hash."""

    list_id: str
    state: OrphanListState
    is_expired: bool = Field(
        description="The time for the approval, or the approval itself, has expired."
    )
    location: str
    older_than: datetime
    made_at: datetime
    files: int
    bytes: int
    sha256: str
    expires_at: datetime = Field(
        description="When the time for the approval ends; for an approved list, when the approval "
        "ends."
    )
    on_approval: str = Field(description="What an approval of the list allows.")
    kept_files: int = Field(description="Files that were found and must be kept.")
    refusal: str | None = Field(description="Why no file of the list may be removed.")
    warning: str | None
    decided_by: str
    decided_at: datetime | None
    removed_by: str = Field(description="The id of the job that carried it out.")
    removed_at: datetime | None
    removed_files: int
    removed_bytes: int


class OrphanLists(Schema):
    """The lists of tables of this name, newest first; at most 100."""

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
    next_after: int | None = Field(
        description="The value of `after` for the next page; null on the last page."
    )


class ApprovalRequest(Schema):
    """Approve the removal of exactly the files of a list."""

    by: By = REQUESTED_BY
    sha256: str = Field(
        default="",
        pattern=_SHA256,
        description="The hash of the list; where it is given, no other list is approved.",
    )


class DecisionRequest(Schema):
    """Reject a list, or request that its files be restored."""

    by: By = REQUESTED_BY


def write_list(orphans: OrphanList, now: datetime) -> OrphanListOut:
    """Convert a list to the form that the API and the command line show."""
    is_expired = orphans.state.is_undecided and now >= orphans.expires_at
    on_approval = describe_removal(orphans)
    return OrphanListOut.of(orphans, is_expired=is_expired, on_approval=on_approval)


@router.get(_LISTS, summary="Lists of orphan files", dependencies=[on_table(Role.VIEWER)])
def get_orphan_lists(record: RecordIn, ports: PortsIn) -> OrphanLists:
    """The results of orphan scans, and what was done with them."""
    return OrphanLists(
        items=[
            write_list(orphans, ports.clock.now())
            for orphans in ports.store.orphan_lists(record.table)
        ]
    )


@router.get(
    f"{_LISTS}/{{list}}", summary="One list of orphan files", dependencies=[on_table(Role.VIEWER)]
)
def get_orphan_list(
    table: TableIn,
    ports: PortsIn,
    list_id: ListId,
    after: Annotated[
        int, Query(ge=0, le=1_000_000, description="How many files to pass over.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_FILES_TOLD)] = DEFAULT_FILES,
) -> OrphanFiles:
    """The list with a part of its files, in order."""
    orphans = find_list(ports, table, list_id)
    files = ports.store.orphan_files(list_id, after, limit)
    end = after + len(files)
    return OrphanFiles(
        list=write_list(orphans, ports.clock.now()),
        files=[OrphanFileOut.model_validate(file) for file in files],
        next_after=end if files and end < orphans.files else None,
    )


@router.post(
    f"{_LISTS}/{{list}}/approve",
    summary="Approve a list of orphan files",
    responses=_CONFLICT,
    dependencies=[on_table(Role.APPROVER)],
)
def approve_orphans(
    table: TableIn, ports: PortsIn, actor: ActorIn, list_id: ListId, request: ApprovalRequest
) -> OrphanListOut:
    """The next removal takes exactly these files, except any that the table references by then.

    409 with the reason when the list cannot be approved.
    """
    return write_list(
        approve_list(ports, table, list_id, speak_for(actor, request.by), request.sha256),
        ports.clock.now(),
    )


@router.post(
    f"{_LISTS}/{{list}}/reject",
    summary="Reject a list of orphan files",
    responses=_CONFLICT,
    dependencies=[on_table(Role.APPROVER)],
)
def reject_orphans(
    table: TableIn, ports: PortsIn, actor: ActorIn, list_id: ListId, request: DecisionRequest
) -> OrphanListOut:
    """Keep all files of the list, even if it was approved before; 409 when the list is closed."""
    return write_list(
        reject_list(ports, table, list_id, speak_for(actor, request.by)), ports.clock.now()
    )


@router.post(
    f"{_LISTS}/{{list}}/restore",
    summary="Restore orphan files from quarantine",
    responses=_CONFLICT,
    dependencies=[on_table(Role.APPROVER)],
)
def restore_orphans(
    table: TableIn, ports: PortsIn, actor: ActorIn, list_id: ListId, request: DecisionRequest
) -> OrphanListOut:
    """The next job on the table moves the files back, and never over an existing file.

    409 when they are not in quarantine.
    """
    return write_list(
        restore_list(ports, table, list_id, speak_for(actor, request.by)), ports.clock.now()
    )
