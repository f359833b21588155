"""Writes the status of a policy resource."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from maintainer.adapters.kubernetes.documents import Manifest, part, parts
from maintainer.adapters.policies.kubernetes.resources import Refusal
from maintainer.domain.job import Job
from maintainer.domain.policy_status import PolicyStatus
from maintainer.domain.units import format_size

READY = "Ready"
_MAX_MESSAGE = 1024  # characters; kubectl shows them in one line


def write_status(
    resource: Manifest, refusal: Refusal | None, status: PolicyStatus, now: datetime
) -> Manifest:
    """Return the fields of the status; None removes one. A last job that is unknown stays."""
    average = status.average_file_size_bytes
    written: Manifest = {
        "observedGeneration": part(resource, "metadata").get("generation"),
        "tables": status.tables,
        "band": status.band.value if status.band is not None else None,
        "averageFileSize": format_size(average) if average is not None else None,
        "averageFileSizeBytes": round(average) if average is not None else None,
        "nextCheckAt": _write_instant(status.next_check_at) if status.next_check_at else None,
        "conditions": _write_conditions(resource, _find_state(refusal, status), now),
    }
    if status.last_job is not None:
        written["lastJob"] = _write_job(status.last_job)
    return written


def is_written(resource: Manifest, written: Mapping[str, object]) -> bool:
    """Return whether the resource has this status already."""
    present = part(resource, "status")
    return all(present.get(key) == value for key, value in written.items())


def _find_state(refusal: Refusal | None, status: PolicyStatus) -> tuple[str, str, str]:
    """Return the status, the reason and the message of the condition Ready."""
    if refusal is not None:
        return "False", refusal.reason, "; ".join(refusal.messages)
    if status.problems:
        return "False", "Disputed", "; ".join(status.problems)
    return "True", "InForce", "the policy is in force"


def _write_conditions(
    resource: Manifest, state: tuple[str, str, str], now: datetime
) -> list[Mapping[str, object]]:
    """Return all conditions; the time of a transition stays until Ready changes."""
    known = parts(resource, "status", "conditions")
    before = next((each for each in known if each.get("type") == READY), {})
    value, reason, message = state
    is_same = before.get("status") == value
    ready = {
        "type": READY,
        "status": value,
        "reason": reason,
        "message": message[:_MAX_MESSAGE],
        "observedGeneration": part(resource, "metadata").get("generation"),
        "lastTransitionTime": before["lastTransitionTime"] if is_same else _write_instant(now),
    }
    return [*(each for each in known if each.get("type") != READY), ready]


def _write_job(job: Job) -> dict[str, object]:
    return {
        "id": job.job_id,
        "table": str(job.table),
        "rule": job.rule.value,
        "state": job.state.value,
    }


def _write_instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
