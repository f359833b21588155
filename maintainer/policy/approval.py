"""Lists of orphan files: who may let them go, for how long his word holds, and which list is carried out next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from maintainer.domain.action import ApprovedList
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import OrphanList, OrphanListState, digest_files
from maintainer.domain.place import normalise_path
from maintainer.domain.policy import Approval, Policy, RuleName
from maintainer.domain.units import format_size
from maintainer.policy.orphans import Judgement

LIST_LIFE = timedelta(days=7)  # a list is approved within this, and an approval carried out within this


@dataclass(frozen=True, slots=True)
class Look:
    """Which job looked for orphans, where, and under which age."""

    list_id: str  # the job's
    table: TableIdentifier
    table_uuid: str
    location: str
    older_than: datetime


def make_list(look: Look, judgement: Judgement, policy: Policy, now: datetime) -> OrphanList:
    """The list of what may go, in the state that the policy gives it: without a word on approval it waits for somebody's."""
    found = OrphanList(
        list_id=look.list_id,
        table=look.table,
        table_uuid=look.table_uuid,
        location=look.location,
        older_than=look.older_than,
        made_at=now,
        files=len(judgement.orphans),
        bytes=sum(file.size_bytes or 0 for file in judgement.orphans),
        digest=digest_files(judgement.orphans),
        state=OrphanListState.WAITING,
        expires_at=now + LIST_LIFE,
        kept_files=len(judgement.kept),
        refusal=judgement.refusal,
        warning=judgement.warning,
    )
    if judgement.refusal is not None:
        return replace(found, state=OrphanListState.REFUSED)
    rule = policy.rule(RuleName.REMOVE_ORPHAN_FILES)
    if rule is not None and rule.approval is Approval.AUTOMATIC:
        return replace(found, state=OrphanListState.APPROVED, decided_by=f"policy {policy.version}", decided_at=now)
    return found


def refuse_approval(orphans: OrphanList, now: datetime, digest: str = "") -> str | None:
    """Why nobody may approve the list now; a digest is of the list that the person has seen. None when he may."""
    if orphans.state is OrphanListState.REFUSED:
        return f"list {orphans.list_id} of {orphans.table} is refused: {orphans.refusal}"
    if orphans.state is not OrphanListState.WAITING:
        return f"list {orphans.list_id} of {orphans.table} is {orphans.state} already"
    if digest and digest != orphans.digest:
        return f"the approval is for another list: list {orphans.list_id} of {orphans.table} has the digest {orphans.digest}, not {digest}"
    if now >= orphans.expires_at:
        return f"list {orphans.list_id} of {orphans.table} could be approved until {_write_time(orphans.expires_at)}; a new look makes a new one"
    return None


def approve(orphans: OrphanList, by: str, now: datetime) -> OrphanList:
    """The list with somebody's word, which holds for LIST_LIFE."""
    return replace(orphans, state=OrphanListState.APPROVED, decided_by=by, decided_at=now, expires_at=now + LIST_LIFE)


def refuse_rejection(orphans: OrphanList) -> str | None:
    """Why the list cannot be rejected; None when it can: it waits, or was approved and is not carried out yet."""
    return f"list {orphans.list_id} of {orphans.table} is {orphans.state} already" if orphans.state.is_final else None


def reject(orphans: OrphanList, by: str, now: datetime) -> OrphanList:
    """The list with somebody's no: nothing of it goes."""
    return replace(orphans, state=OrphanListState.REJECTED, decided_by=by, decided_at=now)


def refuse_removal(orphans: OrphanList | None, approved: ApprovedList, health: TableHealth, now: datetime) -> str | None:
    """Why nothing of the list may be deleted, from the table as it is now; None when it may."""
    if orphans is None:
        return f"list {approved.list_id} is not known any more"
    name = f"list {orphans.list_id} of {orphans.table}"
    if orphans.state is not OrphanListState.APPROVED:
        return f"{name} is {orphans.state}, not approved"
    if orphans.digest != approved.digest:
        return f"the approval is for another list: {name} has the digest {orphans.digest}, not {approved.digest}"
    if now >= orphans.expires_at:
        return f"the approval of {name} by {orphans.decided_by} ended at {_write_time(orphans.expires_at)}"
    if orphans.table_uuid != health.table_uuid:
        return f"the approval is void: {name} was made for the table with UUID {orphans.table_uuid}, which is {health.table_uuid} now"
    if normalise_path(orphans.location) != normalise_path(health.location):
        return f"the approval is void: {name} was made at {orphans.location}, and the table is at {health.location} now"
    return None


def find_removal(lists: Iterable[OrphanList], health: TableHealth, now: datetime) -> OrphanList | None:
    """The approved list that is to be carried out next: the oldest whose approval holds."""
    fit = [orphans for orphans in lists if refuse_removal(orphans, ApprovedList(orphans.list_id, orphans.digest), health, now) is None]
    return min(fit, key=lambda orphans: (orphans.made_at, orphans.list_id), default=None)


def describe_list(orphans: OrphanList) -> str:
    """What comes next, in one sentence; empty where nothing does."""
    match orphans.state:
        case OrphanListState.WAITING:
            return f"They wait for approval until {_write_time(orphans.expires_at)} as list {orphans.list_id}."
        case OrphanListState.APPROVED:
            return f"They are approved by {orphans.decided_by} as list {orphans.list_id}, and a job of their own will delete them."
        case _:
            return ""


def describe_removal(orphans: OrphanList) -> str:
    """What carrying out the list would do."""
    count = f"{orphans.files:,} orphan {'file' if orphans.files == 1 else 'files'} of {format_size(orphans.bytes)}"
    return f"{count} on list {orphans.list_id}, approved by {orphans.decided_by}, would be deleted as far as the table still does not know them"


def _write_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
