"""Carry out an approved list of orphan files: everything is asked again right before, and what became of the files is looked up in the storage itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from maintainer.domain.action import ApprovedList, RemoveOrphanFiles
from maintainer.domain.effect import Effect
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobEvent, JobState
from maintainer.domain.orphan import FoundFile, OrphanListState, RemovedOrphans, digest_files
from maintainer.domain.place import respell
from maintainer.domain.units import format_size
from maintainer.health.compare import Verdict, conclude
from maintainer.policy.approval import refuse_removal
from maintainer.policy.orphans import MAX_FILES, judge_orphans
from maintainer.ports.store import Pause
from maintainer.steps.ports import Ports
from maintainer.steps.scan import scan_table

MAX_LOOKED_AT = 100_000  # files of a list that the proof looks for; of a longer list every second, third, ...
MAX_UNKNOWN = 20  # tables that are measured on the way before a removal
BROUGHT = "orphans.brought"


# -- before


def prepare_removal(ports: Ports, job: Job, health: TableHealth) -> str | None:
    """Have the approved files ready for a removal; why nothing of them may go, else None, as for any other job."""
    action = job.action
    if not isinstance(action, RemoveOrphanFiles) or action.approved is None:
        return None
    orphans = ports.store.orphan_list(action.approved.list_id)
    refusal = refuse_removal(orphans, action.approved, health, ports.clock.now()) or _find_unknown(ports)
    return refusal if refusal is not None else _bring(ports, job, action, action.approved, health)


def _find_unknown(ports: Ports) -> str | None:
    """A table that no scan has seen yet may lie in the very place: every catalog is asked again for what it has."""
    known = frozenset(ports.store.table_names())
    measured = 0
    for catalog in ports.catalogs.values():
        for listed in catalog.tables():
            if isinstance(listed, CatalogFault):
                return f"it is not known what else lies there: {listed.reason}"
            if listed in known:
                continue
            measured += 1
            found = scan_table(ports, listed) if measured <= MAX_UNKNOWN else None
            if not isinstance(found, TableFault) or found.kind not in {FaultKind.VIEW, FaultKind.DROPPED}:
                return f"table {listed} was not known until now: what lies where is looked at again first"
    return None


def _bring(ports: Ports, job: Job, action: RemoveOrphanFiles, approved: ApprovedList, health: TableHealth) -> str | None:
    files = tuple(ports.store.orphan_files(approved.list_id, 0, MAX_FILES))
    if digest_files(files) != approved.digest:
        return f"the files of list {approved.list_id} are not those that were approved"
    stored = ports.catalog_of(job.table).look_at_files(job.table, [file.path for file in files])
    there = [(file, found) for file, found in zip(files, stored, strict=True) if found is not None]
    same = [file for file, found in there if FoundFile(file.path, found.size_bytes, found.modified_at) == file]
    judgement = judge_orphans(health, same, 0, older_than=action.older_than)
    if judgement.refusal is not None:
        return f"list {approved.list_id} is refused now: {judgement.refusal}"
    try:
        ports.runner.bring_orphans(job.job_id, action, judgement.orphans)
    except RunnerUnavailableError as error:
        return str(error)
    told = {
        "list": approved.list_id,
        "files": len(judgement.orphans),
        "bytes": sum(file.size_bytes or 0 for file in judgement.orphans),
        "gone_files": len(files) - len(there),
        "changed_files": len(there) - len(same),
        "kept_files": len(judgement.kept),
    }
    ports.store.append_events([JobEvent(job.job_id, ports.clock.now(), BROUGHT, told)])
    return None


# -- after


@dataclass(frozen=True, slots=True)
class _Proof:
    """What the storage shows of the files that Spark was given, and of those that the table reaches; paths are written from its location on."""

    removed: tuple[FoundFile, ...]
    left: tuple[str, ...]  # still there although no metadata knows them
    alive: tuple[str, ...]  # the metadata knows them, and they are there
    lost: tuple[str, ...]  # the metadata knows them, they were given to Spark, and they are not there
    missing: tuple[str, ...]  # the metadata knows them, they were never given to Spark, and they are not there
    reached: int  # files that the metadata knows, and that were looked for
    is_sample: bool  # not every file that was given was looked for


def prove_removal(ports: Ports, job: Job, action: RemoveOrphanFiles, approved: ApprovedList, effect: Effect) -> tuple[Effect, Verdict] | None:
    """What is gone, and that nothing which the table reaches is; None while the storage cannot be looked at."""
    told = ports.runner.removed_orphans(job)
    if told is None:
        sentence = "What Spark was given to delete is not here any more, so that it cannot be told what became of it."
        return replace(effect, sentence=sentence), _conclude_untold(job, sentence)
    files = tuple(ports.store.orphan_files(approved.list_id, 0, MAX_FILES))
    proof = _look(ports, job, told, dict(zip(respell(action.location, (file.path for file in files)), files, strict=True)))
    if proof is None:
        return None
    removed = replace(effect, orphans_removed=len(proof.removed), orphan_bytes_removed=sum(file.size_bytes or 0 for file in proof.removed))
    removed = replace(removed, sentence=_describe(proof, removed))
    verdict = _conclude(job, removed, proof, is_told=told.reached is not None)
    if proof.lost:  # first of all: whatever happens to us now, nothing more is done to this table
        reason = f"job {job.job_id} deleted {len(proof.lost):,} files that the table needs; look at its page before resuming"
        ports.store.set_pause(job.table, Pause("the proof of a job", ports.clock.now(), reason))
    if verdict.state is JobState.SUCCEEDED:
        _close(ports, job, approved, removed)
    return removed, verdict


def _look(ports: Ports, job: Job, told: RemovedOrphans, files: Mapping[str, FoundFile]) -> _Proof | None:
    catalog = ports.catalog_of(job.table)
    reached = told.reached or ()
    there = dict(zip(reached, (file is not None for file in catalog.look_at_files(job.table, reached)), strict=True))
    if there and not any(there.values()):
        return None  # a table of which nothing at all is left: more likely the storage does not answer
    given = frozenset(told.brought)
    missing = [path for path, is_there in there.items() if not is_there]
    step = max(1, -(-len(told.brought) // MAX_LOOKED_AT))
    looked_for = told.brought[::step]
    stored = catalog.look_at_files(job.table, looked_for)
    return _Proof(
        removed=tuple(files.get(path, FoundFile(path)) for path, file in zip(looked_for, stored, strict=True) if file is None and path not in there),
        left=tuple(path for path, file in zip(looked_for, stored, strict=True) if file is not None and path not in there),
        alive=tuple(path for path, is_there in there.items() if is_there and path in given),
        lost=tuple(path for path in missing if path in given),
        missing=tuple(path for path in missing if path not in given),
        reached=len(reached),
        is_sample=step > 1,
    )


def _describe(proof: _Proof, effect: Effect) -> str:
    count, size = effect.orphans_removed, format_size(effect.orphan_bytes_removed)
    least = "at least " if proof.is_sample else ""
    text = f"{least}{count:,} orphan {'file' if count == 1 else 'files'} of {size} {'is' if count == 1 else 'are'} deleted"
    text += f"; {proof.reached:,} files that the table reaches were looked for" if proof.reached else ""
    for paths, words in (
        (proof.alive, "were left because the table knows them since"),
        (proof.left, "are still there although nothing knows them"),
        (proof.missing, "that the table names were not on the list and are not there"),
    ):
        text += f"; {len(paths):,} {words}, the first: {paths[0]}" if paths else ""
    return f"{text[0].upper()}{text[1:]}."


def _conclude(job: Job, effect: Effect, proof: _Proof, *, is_told: bool) -> Verdict:
    kind = job.outcome.kind if job.outcome is not None else "lost"
    if proof.lost:
        message = f"{len(proof.lost):,} files were deleted that the table reaches, the first: {proof.lost[0]}; nothing more is done to this table"
        return Verdict(JobState.FAILED, FailureReason.UNPROVED, message)
    if kind == "lost":
        reason = job.outcome.reason if job.outcome is not None else None
        return Verdict(JobState.FAILED, reason or FailureReason.LOST_RUNNER, f"Spark was lost; what is left of the list is looked at again. {effect.sentence}")
    if kind != "finished":
        return conclude(job, effect)
    if not is_told:
        return Verdict(JobState.FAILED, FailureReason.UNPROVED, f"Spark did not tell which files the table reaches. {effect.sentence}")
    if proof.left:
        return Verdict(JobState.FAILED, FailureReason.UNPROVED, f"Spark reported success, and its log has the reason why files are left. {effect.sentence}")
    return Verdict(JobState.SUCCEEDED)


def _conclude_untold(job: Job, sentence: str) -> Verdict:
    if job.outcome is not None and job.outcome.kind == "finished":
        return Verdict(JobState.FAILED, FailureReason.UNPROVED, sentence)
    reason = job.outcome.reason if job.outcome is not None else None
    return Verdict(JobState.FAILED, reason or FailureReason.LOST_RUNNER, sentence)


def _close(ports: Ports, job: Job, approved: ApprovedList, effect: Effect) -> None:
    """The list is carried out; a later look has superseded it at most."""
    orphans = ports.store.orphan_list(approved.list_id)
    if orphans is None or orphans.state is OrphanListState.REMOVED:
        return
    done = {"removed_by": job.job_id, "removed_at": ports.clock.now(), "removed_files": effect.orphans_removed, "removed_bytes": effect.orphan_bytes_removed}
    ports.store.update_orphan_list(replace(orphans, state=OrphanListState.REMOVED, **done), orphans)  # type: ignore[arg-type]  # its fields by name
