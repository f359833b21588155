"""Checks an approved list of orphan files right before its removal, and proves the removal.

The proof looks for the files in the storage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice

from maintainer.compare.conclusion import Conclusion
from maintainer.compare.rollback import (
    PARTICIPLES,
    STATES,
    RemovalProof,
    conclude_removal,
    conclude_unreported,
    measure_removal,
)
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles, orphans_of
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.effect import Effect
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.health import TableHealth
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.location import respell
from maintainer.domain.orphan import (
    FoundFile,
    OrphanListState,
    RemovedOrphans,
    StoredFile,
    hash_files,
    quarantine_of,
)
from maintainer.ports import Ports
from maintainer.procedures.remove_orphan_files.approval import hold_for, refuse_removal
from maintainer.procedures.remove_orphan_files.scan import MAX_FILES, judge_orphans
from maintainer.steps.kinds.location_check import find_new_tables
from maintainer.steps.pauses import pause_table

# files that the proof looks for; of a longer list every second, third, ... file
MAX_CHECKED_FILES = 100_000
# statistics files that the proof looks for in addition to those on the list
MAX_STATISTICS = 10_000
HANDED_OVER = "orphans.brought"


# -- before the job


def prepare_removal(ports: Ports, job: Job, health: TableHealth) -> str | None:
    """Give the approved files to the runner before the job.

    Returns the reason if no file may be removed, else None. Other jobs return None.
    """
    action = orphans_of(job.action)
    if action is None or action.approved is None:
        return None
    orphans = ports.store.orphan_list(action.approved.list_id)
    refusal = refuse_removal(orphans, action.approved, health, ports.clock.now())
    if refusal is None and action.approved.disposal is not Disposal.RESTORE:
        refusal = find_new_tables(ports)
    return (
        refusal
        if refusal is not None
        else _hand_over_files(ports, job, action, action.approved, health)
    )


def _hand_over_files(
    ports: Ports, job: Job, action: RemoveOrphanFiles, approved: ApprovedList, health: TableHealth
) -> str | None:
    files = tuple(ports.store.orphan_files(approved.list_id, 0, MAX_FILES))
    if hash_files(files) != approved.sha256:
        return f"the files of list {approved.list_id} differ from the approved files"
    chosen = (
        _choose_quarantined(ports, job, action, approved, files)
        if _is_quarantined(approved)
        else _choose(ports, job, action, approved, files, health)
    )
    if isinstance(chosen, str):
        return chosen
    try:
        ports.runner.orphan_files.write_list(job.job_id, action, chosen)
    except RunnerUnavailableError as error:
        return str(error)
    size = sum(file.size_bytes or 0 for file in chosen)
    fields = {
        "list": approved.list_id,
        "to_be": PARTICIPLES[approved.disposal],
        "files": len(chosen),
        "bytes": size,
        "left_out": len(files) - len(chosen),
    }
    ports.store.append_events([JobEvent(job.job_id, ports.clock.now(), HANDED_OVER, fields)])
    return None


def _is_quarantined(approved: ApprovedList) -> bool:
    """Whether the list's files are in quarantine."""
    return approved.disposal in {Disposal.RESTORE, Disposal.EMPTY}


def _choose(  # noqa: PLR0913, PLR0917 - all facts of one choice
    ports: Ports,
    job: Job,
    action: RemoveOrphanFiles,
    approved: ApprovedList,
    files: Sequence[FoundFile],
    health: TableHealth,
) -> tuple[FoundFile, ...] | str:
    """Return the unchanged files that the assessment lets remove, or why no file may be removed."""
    stored = ports.catalog_of(job.table).stat_files(job.table, [file.path for file in files])
    same = [
        file
        for file, found in zip(files, stored, strict=True)
        if found is not None and FoundFile(file.path, found.size_bytes, found.modified_at) == file
    ]
    assessment = judge_orphans(health, same, 0, older_than=action.older_than)
    return (
        f"list {approved.list_id} is refused now: {assessment.refusal}"
        if assessment.refusal is not None
        else assessment.orphans
    )


def _choose_quarantined(
    ports: Ports,
    job: Job,
    action: RemoveOrphanFiles,
    approved: ApprovedList,
    files: Sequence[FoundFile],
) -> tuple[FoundFile, ...] | str:
    """Return the files that are unchanged in quarantine, or why no file may be restored."""
    catalog = ports.catalog_of(job.table)
    stored = catalog.stat_files(job.table, _quarantine_paths(action, approved, files))
    chosen = tuple(
        file for file, found in zip(files, stored, strict=True) if _is_unchanged(file, found)
    )
    if approved.disposal is Disposal.RESTORE:
        there = catalog.stat_files(job.table, [file.path for file in chosen])
        taken = next(
            (file.path for file, found in zip(chosen, there, strict=True) if found is not None),
            None,
        )
        if taken is not None:
            return f"{taken} exists already, so list {approved.list_id} cannot be restored"
    return chosen


def _quarantine_paths(
    action: RemoveOrphanFiles, approved: ApprovedList, files: Sequence[FoundFile]
) -> list[str]:
    aside, own = quarantine_of(action.location, approved.list_id), action.location.rstrip("/") + "/"
    return [
        aside + path.removeprefix(own)
        for path in respell(action.location, (file.path for file in files))
    ]


def _is_unchanged(file: FoundFile, found: StoredFile | None) -> bool:
    return found is not None and found.size_bytes == file.size_bytes


# -- after the job


def prove_removal(  # noqa: PLR0913, PLR0917 - all facts of one proof
    ports: Ports,
    job: Job,
    action: RemoveOrphanFiles,
    effect: Effect,
    quarantine: timedelta,
    statistics: Sequence[str],
) -> tuple[Effect, Conclusion] | None:
    """Prove which files were removed, and that no referenced file was; None if storage fails.

    `quarantine` is the policy's time in quarantine. `statistics` are the statistics files that the
    metadata names; Spark has no metadata table that lists them.
    """
    report, approved = ports.runner.orphan_files.find_removed(job), action.approved
    if report is None or approved is None:
        sentence = "Spark's report of the removal is missing, so the result is unknown."
        return replace(effect, sentence=sentence), conclude_unreported(job, sentence)
    files = tuple(ports.store.orphan_files(approved.list_id, 0, MAX_FILES))
    paths = (
        _quarantine_paths(action, approved, files)
        if _is_quarantined(approved)
        else respell(action.location, (file.path for file in files))
    )
    report = _add_statistics(report, respell(action.location, statistics))
    proof = _check_storage(ports, job, approved, report, dict(zip(paths, files, strict=True)))
    if proof is None:
        return None
    proved = measure_removal(effect, approved.disposal, proof)
    conclusion = conclude_removal(job, proved, proof, is_reported=report.reached is not None)
    if proof.lost:  # the pause comes first, so that no other job changes this table
        reason = (
            f"job {job.job_id} deleted {len(proof.lost):,} files that the table needs; "
            f"check the job before you resume"
        )
        pause_table(ports, job, BY_PROOF, reason)
    if conclusion.state is JobState.SUCCEEDED:
        _close(ports, job, approved, proved, quarantine)
    return proved, conclusion


def _add_statistics(report: RemovedOrphans, statistics: Iterable[str]) -> RemovedOrphans:
    """Add the table's statistics files to the files that it references.

    These are all statistics files on the list, and at most MAX_STATISTICS others.
    """
    if report.reached is None:
        return report
    given, named = frozenset(report.brought), tuple(dict.fromkeys(statistics))
    on_list = (path for path in named if path in given)
    others = islice((path for path in named if path not in given), MAX_STATISTICS)
    return replace(report, reached=tuple(dict.fromkeys((*report.reached, *on_list, *others))))


def _check_storage(
    ports: Ports,
    job: Job,
    approved: ApprovedList,
    report: RemovedOrphans,
    files: Mapping[str, FoundFile],
) -> RemovalProof | None:
    catalog = ports.catalog_of(job.table)
    reached = report.reached or ()
    there = dict(
        zip(
            reached,
            (file is not None for file in catalog.stat_files(job.table, reached)),
            strict=True,
        )
    )
    if there and not any(there.values()):
        return None  # if no file of a table is found, the storage probably does not answer
    given = frozenset(report.brought)
    missing = [path for path, is_there in there.items() if not is_there]
    step = max(1, -(-len(report.brought) // MAX_CHECKED_FILES))
    searched = report.brought[::step]
    stored = catalog.stat_files(job.table, searched)
    gone = [
        path
        for path, file in zip(searched, stored, strict=True)
        if file is None and path not in there
    ]
    targets = (
        dict(zip(report.brought, report.targets, strict=False))
        if approved.disposal in {Disposal.QUARANTINE, Disposal.RESTORE}
        else {}
    )
    kept = (
        dict(
            zip(
                gone,
                catalog.stat_files(job.table, [targets[path] for path in gone]),
                strict=True,
            )
        )
        if targets
        else {}
    )
    return RemovalProof(
        removed=tuple(files.get(path, FoundFile(path)) for path in gone),
        left=tuple(
            path
            for path, file in zip(searched, stored, strict=True)
            if file is not None and path not in there
        ),
        alive=tuple(path for path, is_there in there.items() if is_there and path in given),
        lost=(
            *(path for path in missing if path in given),
            *(path for path, found in kept.items() if not _is_unchanged(files[path], found)),
        ),
        missing=tuple(path for path in missing if path not in given),
        reached=len(reached),
        is_sample=step > 1,
    )


def _close(
    ports: Ports, job: Job, approved: ApprovedList, effect: Effect, quarantine: timedelta
) -> None:
    """Store the list's new state; meanwhile only a newer list can have superseded this list."""
    orphans, now = ports.store.orphan_list(approved.list_id), ports.clock.now()
    state = STATES[approved.disposal]
    if orphans is None or orphans.state is state:
        return
    changed = replace(orphans, state=state)
    if not _is_quarantined(approved):
        changed = replace(
            changed,
            removed_by=job.job_id,
            removed_at=now,
            removed_files=effect.orphans_removed,
            removed_bytes=effect.orphan_bytes_removed,
        )
    if state is OrphanListState.QUARANTINED:
        changed = replace(changed, expires_at=now + hold_for(orphans, quarantine))
    ports.store.update_orphan_list(changed, orphans)
