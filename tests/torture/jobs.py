"""Did every job end, in a state that its table bears out, and does the audit log explain every
commit of ours?
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from re import compile as compile_regex
from typing import Any

from maintainer.domain.job import JOBS_MARK
from tests.torture.check import Checked, Fault
from tests.torture.lake import CATALOG
from tests.torture.reading import TableReading

OUR_NAME = "iceberg-maintainer-"  # so the daemon's applications are called
UNTOLD = (
    "Spark was lost",
    "the catalog did not say",
)  # so a success begins that the table alone tells of
FINAL = frozenset({"succeeded", "failed", "cancelled"})
# Between the clocks of two processes of one machine, and of milliseconds that are rounded.
TOLERANCE = timedelta(seconds=1)
_PARTIAL = compile_regex(r"'partial-progress\.enabled',\s*'true'")
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OurCommit:
    """A snapshot that carries the name of the daemon's Spark."""

    table: str
    snapshot_id: str
    at: datetime
    replaced: int = 0  # files, of data or of deletes
    jobs: tuple[str, ...] = ()  # that its summary names


def find_our_commits(readings: Mapping[str, TableReading]) -> list[OurCommit]:
    """All of them, in every table."""
    return [
        OurCommit(
            f"{CATALOG}.{table}",
            str(snapshot["snapshot-id"]),
            datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC),
            _count_replaced(snapshot),
            tuple(snapshot["summary"].get(JOBS_MARK, "").split(",")),
        )
        for table, reading in readings.items()
        for snapshot in reading.snapshots
        if snapshot["summary"].get("app-name", "").startswith(OUR_NAME)
    ]


def _count_replaced(snapshot: Mapping[str, Any]) -> int:
    return sum(
        int(snapshot["summary"].get(key, 0))
        for key in ("deleted-data-files", "removed-delete-files")
    )


def check_jobs(
    checked: Checked,
    jobs: Sequence[Entry],
    audit: Sequence[Entry],
    readings: Mapping[str, TableReading],
) -> None:
    """Every job ended, once, as the audit log has it; every commit of ours is of exactly one job,
    and every commit of a job is there.
    """
    ours = find_our_commits(readings)
    ends = [entry for entry in audit if entry["deed"] == "job.ended"]
    checked.add(
        Fault.JOB_NOT_ENDED,
        "jobs",
        (
            f"{job['job_id']} on {job['table']} is {job['state']}"
            for job in jobs
            if job["state"] not in FINAL
        ),
    )
    checked.add(Fault.JOB_UNTRUE, "jobs", _compare_ends(jobs, ends))
    checked.add(Fault.JOB_UNTRUE, "commits", _compare_commits(ends, ours, _find_partial(audit)))
    checked.add(Fault.JOB_UNTRUE, "halves", _find_halves(jobs, ends, ours, _find_partial(audit)))
    checked.add(Fault.COMMIT_UNEXPLAINED, "commits", _find_unexplained(ends, ours))
    checked.add(Fault.COMMIT_UNEXPLAINED, "statements", _find_untold(audit))
    checked.add(Fault.JOB_UNTRUE, "one at a time", _find_overlaps(audit))


def _compare_ends(jobs: Sequence[Entry], ends: Sequence[Entry]) -> Iterator[str]:
    told: dict[str, list[str]] = defaultdict(list)
    for entry in ends:
        told[entry["job_id"]].append(entry["fields"]["state"])
    for job in jobs:
        if job["state"] in FINAL and told[job["job_id"]] != [job["state"]]:
            yield (
                f"{job['job_id']} is {job['state']}, and the audit log has its end as "
                f"{told[job['job_id']] or 'nothing'}"
            )


def _find_untold(audit: Sequence[Entry]) -> list[str]:
    """Jobs with commits whose statement the audit log does not have."""
    told = {job_id for job_id, _ in _read_statements(audit)}
    committed = (
        entry for entry in audit if entry["deed"] == "job.ended" and entry["fields"]["commits"]
    )
    return [
        f"{entry['job_id']} has commits, and the audit log not its statement"
        for entry in committed
        if entry["job_id"] not in told
    ]


def _find_partial(audit: Sequence[Entry]) -> set[str]:
    """The jobs that commit as they go: what they have committed stays when they fail."""
    return {job_id for job_id, statement in _read_statements(audit) if _PARTIAL.search(statement)}


def _read_statements(audit: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """(job, statement): what was handed over, written down before Spark had it."""
    for entry in audit:
        if entry["deed"] == "job.submitted":
            yield from (
                (entry["job_id"], str(statement))
                for statement in entry["fields"].get("statements", ())
            )


def _compare_commits(
    ends: Sequence[Entry], ours: Sequence[OurCommit], partial: set[str]
) -> Iterator[str]:
    known = {(commit.table, commit.snapshot_id) for commit in ours}
    for entry in ends:
        fields = entry["fields"]
        missing = [commit for commit in fields["commits"] if (entry["table"], commit) not in known]
        if missing:
            yield (
                f"{entry['job_id']} claims {', '.join(missing)}, and {entry['table']} has no "
                f"such snapshot of ours"
            )
        if fields["state"] == "failed" and fields["commits"] and entry["job_id"] not in partial:
            yield (
                f"{entry['job_id']} failed, and yet {entry['table']} has its commit "
                f"{', '.join(fields['commits'])}: {fields.get('message')}"
            )


def _find_halves(
    jobs: Sequence[Entry], ends: Sequence[Entry], ours: Sequence[OurCommit], partial: set[str]
) -> Iterator[str]:
    """Jobs that commit as they go, that were called a success although Spark did not live to say
    so, and that came to a part of their files.
    """
    replaced = {(commit.table, commit.snapshot_id): commit.replaced for commit in ours}
    claimed = {
        entry["job_id"]: [(entry["table"], commit) for commit in entry["fields"]["commits"]]
        for entry in ends
    }
    for job in jobs:
        if (
            job["state"] != "succeeded"
            or job["job_id"] not in partial
            or not any(word in job["failure_message"] for word in UNTOLD)
        ):
            continue
        done = sum(replaced.get(commit, 0) for commit in claimed.get(job["job_id"], ()))
        if done < job["estimate"]["items_before"] - job["estimate"]["error_bound"]:
            yield (
                f"{job['job_id']} succeeded with {done} of {job['estimate']['items_before']} "
                f"files: {job['failure_message']}"
            )


def _find_unexplained(ends: Sequence[Entry], ours: Sequence[OurCommit]) -> Iterator[str]:
    claims: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in ends:
        for snapshot_id in entry["fields"]["commits"]:
            claims[entry["table"], snapshot_id].append(entry)
    for commit in ours:
        claimed = claims[commit.table, commit.snapshot_id]
        if len(claimed) != 1:
            yield (
                f"{commit.snapshot_id} of {commit.table} at {commit.at:%H:%M:%S} is claimed by "
                f"{len(claimed)} jobs"
            )
        elif claimed[0]["job_id"] not in commit.jobs:
            yield (
                f"{commit.snapshot_id} of {commit.table} is claimed by {claimed[0]['job_id']} "
                f"and names {', '.join(commit.jobs) or 'no job'}"
            )
        elif datetime.fromisoformat(claimed[0]["at"]) + TOLERANCE < commit.at:
            yield (
                f"{commit.snapshot_id} of {commit.table} at {commit.at:%H:%M:%S} came after the "
                f"end of job {claimed[0]['job_id']}"
            )


def _find_overlaps(audit: Sequence[Entry]) -> Iterator[str]:
    """Two jobs that were with Spark on one table at a time."""
    at_work: dict[str, str] = {}
    for entry in sorted(audit, key=lambda entry: (entry["at"], entry["sequence"])):
        table, job_id = entry["table_uuid"], entry["job_id"]
        if entry["deed"] == "job.submitted":
            if table in at_work:
                yield (
                    f"{job_id} was submitted while {at_work[table]} was at work on {entry['table']}"
                )
            at_work[table] = job_id
        elif entry["deed"] == "job.ended" and at_work.get(table) == job_id:
            del at_work[table]
