"""`maintainer plan`: a dry run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from maintainer.cli.output import show
from maintainer.cli.output.console import EXIT_FAILED, OutputFormat, print_json, print_list, say
from maintainer.cli.output.policy_warnings import warn_of_policies
from maintainer.cli.output.rows import Rows
from maintainer.cli.output.show import NOTHING_WAITS, Waits
from maintainer.cli.state import Config, Format, Tables, load, open_app
from maintainer.cli.tables.choose import choose_tables, find_known, refuse_unknown
from maintainer.decide.explanation import explain_admission, write_next_check
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.plan import Plan, SkipCode, SkippedRule
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.procedures.registry import call_statement
from maintainer.requests.preview import preview
from maintainer.steps.admission import read_queue

if TYPE_CHECKING:
    from maintainer.app import App


def plan(  # noqa: PLR0913, PLR0917 - each is an option of the command
    tables: Tables = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Show each rule with its statement, cost and rank. This is the default if tables "
            "are named.",
        ),
    ] = False,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="FILE|DIR|-",
            help="Show which decisions this policy would change, from the last scan.",
        ),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="With --policy: measure the tables concerned first.")
    ] = False,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Dry run: what would run, what would not, and why. Changes nothing."""
    with open_app(load(config)) as app:
        if policy is not None:
            from maintainer.cli.tables.candidate import preview_policy  # noqa: PLC0415 - slow

            preview_policy(app, policy, tables or [], output, is_fresh=measure)
            return
        choice = choose_tables(app.ports, tables or [])
        plans, faults = _preview_all(app, choice.tables, tables or [])
        waits = {
            (decision.candidate.table, decision.candidate.rule): decision
            for decision in read_queue(app.ports)
        }
        if output is OutputFormat.JSON:
            from maintainer.api.wire import write_plan  # noqa: PLC0415 - as in commands

            print_json([write_plan(made, waits.values()).model_dump(mode="json") for made in plans])
        elif tables or verbose:
            print_list(plan_details(plans, waits))
        else:
            print_list(plan_summary(plans, waits))
            say("details: name a table, or give -v")
        warn_of_policies(app.ports)
        for fault in faults:
            say(f"warning: {fault.table} cannot be measured ({fault.kind}): {fault.reason}")
        if faults or not choice.is_whole:
            raise typer.Exit(EXIT_FAILED)


def _preview_all(
    app: App, tables: list[TableIdentifier], names: list[str]
) -> tuple[list[Plan], list[TableFault]]:
    known = find_known(app.ports, tables)
    made = [preview(app.ports, table) for table in tables]
    faults = [one for one in made if isinstance(one, TableFault) and one.kind is not FaultKind.VIEW]
    refuse_unknown(app.ports, names, faults, known)
    return [one for one in made if isinstance(one, Plan)], faults


def plan_summary(plans: Sequence[Plan], waits: Waits = NOTHING_WAITS) -> Rows:
    """Return a row for each rule that is planned, or would be in enforce mode.

    A table without any has one row with its skip codes.
    """
    rows = Rows(("table", "rule", "starts", "why"), below="why")
    for plan in plans:
        name = str(plan.table)
        for planned in plan.planned:
            admission = waits.get((plan.table, planned.rule))
            why = Text(planned.reason)
            if admission is not None and admission.wait is not None:
                why.append("\n" + explain_admission(admission), style="yellow")
            rows.add_row(name, Text(planned.rule.value, style="bold"), _write_turn(admission), why)
            name = ""
        observed = [one for one in plan.skipped if one.code is SkipCode.OBSERVE_ONLY]
        for skipped in observed:
            why = Text("\n".join((skipped.reason, *show.weigh(skipped.cost, None))), style="dim")
            rows.add_row(name, Text(skipped.rule.value), "would, if enforced", why)
            name = ""
        if not plan.planned and not observed:
            rows.add_row(
                name,
                Text("nothing planned", style="dim"),
                Text("-", style="dim"),
                Text(_count_codes(plan.skipped), style="dim"),
            )
    return rows


def _count_codes(skipped: Sequence[SkippedRule]) -> str:
    """List the skipped rules by code: ``below_threshold: rewrite_manifests, expire_snapshots``."""
    rules: dict[str, list[str]] = {}
    for one in skipped:
        rules.setdefault(one.code.value, []).append(one.rule.value)
    return "; ".join(f"{code}: {', '.join(names)}" for code, names in rules.items())


def plan_details(plans: Sequence[Plan], waits: Waits = NOTHING_WAITS) -> Rows:
    """Return a row for each rule: the decision, its reason, its statement, and the next check."""
    rows = Rows(("table", "rule", "verdict", "next check", "why"), below="why")
    for plan in plans:
        name = str(plan.table)
        for planned in plan.planned:
            admission = waits.get((plan.table, planned.rule))
            lines = [
                *show.weigh(planned.cost, planned.score, planned.estimate),
                *([] if plan.pool == DEFAULT_POOL else [f"runs in pool {plan.pool}"]),
                call_statement(plan.table, planned.action),
            ]
            why = Text(planned.reason)
            if admission is not None and admission.wait is not None:
                why.append("\n" + explain_admission(admission), style="yellow")
            why.append("\n" + "\n".join(lines), style="dim")
            rows.add_row(
                name,
                planned.rule.value,
                Text("planned", style="bold green"),
                _write_turn(admission),
                why,
            )
            name = ""
        for skipped in plan.skipped:
            why = Text(skipped.reason)
            if skipped.would_do is not None:
                lines = [
                    *show.weigh(skipped.cost, skipped.score, skipped.estimate),
                    call_statement(plan.table, skipped.would_do),
                ]
                why.append("\n" + "\n".join(lines), style="dim")
            rows.add_row(
                name,
                skipped.rule.value,
                Text(skipped.code.value, style="dim"),
                Text(write_next_check(skipped.next_at), style="dim"),
                why,
            )
            name = ""
    return rows


def _write_turn(admission: AdmissionDecision | None) -> str:
    """Say when the planned action starts, as far as admission decides this."""
    if admission is None or admission.wait is None:
        return "now"
    return (
        write_next_check(admission.wait.next_at)
        if admission.wait.next_at is not None
        else "when its turn comes"
    )
