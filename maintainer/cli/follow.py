"""Follow a job that a command has requested to its end, and print its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from maintainer.cli import show_jobs
from maintainer.cli.console import make_console
from maintainer.cli.once import follow_job
from maintainer.domain.job import Job

if TYPE_CHECKING:
    from maintainer.app import App  # takes seconds to import


def follow(app: App, job: Job) -> list[Job]:
    """Run the job, and the other jobs of its request, to their ends.

    Their progress is printed on standard error.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=make_console(is_error=True), transient=True) as progress:
        tasks = {job.job_id: progress.add_task(str(job.rule), total=1)}

        def note(current: Job) -> None:
            task = tasks.get(current.job_id)
            if task is None:
                task = tasks[current.job_id] = progress.add_task(str(current.rule), total=1)
            phase = current.progress.phase or current.state
            now = current.progress
            words = f"{current.rule}: {phase}{f', {now.sentence}' if now.sentence else ''}"
            progress.update(task, description=words, completed=now.share)

        return follow_job(app.ports, job, note)


def print_job(job: Job) -> None:
    """Print the job's result."""
    console = make_console()
    took = f" in {job.duration.total_seconds():.1f} s" if job.duration is not None else ""
    console.print(f"[bold]{job.rule}[/bold] on {escape(str(job.table))}: {job.state}{took}")
    if job.effect is not None:
        console.print(show_jobs.effect_table(job.effect.before, job.effect.after), crop=False)
        console.print(f"{escape(job.effect.sentence)} {show_jobs.ROW_PROOFS[job.effect.rows]}.")
        if job.effect.difference:
            console.print(escape(job.effect.difference))
    if job.estimate_errors:
        console.print(
            f"Estimate and actual: "
            f"{'; '.join(show_jobs.describe_error(error) for error in job.estimate_errors)}."
        )
    if job.failure_message:
        console.print(escape(job.failure_message))
