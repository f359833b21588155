"""Prepares and proves an orphan scan, or the removal of approved orphan files."""

from __future__ import annotations

import logging
from dataclasses import replace

from maintainer.compare.conclusion import conclude
from maintainer.decide.notices import notice_of_list
from maintainer.domain.action import RemoveOrphanFiles, orphans_of
from maintainer.domain.effect import Effect
from maintainer.domain.health import TableHealth
from maintainer.domain.job import Baseline, FailureReason, Job, JobEvent
from maintainer.domain.location import HDFS_SCHEMES
from maintainer.domain.orphan import FoundFile, FoundOrphans, OrphanListState
from maintainer.domain.policy import Policy
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.ports import Ports
from maintainer.procedures.remove_orphan_files.approval import OrphanScan, describe_list, make_list
from maintainer.procedures.remove_orphan_files.scan import (
    MAX_FILES,
    Assessment,
    describe_judgement,
    judge_orphans,
)
from maintainer.steps.kinds.location_check import record_foreign_locations
from maintainer.steps.kinds.maintenance import find_effect, prepare_maintenance
from maintainer.steps.kinds.orphan_removal import prepare_removal, prove_removal
from maintainer.steps.kinds.results import (
    Preparation,
    Proof,
    Proved,
    Ready,
    Refused,
    Unreadable,
)
from maintainer.steps.table import Measured
from maintainer.steps.table_plan import policy_of

LISTED = "orphans.listed"
_BY_PREFIX, _BY_HADOOP = ("prefix_listing", "true"), ("prefix_listing", "false")
_LOG = logging.getLogger(__name__)


def list_location(ports: Ports, job: Job) -> Job:
    """Return the job with its location listed, or unchanged if Spark lists the location.

    Spark lists it on other file systems of Hadoop, if the policy says so, and if this process
    cannot list it.
    """
    action = orphans_of(job.action)
    if action is None or action.approved is not None or not _is_listed_here(action):
        return job
    pages = ports.catalog_of(job.table).list_files(job.table, action.location)
    if pages is None:
        return job
    started = ports.clock.now()
    try:
        files = ports.runner.orphan_files.write_listing(job.job_id, action, pages)
    # Storage libraries raise many kinds of errors. After an error Spark lists, which is slower.
    except Exception as error:  # noqa: BLE001
        _LOG.warning(
            "orphans.not_listed", extra={"table": str(job.table), "error": type(error).__name__}
        )
        ports.runner.orphan_files.remove(job)
        return job
    now = ports.clock.now()
    ports.store.append_events(
        [
            JobEvent(
                job.job_id,
                now,
                LISTED,
                {"files": files, "seconds": (now - started).total_seconds()},
            )
        ]
    )
    return replace(
        job,
        action=replace(
            action,
            is_listed=True,
            options=tuple(option for option in action.options if option != _BY_PREFIX),
        ),
    )


def _is_listed_here(action: RemoveOrphanFiles) -> bool:
    return _BY_PREFIX in action.options or (
        action.location.lower().startswith(HDFS_SCHEMES) and _BY_HADOOP not in action.options
    )


MAX_KEPT_SHOWN = 100  # files that must be kept


def prepare_orphans(
    ports: Ports, job: Job, action: RemoveOrphanFiles, health: TableHealth
) -> Preparation:
    """Check for other tables in the location, and give the runner the files or the listing."""
    refusal = record_foreign_locations(ports, action, health)
    if refusal is not None:
        return Refused(FailureReason.TABLE_CHANGED, refusal)
    prepared = prepare_maintenance(ports, job, action, health)
    if not isinstance(prepared, Ready):
        return prepared
    refusal = prepare_removal(ports, prepared.job, health)
    if refusal is not None:
        return Refused(FailureReason.TABLE_CHANGED, refusal)
    return Ready(list_location(ports, prepared.job))


def prove_orphans(
    ports: Ports, job: Job, action: RemoveOrphanFiles, baseline: Baseline, scanned: Measured
) -> Proof:
    """Prove an orphan scan or a removal."""
    health, inventory = scanned.health, scanned.inventory
    effect = find_effect(ports, job, baseline, scanned)
    if action.approved is not None:
        rule = policy_of(ports, health).rule(RemoveOrphanFilesRule) or RemoveOrphanFilesRule()
        named = [file.path for file in (*inventory.statistics, *inventory.partition_statistics)]
        proved = prove_removal(ports, job, action, effect, rule.quarantine, named)
        if proved is None:
            return Unreadable("its storage does not say which of the files exist")
        return Proved(*proved)
    if job.outcome is not None and job.outcome.kind == "finished":
        effect = _list_orphans(ports, job, action, health, effect)
    return Proved(effect, conclude(job, effect))


def _list_orphans(
    ports: Ports, job: Job, action: RemoveOrphanFiles, health: TableHealth, effect: Effect
) -> Effect:
    """Add the listed files to the effect, and the assessment as the event orphans.judged."""
    known = ports.store.orphan_list(job.job_id)
    if known is not None:  # an earlier review of this job stored the list, and was interrupted
        return replace(
            effect,
            orphans_listed=known.files,
            sentence=f"{known.files:,} orphan files listed. {describe_list(known)}".strip(),
        )
    found = ports.runner.orphan_files.find_orphans(job)
    if found is None:
        return replace(
            effect,
            sentence="The result of the scan is missing or incomplete; nothing was listed and "
            "nothing was deleted.",
        )
    assessment = _assess(ports, job, action, health, found)
    ports.store.append_events(
        [JobEvent(job.job_id, ports.clock.now(), "orphans.judged", _describe(assessment))]
    )
    following = (
        _keep(ports, job, action, assessment, policy_of(ports, health))
        if assessment.orphans
        else ""
    )
    sentence = " ".join(part for part in (describe_judgement(assessment), following) if part)
    return replace(effect, orphans_listed=len(assessment.orphans), sentence=sentence)


def _assess(
    ports: Ports, job: Job, action: RemoveOrphanFiles, health: TableHealth, found: FoundOrphans
) -> Assessment:
    if len(found.paths) > MAX_FILES:  # the list is refused, whatever the sizes of its files are
        return judge_orphans(
            health, map(FoundFile, found.paths), found.foreign_files, found.counted
        )
    stored = ports.catalog_of(job.table).stat_files(job.table, found.paths)
    files = [
        FoundFile(path) if file is None else FoundFile(path, file.size_bytes, file.modified_at)
        for path, file in zip(found.paths, stored, strict=True)
    ]
    return judge_orphans(health, files, found.foreign_files, found.counted, action.older_than)


def _keep(
    ports: Ports, job: Job, action: RemoveOrphanFiles, assessment: Assessment, policy: Policy
) -> str:
    """Store the list and, if needed, ask for approval; return a sentence about the next step."""
    now = ports.clock.now()
    look = OrphanScan(job.job_id, job.table, job.table_uuid, action.location, action.older_than)
    orphans = make_list(look, assessment, policy, now)
    is_new = ports.store.add_orphan_list(orphans, assessment.orphans[:MAX_FILES])
    if is_new and orphans.state is OrphanListState.WAITING:
        ports.notifier.notify(notice_of_list(orphans, now))
    return describe_list(orphans)


def _describe(assessment: Assessment) -> dict[str, object]:
    size = sum(file.size_bytes or 0 for file in assessment.orphans)
    kept = [{"path": path, "reason": reason} for path, reason in assessment.kept[:MAX_KEPT_SHOWN]]
    verdict = {"refusal": assessment.refusal, "warning": assessment.warning}
    return {
        "files": len(assessment.orphans),
        "bytes": size,
        "kept_files": len(assessment.kept),
        "kept": kept,
        **verdict,
    }
