"""The leases of the store in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import RuleHistory
from maintainer.domain.replica import Lease
from tests.fakes.adapters.store_admission import FakeAdmission


@dataclass
class FakeLeases(FakeAdmission):
    """Implements LeaseStore."""

    _held: dict[str, Lease] = field(default_factory=dict, kw_only=True)  # by table UUID
    _tokens: Counter[str] = field(default_factory=Counter, kw_only=True)

    _handed: dict[str, Sequence[str]] = field(
        default_factory=dict, kw_only=True
    )  # the statements of the job that is being handed over

    def _update_job(
        self,
        job: Job,
        expected: JobState | Job,
        token: int | None = None,
        learnt: RuleHistory | None = None,
    ) -> bool:
        raise NotImplementedError

    def submit_job(
        self, job: Job, expires_at: datetime, statements: Sequence[str] = ()
    ) -> Lease | None:
        with self._open():
            self._handed = {job.job_id: statements}
            return (
                self._give(job, job.owner, expires_at)
                if self._update_job(job, JobState.PENDING)
                else None
            )

    def leases(self) -> Sequence[Lease]:
        with self._open():
            return tuple(self._held[uuid] for uuid in sorted(self._held))

    def renew_lease(self, lease: Lease, expires_at: datetime) -> Lease | None:
        with self._open():
            held = self._held.get(lease.table_uuid)
            if held is None or (held.token, held.holder) != (lease.token, lease.holder):
                return None
            self._held[lease.table_uuid] = replace(held, expires_at=expires_at)
            return self._held[lease.table_uuid]

    def take_lease(
        self, job: Job, before: Lease | None, holder: str, expires_at: datetime
    ) -> Lease | None:
        with self._open():
            stored = self._jobs.get(job.job_id)
            if stored is None or stored.state.is_final or self._held.get(job.table_uuid) != before:
                return None
            return self._give(job, holder, expires_at)

    def lay_down_leases(self, holder: str, expired_at: datetime) -> int:
        with self._open():
            theirs = [
                lease
                for lease in self._held.values()
                if lease.holder == holder and lease.expires_at > expired_at
            ]
            self._held |= {
                lease.table_uuid: replace(lease, expires_at=expired_at) for lease in theirs
            }
            return len(theirs)

    def _give(self, job: Job, holder: str, expires_at: datetime) -> Lease:
        self._tokens[job.table_uuid] += 1
        self._held[job.table_uuid] = Lease(
            job.table_uuid, job.job_id, holder, self._tokens[job.table_uuid], expires_at
        )
        return self._held[job.table_uuid]

    def _may_move(self, job: Job, token: int | None) -> bool:
        held = self._held.get(job.table_uuid)
        return held is None or held.job_id != job.job_id or held.token == token

    def _end_lease(self, job: Job) -> None:
        held = self._held.get(job.table_uuid)
        if held is not None and held.job_id == job.job_id:
            del self._held[job.table_uuid]
