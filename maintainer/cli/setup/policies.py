"""`maintainer policies`: validate, explain, compare and import policies, and print the schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.model import write_policy_schema
from maintainer.adapters.policies.polaris_content import read_policies, write_file
from maintainer.adapters.policies.reading import parse_policy
from maintainer.cli.output.console import (
    EXIT_FAILED,
    EXIT_USAGE,
    OutputFormat,
    echo,
    join,
    print_json,
    print_list,
    say,
)
from maintainer.cli.output.rows import Rows
from maintainer.cli.state import Config, Format, TableName, load, open_app, open_known
from maintainer.domain.errors import ConfigurationError, StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import PolicyProblem, PolicySet
from maintainer.domain.units import format_count
from maintainer.policy.ambiguity import describe_ambiguity, find_ambiguities, find_unknown_pools
from maintainer.policy.effective import effective
from maintainer.policy.unmatched import find_unmatched
from maintainer.policy.writing import describe
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.requests.policy_status import CURRENT, compare_versions, find_idle_patterns

if TYPE_CHECKING:
    from maintainer.settings import Settings

DEFAULT_VERSIONS = 20
MAX_ANSWER_CHARACTERS = 1_000_000  # the longest answer of Polaris that is read

policies_app = typer.Typer(
    help="Policies: validate them, explain them, compare their versions, print their schema.",
    no_args_is_help=True,
)
import_app = typer.Typer(
    help="Write policies of other systems as policy files.", no_args_is_help=True
)
policies_app.add_typer(import_app, name="import")


@policies_app.command("check")
def check_policies(
    directory: Annotated[
        Path | None, typer.Argument(help="A policy directory (default: the configured one).")
    ] = None,
    config: Config = None,
) -> None:
    """Validate policy files. Exit 2 if a file has a problem (printed as file:line), or if there is
    no file; exit 1 if a table's name matches no table.
    """
    settings = load(config) if directory is None or config is not None else None
    place = directory or (settings.policies if settings else Path())
    policies = PolicyDirectory(place).current()
    pools = settings.spark.every_pool if settings is not None else None
    tables, idle = _compare_with_tables(settings, policies)
    problems = (
        *policies.problems,
        *(() if pools is None else find_unknown_pools(policies.layers, pools)),
        *find_ambiguities(policies, tables),
    )
    for problem in problems:
        echo(f"{problem.source}: {problem.message}", is_error=True)
    for pattern in idle:
        note = "note: " if pattern.is_note else ""
        echo(f"{note}{pattern.source}: {pattern.message}", is_error=True)
    if problems:
        raise typer.Exit(EXIT_USAGE)
    if not all(pattern.is_note for pattern in idle):
        raise typer.Exit(EXIT_FAILED)
    if not policies.layers:
        raise ConfigurationError(f"{place} has no policy files; they are named *.yaml or *.yml")
    verb = "is" if len(policies.layers) == 1 else "are"
    echo(
        f"{format_count(len(policies.layers), 'policy file')} {verb} valid: "
        f"{join([layer.name for layer in policies.layers])}"
    )


def _compare_with_tables(
    settings: Settings | None, policies: PolicySet
) -> tuple[Sequence[TableIdentifier], tuple[PolicyProblem, ...]]:
    """Return the known tables, and the patterns that select none of them.

    Without a store, only patterns for a catalog that is not configured are found.
    """
    if settings is None or not policies.layers:
        return (), ()
    layers, catalogs = policies.layers, settings.catalogs
    try:
        with open_known(settings) as store:
            if store is not None:
                return store.table_names(), find_idle_patterns(store, layers, catalogs)
    except StoreUnavailableError as error:
        say(
            f"warning: only equal patterns were compared, because the known tables cannot be "
            f"read: {error}"
        )
    return (), find_unmatched(layers, (), catalogs, ())


@policies_app.command("explain")
def explain_policy(
    table: TableName, output: Format = OutputFormat.TABLE, config: Config = None
) -> None:
    """Show the policy that governs a table, with the file and line, property or default that each
    value comes from.
    """
    from maintainer.cli.tables.choose import measure_named  # noqa: PLC0415 - only to measure

    identifier = TableIdentifier.parse(table)
    with open_app(load(config)) as app:
        properties = measure_named(app.ports, identifier).health.properties
        policies = app.ports.policies.current()
        policy = effective(policies, identifier, properties)
    for problem in policies.problems:
        say(f"warning: {problem.source}: {problem.message}")
    values = describe(policy)
    if output is OutputFormat.JSON:
        print_json(
            [{"path": path, "value": value, "source": source} for path, value, source in values]
        )
    else:
        shown = Rows(("setting", "value", "from"))
        for path, value, source in values:
            shown.add_row(path, value, source)
        print_list(shown)
    for ambiguity in policy.ambiguities:
        problem = describe_ambiguity(ambiguity, f"{table} gets no action until then")
        echo(f"error: {problem.source}: {problem.message}", is_error=True)
    if policy.ambiguities:
        raise typer.Exit(EXIT_USAGE)


@policies_app.command("versions")
def list_versions(
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=MAX_PAGE, help="Maximum number of versions.")
    ] = DEFAULT_VERSIONS,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """List the versions of the policies that the daemon has seen, the newest first."""
    with open_app(load(config)) as app:
        versions = app.ports.store.policy_versions(limit).items
    if output is OutputFormat.JSON:
        from maintainer.api.policies import PolicyVersionOut  # noqa: PLC0415 - as in commands

        written = [PolicyVersionOut.model_validate(version) for version in versions]
        print_json([version.model_dump(mode="json") for version in written])
        return
    shown = Rows(
        ("version", "first seen", "in force since", "files", "problems"),
        right=("files", "problems"),
    )
    for version in versions:
        times = (
            f"{at:%Y-%m-%d %H:%M:%S} UTC" for at in (version.first_seen_at, version.last_seen_at)
        )
        shown.add_row(
            version.version, *times, f"{version.layer_count:,}", f"{len(version.problems):,}"
        )
    print_list(shown)


@policies_app.command("diff")
def compare_policies(
    before: Annotated[str, typer.Argument(help="A version, or `current`.")],
    after: Annotated[
        str, typer.Argument(help="A version, or `current`: the files as they are now.")
    ] = CURRENT,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Show the differences of two versions of the policies, field by field."""
    with open_app(load(config)) as app:
        changes = compare_versions(app.ports, before, after)
    if output is OutputFormat.JSON:
        print_json([asdict(change) for change in changes])
        return
    if not changes:
        say("no difference")
        return
    shown = Rows(("file", "setting", "before", "after", "from"), alone="setting")
    for change in changes:
        shown.add_row(
            change.layer,
            change.path,
            *(text if text is not None else "-" for text in (change.before, change.after)),
            change.source_after or "",
        )
    print_list(shown)


@import_app.command("polaris-json")
def import_polaris(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-",
            help="Polaris' answer to applicable-policies, a list of policies, or one policy.",
        ),
    ],
    tables: Annotated[
        list[str],
        typer.Option(
            "--tables", help="The tables that the file is for: a name or a glob; may be repeated."
        ),
    ],
) -> None:
    """Write Apache Polaris' policies as a policy file on standard output, with a comment for each
    field that has no meaning here.
    """
    try:
        text = (
            sys.stdin.read(MAX_ANSWER_CHARACTERS + 1)
            if file == "-"
            else Path(file).read_text("utf-8")
        )
        policies = read_policies(json.loads(text[:MAX_ANSWER_CHARACTERS]))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from error
    written = write_file(tuple(tables), policies)
    parsed = parse_policy(written, "imported.yaml")
    if isinstance(parsed, tuple):
        raise ConfigurationError("\n".join(problem.message for problem in parsed))
    typer.echo(written, nl=False)


@policies_app.command("schema")
def print_policy_schema() -> None:
    """Print the JSON schema of policy files."""
    typer.echo(write_policy_schema(), nl=False)
