"""Judge what a look for orphans has found, and keep the list in the job's story."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from maintainer.domain.effect import Effect
from maintainer.domain.health import TableHealth
from maintainer.domain.job import Job, JobEvent
from maintainer.domain.orphan import FoundOrphans
from maintainer.policy.orphans import MAX_FILES, FoundFile, Judgement, describe_judgement, judge_orphans
from maintainer.steps.ports import Ports

FILES_PER_EVENT = 1000
MAX_KEPT_SHOWN = 100  # of the files that are none to touch


def list_orphans(ports: Ports, job: Job, health: TableHealth, effect: Effect) -> Effect:
    """The effect with what was listed; events hold the list: orphans.judged, then orphans.listed."""
    found = ports.runner.found_orphans(job)
    if found is None:
        return replace(effect, sentence="What was found is not here, or not whole; nothing was listed and nothing deleted.")
    judgement = _judge(ports, job, health, found)
    now = ports.clock.now()
    ports.store.append_events([JobEvent(job.job_id, now, name, fields) for name, fields in _tell(judgement)])
    ports.runner.forget(job.job_id)
    return replace(effect, orphans_listed=len(judgement.orphans), sentence=describe_judgement(judgement))


def _judge(ports: Ports, job: Job, health: TableHealth, found: FoundOrphans) -> Judgement:
    is_bearable = len(found.paths) <= MAX_FILES  # beyond it the list is refused, whatever the sizes
    sizes = ports.catalog_of(job.table).file_sizes(job.table, found.paths) if is_bearable else [None] * len(found.paths)
    files = [FoundFile(path, size) for path, size in zip(found.paths, sizes, strict=True)]
    return judge_orphans(health, files, found.foreign_files, found.counted)


def _tell(judgement: Judgement) -> Iterator[tuple[str, dict[str, object]]]:
    size = sum(file.size_bytes or 0 for file in judgement.orphans)
    kept = [{"path": path, "reason": reason} for path, reason in judgement.kept[:MAX_KEPT_SHOWN]]
    verdict = {"refusal": judgement.refusal, "warning": judgement.warning}
    yield "orphans.judged", {"files": len(judgement.orphans), "bytes": size, "kept_files": len(judgement.kept), "kept": kept, **verdict}
    for start in range(0, min(len(judgement.orphans), MAX_FILES), FILES_PER_EVENT):
        yield "orphans.listed", {"files": [[file.path, file.size_bytes] for file in judgement.orphans[start : start + FILES_PER_EVENT]]}
