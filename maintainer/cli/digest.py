"""Measuring with Spark's help: what is unread of a table is read there first, in the foreground."""

from __future__ import annotations

from collections.abc import Sequence

from maintainer.adapters.spark.prerequisites import refuse_missing
from maintainer.adapters.spark.statements import main_statement
from maintainer.app import App
from maintainer.cli.console import make_console, say
from maintainer.cli.once import follow_job, settle_left_jobs
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.reading import DigestManifests
from maintainer.steps.digest import defer
from maintainer.steps.scan import find_unread


def read_on_spark(app: App, tables: Sequence[TableIdentifier]) -> None:
    """Have the unread manifests of each table read on Spark; what Spark does not read is read here
    by the measurement that follows, and that is said.
    """
    refuse_missing(app.ports.runner.describe())
    for table in tables:
        settle_left_jobs(app.ports, table)
        unread = find_unread(app.ports, table)
        if unread is None:
            say(f"{table}: nothing is unread that Spark could read")
            continue
        job = defer(app.ports, unread, "person")
        if job is None or not isinstance(job.action, DigestManifests):
            say(
                f"{table}: job {job.job_id if job is not None else '?'} is under way on it; its "
                f"manifests are read here"
            )
            continue
        say(f"{table}: {job.reason}: {main_statement(table, job.action)}")
        say(_describe(_follow(app, job)))


def _follow(app: App, job: Job) -> Job:
    with make_console(is_error=True).status(f"job {job.job_id}") as status:

        def note(current: Job) -> None:
            figures = f", {current.progress.sentence}" if current.progress.sentence else ""
            status.update(
                f"job {current.job_id}: {current.progress.phase or current.state}{figures}"
            )

        return follow_job(app.ports, job, note)[-1]


def _describe(job: Job) -> str:
    took = f" in {job.duration.total_seconds():.1f} s" if job.duration is not None else ""
    if job.state is JobState.SUCCEEDED:
        return f"{job.table}: job {job.job_id} read them on Spark{took}"
    return (
        f"warning: {job.table}: Spark did not read them ({job.state}: {job.failure_message}); "
        f"what is unread is read here"
    )
