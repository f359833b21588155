"""Very large tables: a job reads their manifests on Spark, changes nothing, and what it finds lands
in the same digests that a scan reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice

from maintainer.compare.effect import describe_timeout, is_timed_out
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.instants import is_recent
from maintainer.domain.inventory import FaultKind, ManifestDigest, TableFault
from maintainer.domain.job import FailureReason, Job, JobEvent, JobState
from maintainer.domain.plan import Estimate
from maintainer.domain.reading import DigestManifests, FoundManifest, Reading, UnreadManifests
from maintainer.ports.catalog import KeepDigests
from maintainer.ports.store import JobQuery
from maintainer.steps.lease import token_of
from maintainer.steps.ports import Ports
from maintainer.steps.stop import find_stop

RETRY = timedelta(hours=6)  # after Spark failed at a table, its manifests are read here for so long
PRIORITY = 50
BY_SCAN = "scan"  # who asks for a reading when no person does
_DIGESTS_AT_ONCE = 500  # of one transaction
_JOBS_LOOKED_AT = 20  # of one table, for the last reading among them


def defer(ports: Ports, unread: UnreadManifests, requested_by: str = BY_SCAN) -> Job | None:
    """The unfinished job after which the table can be measured: its reading, or another that comes
    first.

    None when its manifests are better read here: Spark cannot reach the catalog, failed at them
    lately, or has read this very snapshot.
    """
    if unread.table.catalog in ports.no_runner:
        return None
    unfinished = ports.store.unfinished_job_of(unread.table_uuid)
    if unfinished is not None:
        return unfinished
    if requested_by == BY_SCAN and _is_in_vain(ports, unread):
        return None
    job = _make_job(ports, unread, requested_by)
    return job if ports.store.add_job(job) else ports.store.unfinished_job_of(unread.table_uuid)


def keep_portions(ports: Ports) -> KeepDigests:
    """What is read of a table before it is read whole, so that a scan that is killed is continued
    by the next one.
    """

    def keep(table_uuid: str, target_bytes: int, digests: Sequence[ManifestDigest]) -> None:
        # What was not kept is only read again, and what is wrong with it or the store is told when
        # the table is recorded.
        with suppress(InvalidValueError, StoreUnavailableError):
            ports.store.add_digests(table_uuid, target_bytes, digests, ports.clock.now())

    return keep


def is_held(ports: Ports, table: TableIdentifier) -> bool:
    """Whether somebody has asked that nothing be started on the table: it is then not read here
    either, but when that is lifted.
    """
    return find_stop(ports, table) is not None


def _is_in_vain(ports: Ports, unread: UnreadManifests) -> bool:
    jobs = ports.store.jobs(JobQuery(table=unread.table, limit=_JOBS_LOOKED_AT)).items
    last = next(
        (
            job
            for job in jobs
            if job.table_uuid == unread.table_uuid and isinstance(job.action, DigestManifests)
        ),
        None,
    )
    if last is None or last.failure_reason is FailureReason.LOST_RUNNER:
        return False
    if last.state is JobState.SUCCEEDED:
        return last.action == _action_of(unread)
    return last.finished_at is not None and is_recent(last.finished_at, RETRY, ports.clock.now())


def _action_of(unread: UnreadManifests) -> DigestManifests:
    return DigestManifests(
        unread.snapshot_id, unread.target_bytes, unread.is_partitioned, unread.has_deletes
    )


def _make_job(ports: Ports, unread: UnreadManifests, requested_by: str) -> Job:
    return Job(
        job_id=ports.new_id(),
        table=unread.table,
        table_uuid=unread.table_uuid,
        rule=Reading.DIGEST_MANIFESTS,
        action=_action_of(unread),
        findings=(),
        estimate=Estimate(unread.manifests, unread.manifests, 0, 0, note="it only reads"),
        reason=f"{unread.files:,} files in {unread.manifests:,} manifests are to be read to "
        f"measure the table",
        policy_version="",
        priority=PRIORITY,
        requested_by=requested_by,
        created_at=ports.clock.now(),
        memory_gb=ports.admission.memory_gb,
    )


# -- when Spark is done, or gone


@dataclass(frozen=True, slots=True)
class _Landing:
    """How many manifests Spark found, and how many of them are digests now."""

    found: int = 0
    landed: int = 0


def review_reading(ports: Ports, job: Job, action: DigestManifests) -> bool | TableFault:
    """Keep what the job found, each manifest whole, however it ended, and give it its final state;
    the fault while the table cannot be looked at.
    """
    landing = _land(ports, job, action)
    if isinstance(landing, TableFault):
        if landing.kind not in {FaultKind.DROPPED, FaultKind.VIEW}:
            return landing
        landing = _Landing()
    if not ports.store.update_job(
        settled := _conclude(ports, job, landing), job.state, token_of(ports, job)
    ):
        return False
    message = settled.failure_message or f"manifests read: {landing.landed:,}"
    ports.store.append_events(
        [
            JobEvent(
                job.job_id,
                ports.clock.now(),
                "job.reviewed",
                {"state": settled.state.value, "message": message},
            )
        ]
    )
    ports.telemetry.job_finished(settled, None)
    ports.runner.forget(job.job_id)
    return True


def _land(ports: Ports, job: Job, action: DigestManifests) -> _Landing | TableFault:
    found = ports.runner.found(job)
    if found is None:
        return _Landing()
    counted = _Counted(found)
    digests = ports.catalog_of(job.table).digests(
        job.table, action.snapshot_id, action.target_bytes, counted
    )
    if isinstance(digests, TableFault):
        return digests
    landed = 0
    for some in _split(digests):
        ports.store.add_digests(job.table_uuid, action.target_bytes, some, ports.clock.now())
        landed += len(some)
    return _Landing(counted.number, landed)


class _Counted(Iterable[FoundManifest]):
    """Counts what passes."""

    def __init__(self, found: Iterator[FoundManifest]) -> None:
        self._found = found
        self.number = 0

    def __iter__(self) -> Iterator[FoundManifest]:
        for one in self._found:
            self.number += 1
            yield one


def _split(digests: Iterator[ManifestDigest]) -> Iterator[list[ManifestDigest]]:
    while some := list(islice(digests, _DIGESTS_AT_ONCE)):
        yield some


def _conclude(ports: Ports, job: Job, landing: _Landing) -> Job:
    state, reason, message = _judge(job, landing)
    idle = replace(job, progress=replace(job.progress, phase=""))
    return idle.advance(
        state, finished_at=ports.clock.now(), failure_reason=reason, failure_message=message
    )


def _judge(job: Job, landing: _Landing) -> tuple[JobState, FailureReason | None, str]:
    outcome = job.outcome
    kept = (
        f"; manifests that it had read and that are kept: {landing.landed:,}"
        if landing.landed
        else ""
    )
    if outcome is not None and outcome.kind in {"cancelled", "lost"} and is_timed_out(job):
        return JobState.FAILED, FailureReason.TIMEOUT, f"{describe_timeout(job)}{kept}"
    if outcome is None or outcome.kind == "lost":
        return (
            JobState.FAILED,
            FailureReason.LOST_RUNNER,
            f"{outcome.message if outcome is not None else 'its runner was lost'}{kept}",
        )
    if outcome.kind == "cancelled":
        return JobState.CANCELLED, None, f"cancelled{kept}"
    if outcome.kind == "failed":
        return JobState.FAILED, outcome.reason or FailureReason.OTHER, f"{outcome.message}{kept}"
    if landing.found == 0:
        return (
            JobState.FAILED,
            FailureReason.TABLE_CHANGED,
            "Spark found no manifest: the snapshot that was to be read is gone",
        )
    if landing.landed < landing.found:
        message = (
            f"of {landing.found:,} manifests that Spark read {landing.landed:,} can be told as "
            f"our own readers would; the others are read here"
        )
        return JobState.FAILED, FailureReason.UNPROVED, message
    return JobState.SUCCEEDED, None, ""
