"""The audit log: who requested what, what ran, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobEvent, JobState

# The actors that are parts of this program.
BY_SCAN = "a scan"
BY_PROOF = "the proof of a job"
BY_WAIT = "a job that waits for its proof"


class Deed(StrEnum):
    """What was done, as noun.verb: a closed set."""

    JOB_REQUESTED = "job.requested"
    JOB_SUBMITTED = "job.submitted"
    STATEMENT_STARTED = "statement.started"
    JOB_CANCEL_REQUESTED = "job.cancel_requested"
    JOB_ENDED = "job.ended"
    WORK_PAUSED = "work.paused"
    WORK_RESUMED = "work.resumed"
    PAUSED_TABLE_GONE = "paused_table.gone"
    ORPHANS_APPROVED = "orphans.approved"
    ORPHANS_REJECTED = "orphans.rejected"
    ORPHANS_RESTORE_REQUESTED = "orphans.restore_requested"
    SNAPSHOT_PINNED = "snapshot.pinned"
    SNAPSHOT_UNPINNED = "snapshot.unpinned"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the append-only audit log. Field values are JSON values."""

    at: datetime
    actor: str  # "policy 1a2b3c4d5e6f", "person ada", or the process that did it
    deed: Deed
    table: TableIdentifier | None = None
    table_uuid: str = ""
    job_id: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    sequence: int = 0  # assigned by the store, increasing


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """A filter for entries, newest first. since is inclusive, until is exclusive."""

    table: TableIdentifier | None = None
    job_id: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 100
    cursor: str | None = None
    within: tuple[str, ...] | None = None  # prefixes of the names of tables


_BEARER = "token "
_PERSON = "person"  # a person without a known name


def name_token(name: str) -> str:
    """The name of an API token's bearer in the log and in messages."""
    return f"{_BEARER}{name}"


def name_person(name: str, way: str) -> str:
    """The name of a person who signed in, with the way: on the page, or by a bearer token."""
    return f"{_PERSON} {name} via {way}"


def name_actor(by: str) -> str:
    """The actor's name in the log: a token has its own name, anybody else is a person."""
    is_named = by == _PERSON or by.startswith((_BEARER, f"{_PERSON} "))
    return by if is_named else f"{_PERSON} {by}".strip()


_TOLD_EVENTS = {deed.value: deed for deed in (Deed.STATEMENT_STARTED, Deed.JOB_CANCEL_REQUESTED)}


def audit_change(
    before: Job | None, after: Job, statements: Sequence[str] = ()
) -> tuple[AuditEntry, ...]:
    """The audit entries for a job that was stored or changed its state.

    The store writes them in the same transaction as the job. `statements` are the statements that
    Spark gets when a job is handed over: if Spark dies, they are known anyway.
    """
    entries: list[AuditEntry] = []
    if before is None:
        asked = {
            "rule": after.rule.value,
            "reason": after.reason,
            "policy_version": after.policy_version,
            "then": [rule.value for rule in after.then],
        }
        entries.append(
            _entry(after, after.created_at, _name_requester(after), Deed.JOB_REQUESTED, asked)
        )
    was = before.state if before is not None else JobState.PENDING
    if (
        after.state is JobState.SUBMITTED
        and was is not JobState.SUBMITTED
        and after.submitted_at is not None
    ):
        snapshot_id = after.baseline.snapshot_id if after.baseline is not None else None
        handed = {
            "application": after.application,
            "snapshot_id": _write_id(snapshot_id),
            "statements": list(statements),
        }
        entries.append(_entry(after, after.submitted_at, after.owner, Deed.JOB_SUBMITTED, handed))
    if after.state.is_final and not was.is_final:
        entries.append(
            _entry(
                after,
                after.finished_at or after.created_at,
                after.owner or _name_requester(after),
                Deed.JOB_ENDED,
                _write_end(after),
            )
        )
    return tuple(entries)


def audit_events(job: Job, events: Iterable[JobEvent]) -> tuple[AuditEntry, ...]:
    """The audit entries for a job's events: statements that ran, and who asked for its end."""
    reported = ((event, _TOLD_EVENTS[event.name]) for event in events if event.name in _TOLD_EVENTS)
    return tuple(
        _entry(job, event.at, _name_actor(job, event, deed), deed, dict(event.fields))
        for event, deed in reported
    )


def _name_actor(job: Job, event: JobEvent, deed: Deed) -> str:
    return (
        name_actor(str(event.fields.get("by", "")))
        if deed is Deed.JOB_CANCEL_REQUESTED
        else job.owner
    )


def _name_requester(job: Job) -> str:
    return (
        f"policy {job.policy_version}"
        if job.requested_by == "policy"
        else name_actor(job.requested_by)
    )


def _write_end(job: Job) -> dict[str, object]:
    effect = job.effect
    return {
        "state": job.state.value,
        "failure": job.failure_reason.value if job.failure_reason is not None else "",
        "message": job.failure_message or (effect.sentence if effect is not None else ""),
        "rows": effect.rows.value if effect is not None else "",
        "commits": [_write_id(snapshot_id) for snapshot_id in effect.own_snapshot_ids]
        if effect is not None
        else [],
    }


def _write_id(snapshot_id: int | None) -> str:
    # A text, because a snapshot id has 63 bits, and a JavaScript number only 53.
    return "" if snapshot_id is None else str(snapshot_id)


def _entry(
    job: Job, at: datetime, actor: str, deed: Deed, fields: Mapping[str, object]
) -> AuditEntry:
    return AuditEntry(at, actor, deed, job.table, job.table_uuid, job.job_id, fields)
