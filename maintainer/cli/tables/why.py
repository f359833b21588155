"""`maintainer why`: explain a table's band, verdicts, recent jobs and earlier verdicts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from maintainer.cli.output.console import OutputFormat, make_console, print_json
from maintainer.cli.output.policy_warnings import warn_of_policies
from maintainer.cli.output.rows import Rows
from maintainer.cli.output.show import (
    BAND_STYLES,
    Waits,
    jobs_table,
    weigh,
    write_time,
)
from maintainer.cli.state import Config, Format, TableName, load, open_app
from maintainer.cli.tables.choose import measure_named
from maintainer.decide.explanation import give_verdicts, write_next_check
from maintainer.domain.errors import MaintainerError
from maintainer.domain.health import Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.plan import PLANNED, Plan, RuleVerdict
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.preview import preview
from maintainer.steps.admission import waits_of

if TYPE_CHECKING:
    from maintainer.app import App

JOBS_SHOWN = 5
VERDICTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Answer:
    table: TableIdentifier
    grade: Grade
    plan: Plan
    jobs: tuple[Job, ...]
    history: tuple[RuleVerdict, ...]
    waits: Waits


def why(
    table: TableName,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Explain one table: its health, each rule's decision and reason, recent jobs, earlier
    decisions.
    """
    with open_app(load(config)) as app:
        answer = _find_answer(app, TableIdentifier.parse(table))
        warn_of_policies(app.ports)
    if output is OutputFormat.JSON:
        print_json(_answer_json(answer))
    else:
        _print_answer(make_console(), answer)


def _find_answer(app: App, table: TableIdentifier) -> _Answer:
    """Return the current verdicts and the stored data; an unknown table is measured first."""
    store = app.ports.store
    record = store.table(table)
    if record is None or record.grade is None:
        measure_named(app.ports, table)
        record = store.table(table)
    made = preview(app.ports, table)
    if isinstance(made, TableFault) or record is None or record.grade is None:
        measure_named(app.ports, table)
        raise MaintainerError(f"table {table} changed while it was measured; try again")
    jobs = store.jobs(JobQuery(table=table, limit=JOBS_SHOWN)).items
    waits = {(table, verdict.candidate.rule): verdict for verdict in waits_of(app.ports, table)}
    return _Answer(
        table, record.grade, made, jobs, store.verdicts(table, VERDICTS_SHOWN).items, waits
    )


def _print_answer(console: Console, answer: _Answer) -> None:
    grade = answer.grade
    since = f" since {_write_time(grade.entered_at)}" if grade.entered_at is not None else ""
    before = f", before that {grade.came_from}" if grade.came_from is not None else ""
    console.print(
        f"[bold]{escape(str(answer.table))}[/bold] is "
        f"[{BAND_STYLES[grade.band]}]{grade.band}[/]{since}{before}"
    )
    console.print(Text(grade.reason))
    shown = Rows(("rule", "verdict", "next check", "why"), below="why")
    for verdict in give_verdicts(answer.plan):
        next_look = "now" if verdict.code == PLANNED else write_next_check(verdict.next_at)
        style = "bold green" if verdict.code == PLANNED else "dim"
        shown.add_row(
            verdict.rule.value,
            Text(verdict.code, style=style),
            Text(next_look, style="dim"),
            "\n".join([verdict.sentence, *weigh(verdict.cost, verdict.score, verdict.estimate)]),
        )
    _print_part(console, "Current decisions", shown)
    if answer.jobs:
        _print_part(console, "Recent jobs and their results", jobs_table(answer.jobs))
    if answer.history:
        _print_part(console, "Earlier decisions", _history_table(answer.history))


def _print_part(console: Console, title: str, content: Rows) -> None:
    console.print(f"\n[bold]{title}[/bold]")
    console.print(content, crop=False)


def _write_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _history_table(history: tuple[RuleVerdict, ...]) -> Rows:
    shown = Rows(("rule", "verdict", "from", "until", "why"), below="why")
    for verdict in history:
        until = "now" if verdict.until is None else _write_time(verdict.until)
        shown.add_row(
            verdict.rule.value, verdict.code, _write_time(verdict.at), until, verdict.sentence
        )
    return shown


def _answer_json(answer: _Answer) -> dict[str, object]:
    # as in commands
    from maintainer.api.wire import write_plan, write_verdict  # noqa: PLC0415

    grade = answer.grade
    return {
        "table": str(answer.table),
        "band": grade.band,
        "band_since": write_time(grade.entered_at) if grade.entered_at is not None else None,
        "previous_band": grade.came_from,
        "reason": grade.reason,
        "findings": [asdict(finding) for finding in grade.findings],
        "plan": write_plan(answer.plan, answer.waits.values()).model_dump(mode="json"),
        "verdicts": [write_verdict(one).model_dump(mode="json") for one in answer.history],
        "jobs": [_job_json(job) for job in answer.jobs],
    }


def _job_json(job: Job) -> dict[str, object]:
    result = job.failure_message or (job.effect.sentence if job.effect is not None else "")
    return {
        "job": job.job_id,
        "rule": job.rule,
        "state": job.state,
        "created_at": write_time(job.created_at),
        "reason": job.reason,
        "result": result,
    }
