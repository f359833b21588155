"""A process beside the tests: ``writer.py fill URL`` adds jobs until it is killed, ``writer.py
rival URL NAME`` tries to be the one that adds a job.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from maintainer.adapters.store import open_store
from maintainer.domain.job import JobEvent, JobState
from tests.adapters.store.values import NOW, make_grade, make_health, make_job, succeeded


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def fill(url: str) -> None:
    """Whole stories of jobs, one line when each is complete."""
    store = open_store(url)
    for number in count():
        job = make_job(f"job-{number}", table_uuid=f"uuid-{number}")
        store.record_health(make_health(table_uuid=job.table_uuid), make_grade())
        store.add_job(job)
        store.append_events(JobEvent(job.job_id, NOW, "spark.progress", {"n": n}) for n in range(5))
        store.update_job(succeeded(job, NOW), JobState.PENDING)
        say(number)


def rival(url: str, name: str) -> None:
    """One attempt per line of standard input."""
    store = open_store(url)
    say("ready")
    for line in sys.stdin:
        say(
            int(
                store.add_job(make_job(f"{name}-{line.strip()}", table_uuid=f"uuid-{line.strip()}"))
            )
        )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fill", url]:
            fill(url)
        case ["rival", url, name]:
            rival(url, name)
        case other:
            sys.exit(f"not understood: {other}")
