"""Divides the log of a driver among its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.adapters.spark.driver.job import begin_line, end_line
from maintainer.domain.job_log import JobLog
from maintainer.ports.store.jobs import MAX_LOG_CHARACTERS, JobLogStore

_LAST_ROUNDS = 3  # readings after a job's end, in which its last line may appear


@dataclass(slots=True)
class Share:
    """One job's share of the log."""

    job_id: str
    has_begun: bool  # if false, the share begins with the line that begins the job
    is_known: bool = False  # the stored part has been read
    next: int = 0  # where the stored part ends
    waiting: str = ""  # text that is not yet stored
    rounds_left: int | None = None  # None: the job has not ended
    is_complete: bool = False

    def resume(self, store: JobLogStore) -> int:
        """Continue after the stored part; return its end in the driver's log, or 0."""
        known = store.job_log(self.job_id)
        self.is_known = True
        if known is None:
            return 0
        self.has_begun, self.next, self.is_complete = True, known.next, known.is_complete
        return known.source

    def take(self, text: str) -> None:
        """Take the lines that belong to the job."""
        if not self.has_begun:
            _, first, rest = text.partition(begin_line(self.job_id))
            self.has_begun, text = bool(first), first + rest
        mine, last, _ = text.partition(end_line(self.job_id))
        if not self.is_complete:
            self.waiting += mine + last
        self.is_complete |= bool(last)

    def end(self) -> None:
        if self.rounds_left is None:
            self.rounds_left = _LAST_ROUNDS

    def note_round(self, *, is_over: bool) -> None:
        """Record that the log was read to its end; `is_over`: the driver writes no more."""
        if self.rounds_left is not None:
            self.rounds_left -= 1
        self.is_complete |= is_over or self.rounds_left == 0

    def store(self, store: JobLogStore, source: int) -> bool:
        """Store the waiting text; False if another process stores the rest of the log."""
        while self.waiting or self.is_complete:
            text, rest = self.waiting[:MAX_LOG_CHARACTERS], self.waiting[MAX_LOG_CHARACTERS:]
            is_last = self.is_complete and not rest
            part = JobLog(text, self.next, is_last, source)
            if not store.append_job_log(self.job_id, part):
                return False
            self.next, self.waiting = part.next, rest
            if is_last:
                break
        return True
