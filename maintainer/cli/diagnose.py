"""`maintainer doctor`: ask everything that the daemon needs whether it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from maintainer.api.page import PAGE_DIRECTORY
from maintainer.app import App, open_app
from maintainer.cli.rows import Rows
from maintainer.domain.errors import MaintainerError
from maintainer.policy.ambiguity import find_ambiguities
from maintainer.settings import Settings

Finding = tuple[str, bool, str]


def diagnose(settings: Settings, console: Console) -> bool:
    """Print one row a thing; True when all is fine."""
    findings: list[Finding] = []
    try:
        with open_app(settings) as app:
            findings += _ask_everything(app)
    except MaintainerError as error:
        findings.append(("store", False, str(error)))
    table = Rows(("what", "", "finding"))
    for what, is_fine, sentence in findings:
        table.add_row(escape(what), Text("ok", style="green") if is_fine else Text("FAILED", style="bold red"), Text(sentence))
    console.print(table)
    return all(is_fine for _, is_fine, _ in findings)


def _ask_everything(app: App) -> Iterator[Finding]:
    yield from app.ports.runner.describe()
    for name, catalog in app.ports.catalogs.items():
        yield _ask(f"catalog {name}", catalog.ping)
    for name, reason in app.ports.no_runner.items():
        yield f"catalog {name} in Spark", False, f"{reason}; its tables are measured, and nothing is run on them"
    yield _ask("store", app.ports.store.describe)
    policies = app.ports.policies.current()
    problems = (*policies.problems, *find_ambiguities(policies))
    yield from (("policy", problem.is_note, f"{problem.source}: {problem.message}") for problem in problems)
    if all(problem.is_note for problem in problems):
        yield "policies", True, f"{len(policies.layers)} layers, those of files from {app.settings.policies}"
    if (PAGE_DIRECTORY / "index.html").is_file():
        yield "web page", True, "built"
    else:
        yield "web page", False, "not built; `make web` builds it (the API works without it)"


def _ask(what: str, question: Callable[[], str]) -> Finding:
    try:
        return what, True, question()
    except MaintainerError as error:
        return what, False, str(error)
