"""Check the contents of rewritten files, beyond row counts, and pause a table that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maintainer.compare.proof import (
    compare_contents,
    explain_difference,
    find_failed_proofs,
    tell_unmade_checks,
)
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.canary import CanaryResult
from maintainer.domain.effect import Effect, RowProof
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import Job, JobEvent
from maintainer.domain.safeguards import Canary
from maintainer.ports import Ports
from maintainer.steps.pauses import pause_table


def prove_contents(
    ports: Ports, job: Job, own: Sequence[Snapshot], inventory: TableInventory, effect: Effect
) -> Effect:
    """Read the job's own new files and add the result, and Spark's row checksums, to the effect."""
    effect = replace(effect, difference=explain_difference(job, effect))
    if not own or not job.procedure.rewrites_content:
        return effect
    contents, canary = compare_contents(job, own), _read(ports, job, own)
    # Another writer's manifest is not part of our proof; the manifest list of our snapshot
    # is.
    unreadable = [
        broken
        for broken in inventory.unreadable
        if not effect.other_commits or broken.of_snapshot in effect.own_snapshot_ids
    ]
    failed = find_failed_proofs(job, contents, canary, unreadable, own)
    sentence = f"{effect.sentence} {tell_unmade_checks(job, contents)}".rstrip()
    return replace(
        effect,
        sentence=sentence,
        contents=contents,
        canary_files=canary.files_read if canary is not None else None,
        failed_proofs=failed,
    )


def _read(ports: Ports, job: Job, own: Sequence[Snapshot]) -> CanaryResult | None:
    if job.safeguards.canary is Canary.OFF:
        return None
    canary = ports.catalog_of(job.table).read_canary(
        job.table, [snapshot.snapshot_id for snapshot in own]
    )
    if canary is not None:
        fields = {
            "files": canary.files_read,
            "problems": list(canary.problems),
            "unread": list(canary.unread),
        }
        ports.store.append_events([JobEvent(job.job_id, ports.clock.now(), "canary.read", fields)])
    return canary


def pause_unproved(ports: Ports, job: Job, effect: Effect) -> bool:
    """Pause the table when the proof found damage, so that all older files stay.

    A person must resume the table. Returns False when nothing is wrong.
    """
    if effect.rows is RowProof.DIFFERENT:
        reason = (
            f"the rows before and after job {job.job_id} differ; check the job before you resume"
        )
    elif effect.failed_proofs:
        reason = (
            f"job {job.job_id} is not proved: {effect.failed_proofs[0]}; check the job "
            f"before you resume"
        )
    else:
        return False
    pause_table(ports, job, BY_PROOF, reason)
    return True
