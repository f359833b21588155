"""`maintainer suggest`: write a policy for one table from its own history."""

from __future__ import annotations

import typer

from maintainer.adapters.policies.reading import parse_policy
from maintainer.api.policies import SuggestedPolicyOut
from maintainer.cli.output.console import OutputFormat, print_json, say
from maintainer.cli.state import Config, Format, TableName, load, open_app
from maintainer.cli.tables.choose import measure_named
from maintainer.decide.suggestion import SuggestedPolicy, write_suggestion
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan
from maintainer.domain.policy import Mode, PolicyLayer
from maintainer.requests.preview import preview
from maintainer.requests.preview import suggest as suggest_from_history


def suggest(
    table: TableName,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Write a policy for one table from its own history, with the figure behind each value."""
    with open_app(load(config)) as app:
        name = TableIdentifier.parse(table)
        record = app.ports.store.table(name)
        known = None if record is None else record.health
        suggested = suggest_from_history(app.ports, known or measure_named(app.ports, name).health)
        text = write_suggestion(suggested)
        if output is OutputFormat.JSON:
            print_json(SuggestedPolicyOut.of(suggested, yaml=text).model_dump(mode="json"))
            return
        typer.echo(text, nl=False)
        layer = parse_policy(write_suggestion(suggested, Mode.ENFORCE), "suggested.yaml")
        made = preview(app.ports, name, layer) if isinstance(layer, PolicyLayer) else None
        if isinstance(made, Plan):
            _say_effect(made, suggested)


def _say_effect(plan: Plan, suggested: SuggestedPolicy) -> None:
    """Say what each suggested rule would do now if the policy enforced."""
    rules = {value.path.split(".")[1] for value in suggested.values if "." in value.path}
    for planned in plan.planned:
        if planned.rule in rules:
            say(f"{planned.rule.value} would run now: {planned.reason}")
    for skipped in plan.skipped:
        if skipped.rule in rules:
            say(f"{skipped.rule.value} would not run now ({skipped.code}): {skipped.reason}")
