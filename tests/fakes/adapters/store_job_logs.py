"""The logs of jobs in the store in memory."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime

from maintainer.domain.driver import JobLog
from maintainer.domain.job import Job
from maintainer.ports.store.jobs import MAX_LOG_CHARACTERS, check_part


@dataclass
class FakeJobLogs:
    """Implements JobLogStore."""

    _logs: dict[str, JobLog] = field(default_factory=dict, kw_only=True)
    _jobs: dict[str, Job] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def append_job_log(self, job_id: str, part: JobLog) -> bool:
        check_part(job_id, part)
        with self._open():
            known = self._logs.get(job_id, JobLog("", 0))
            if part.start != known.next or known.is_complete:
                return False
            text = (known.text + part.text)[-MAX_LOG_CHARACTERS:]
            self._logs[job_id] = replace(part, text=text, start=part.next - len(text))
            return True

    def job_log(self, job_id: str, since: int = 0) -> JobLog | None:
        with self._open():
            known = self._logs.get(job_id)
            if known is None:
                return None
            start = min(known.next, max(since, known.start))
            return replace(known, text=known.text[start - known.start :], start=start)

    def prune_job_logs(self, before: datetime) -> int:
        with self._open():
            kept = {
                job.job_id
                for job in self._jobs.values()
                if not job.state.is_final or job.closed_at >= before
            }
            gone = self._logs.keys() - kept
            for job_id in gone:
                del self._logs[job_id]
            return len(gone)
