"""Orphan lists: who may approve one, how long an approval stays valid, which list is next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

from maintainer.domain.action import ApprovedList, Disposal
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.location import normalise_path
from maintainer.domain.orphan import OrphanList, OrphanListState, hash_files
from maintainer.domain.policy import Approval, Policy
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.domain.units import format_count, format_instant, format_size, write_duration
from maintainer.procedures.remove_orphan_files.scan import Assessment

LIST_LIFE = timedelta(days=7)  # the time to approve a list, and again the time to remove its files


@dataclass(frozen=True, slots=True)
class OrphanScan:
    """The job of an orphan scan, with its location and age limit."""

    list_id: str  # the id of the job
    table: TableIdentifier
    table_uuid: str
    location: str
    older_than: datetime


def make_list(
    scan: OrphanScan, assessment: Assessment, policy: Policy, now: datetime
) -> OrphanList:
    """The orphan list in the state that its assessment and the policy give it.

    Without an approval setting in the policy, the list waits for a person's approval.
    """
    rule = policy.rule(RemoveOrphanFilesRule)
    found = OrphanList(
        list_id=scan.list_id,
        table=scan.table,
        table_uuid=scan.table_uuid,
        location=scan.location,
        older_than=scan.older_than,
        made_at=now,
        files=len(assessment.orphans),
        bytes=sum(file.size_bytes or 0 for file in assessment.orphans),
        sha256=hash_files(assessment.orphans),
        state=OrphanListState.WAITING,
        expires_at=now + LIST_LIFE,
        quarantine=(rule or RemoveOrphanFilesRule()).quarantine,
        kept_files=len(assessment.kept),
        refusal=assessment.refusal,
        warning=assessment.warning,
    )
    if assessment.refusal is not None:
        return replace(found, state=OrphanListState.REFUSED)
    if rule is not None and rule.approval is Approval.AUTOMATIC:
        return replace(
            found,
            state=OrphanListState.APPROVED,
            decided_by=f"policy {policy.version}",
            decided_at=now,
        )
    return found


def refuse_approval(orphans: OrphanList, now: datetime, sha256: str = "") -> str | None:
    """Why the list cannot be approved now; None when it can.

    `sha256` is the hash of the list that the person has seen.
    """
    if orphans.state is OrphanListState.REFUSED:
        return f"list {orphans.list_id} of {orphans.table} is refused: {orphans.refusal}"
    if orphans.state is not OrphanListState.WAITING:
        return f"list {orphans.list_id} of {orphans.table} is {orphans.state} already"
    if sha256 and sha256 != orphans.sha256:
        return (
            f"the approval is for another list: list {orphans.list_id} of {orphans.table} has "
            f"the SHA-256 hash {orphans.sha256}, not {sha256}"
        )
    if now >= orphans.expires_at:
        return (
            f"list {orphans.list_id} of {orphans.table} could be approved until "
            f"{format_instant(orphans.expires_at)}; a new orphan scan makes a new one"
        )
    return None


def approve(orphans: OrphanList, by: str, now: datetime) -> OrphanList:
    """The list with an approval, which is valid for LIST_LIFE."""
    return replace(
        orphans,
        state=OrphanListState.APPROVED,
        decided_by=by,
        decided_at=now,
        expires_at=now + LIST_LIFE,
    )


def refuse_rejection(orphans: OrphanList) -> str | None:
    """Why the list cannot be rejected; None when it can.

    A list can be rejected while it waits, and after its approval until its removal.
    """
    return (
        None
        if orphans.state.is_undecided
        else f"list {orphans.list_id} of {orphans.table} is {orphans.state} already"
    )


def refuse_restoring(orphans: OrphanList) -> str | None:
    """Why the list's files cannot be restored.

    None when they can: they are in quarantine.
    """
    if orphans.state is OrphanListState.QUARANTINED:
        return None
    return f"list {orphans.list_id} of {orphans.table} is {orphans.state}, not in quarantine"


def reject(orphans: OrphanList, by: str, now: datetime) -> OrphanList:
    """The rejected list: none of its files is removed."""
    return replace(orphans, state=OrphanListState.REJECTED, decided_by=by, decided_at=now)


def refuse_removal(
    orphans: OrphanList | None, approved: ApprovedList, health: TableHealth, now: datetime
) -> str | None:
    """Why no file of the list may be deleted from the table as it is now; None when it may."""
    if orphans is None:
        return f"list {approved.list_id} is no longer known"
    name = f"list {orphans.list_id} of {orphans.table}"
    needed = _NEEDED_STATE[approved.disposal]
    if orphans.state is not needed:
        return f"{name} is {orphans.state}, not {needed}"
    if orphans.sha256 != approved.sha256:
        return (
            f"the approval is for another list: {name} has the SHA-256 hash {orphans.sha256}, not "
            f"{approved.sha256}"
        )
    if approved.disposal is Disposal.DELETE and orphans.quarantine:
        return (
            f"the files of {name} were approved for a quarantine of "
            f"{write_duration(orphans.quarantine.total_seconds())}, not for deletion at once"
        )
    if needed is OrphanListState.APPROVED and now >= orphans.expires_at:
        return (
            f"the approval of {name} by {orphans.decided_by} ended at "
            f"{format_instant(orphans.expires_at)}"
        )
    if needed is OrphanListState.QUARANTINED and now < orphans.expires_at:
        return f"the files of {name} stay in quarantine until {format_instant(orphans.expires_at)}"
    if orphans.table_uuid != health.table_uuid:
        return (
            f"the approval is void: {name} was made for the table with UUID "
            f"{orphans.table_uuid}, which is {health.table_uuid} now"
        )
    if normalise_path(orphans.location) != normalise_path(health.location):
        return (
            f"the approval is void: {name} was made at {orphans.location}, and the table is at "
            f"{health.location} now"
        )
    return None


_NEEDED_STATE: Mapping[Disposal, OrphanListState] = {
    Disposal.RESTORE: OrphanListState.RESTORING,
    Disposal.DELETE: OrphanListState.APPROVED,
    Disposal.QUARANTINE: OrphanListState.APPROVED,
    Disposal.EMPTY: OrphanListState.QUARANTINED,
}


def find_disposal(
    lists: Iterable[OrphanList],
    rule: RemoveOrphanFilesRule,
    health: TableHealth,
    now: datetime,
) -> tuple[OrphanList, ApprovedList] | None:
    """The next job for the table's lists: restore, remove or empty, in this order.

    Of several possible lists the oldest is taken.
    """
    oldest_first = sorted(lists, key=lambda orphans: (orphans.made_at, orphans.list_id))
    states = (OrphanListState.RESTORING, OrphanListState.APPROVED, OrphanListState.QUARANTINED)
    for needed in states:
        for orphans in oldest_first:
            disposal = _choose_disposal(needed, hold_for(orphans, rule.quarantine))
            approved = ApprovedList(orphans.list_id, orphans.sha256, disposal)
            if refuse_removal(orphans, approved, health, now) is None:
                return orphans, approved
    return None


def hold_for(orphans: OrphanList, quarantine: timedelta) -> timedelta:
    """The time in quarantine: the approver's, or the policy's of now if that is longer."""
    return max(orphans.quarantine or timedelta(0), quarantine)


def _choose_disposal(state: OrphanListState, quarantine: timedelta) -> Disposal:
    match state:
        case OrphanListState.RESTORING:
            return Disposal.RESTORE
        case OrphanListState.QUARANTINED:
            return Disposal.EMPTY
        case _:
            return Disposal.QUARANTINE if quarantine else Disposal.DELETE


def describe_removal(orphans: OrphanList) -> str:
    """What an approval of the list allows, as one sentence."""
    match orphans.quarantine:
        case None:
            how = "removed as the policy says at the time"
        case timedelta() as time if time:
            how = (
                f"moved to quarantine by the next job, and deleted after "
                f"{write_duration(time.total_seconds())} there"
            )
        case _:
            how = "deleted by the next job at once: they cannot be restored"
    return f"Approved files are {how}, except any that the table references by then."


def describe_list(orphans: OrphanList) -> str:
    """The next step for the list as one sentence; empty when there is none."""
    match orphans.state:
        case OrphanListState.WAITING:
            return (
                f"They wait for approval until {format_instant(orphans.expires_at)} as list "
                f"{orphans.list_id}."
            )
        case OrphanListState.APPROVED:
            return (
                f"They were approved by {orphans.decided_by} as list {orphans.list_id}, and "
                f"a separate job removes them."
            )
        case _:
            return ""


def describe_disposal(orphans: OrphanList, disposal: Disposal) -> str:
    """What the next job would do with the list."""
    count = (
        f"{format_count(orphans.files, 'orphan file')} of "
        f"{format_size(orphans.bytes)} on list {orphans.list_id}"
    )
    match disposal:
        case Disposal.DELETE:
            return (
                f"{count}, approved by {orphans.decided_by}, would be deleted, except any "
                f"that the table references by then"
            )
        case Disposal.QUARANTINE:
            return (
                f"{count}, approved by {orphans.decided_by}, would be moved to quarantine, "
                f"except any that the table references by then"
            )
        case Disposal.RESTORE:
            return f"{count} would be restored from quarantine"
        case Disposal.EMPTY:
            return f"{count}, whose time in quarantine is over, would be deleted"
        case _:  # pragma: no cover
            assert_never(disposal)
