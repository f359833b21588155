"""`maintainer plan --policy`: which verdicts a candidate policy would change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.document import MAXIMUM_BYTES
from maintainer.adapters.policies.reading import parse_policy
from maintainer.app import App
from maintainer.cli.output.console import OutputFormat, print_json, print_list, say
from maintainer.cli.output.rows import Rows
from maintainer.cli.tables.choose import describe_unknown
from maintainer.domain.errors import ConfigurationError, UnknownTableError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.plan import TablePreview
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PolicySet
from maintainer.domain.units import format_count
from maintainer.policy.ambiguity import find_ambiguities
from maintainer.policy.versions import find_affected, with_candidate, with_file
from maintainer.requests.preview import preview_tables

STDIN = "-"
CANDIDATE = "candidate.yaml"  # the name of a policy from standard input


def preview_policy(
    app: App, policy: str, names: list[str], output: OutputFormat, *, is_fresh: bool
) -> None:
    """Print the tables whose verdicts would change, out of the named tables or all known tables."""
    current = app.ports.policies.current()
    candidate = read_candidate(policy, current)
    known = app.ports.store.table_names()
    concerned = find_affected(current, candidate, _choose_known(known, names))
    for problem in find_ambiguities(candidate, concerned):
        say(f"warning: {problem.source}: {problem.message}")
    previews = list(preview_tables(app.ports, candidate, concerned, is_fresh=is_fresh))
    changed = [preview for preview in previews if preview.changes]
    if output is OutputFormat.JSON:
        print_json(
            [
                {"table": str(one.table), "changes": [asdict(change) for change in one.changes]}
                for one in changed
            ]
        )
    elif changed:
        print_list(_preview_table(changed))
    for preview in previews:
        if preview.unmeasured:
            say(f"warning: {preview.table} is not measured: {preview.unmeasured}")
    say(
        f"{format_count(len(known), 'table')} known, {len(concerned):,} concerned, "
        f"{len(changed):,} would get other verdicts"
    )


def read_candidate(policy: str, current: PolicySet) -> PolicySet:
    """Return the policies with the candidate policy.

    A file replaces the file with the same name. A directory replaces all files. Standard input
    becomes the last layer.
    """
    path = Path(policy)
    if policy != STDIN and path.is_dir():
        instead = PolicyDirectory(path).current()
        _refuse(instead.problems)
        return instead
    name = CANDIDATE if policy == STDIN else path.name
    parsed = parse_policy(
        _read_text(policy), name, "standard input" if policy == STDIN else str(path)
    )
    if not isinstance(parsed, PolicyLayer):
        _refuse(parsed)
        return current
    return with_candidate(current, parsed) if policy == STDIN else with_file(current, parsed)


def _read_text(policy: str) -> str:
    if policy == STDIN:
        return sys.stdin.read(MAXIMUM_BYTES + 1)
    try:
        return Path(policy).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{policy} cannot be read: {error}") from error


def _refuse(problems: tuple[PolicyProblem, ...]) -> None:
    if problems:
        raise ConfigurationError(
            "\n".join(f"{problem.source}: {problem.message}" for problem in problems)
        )


def _choose_known(known: Sequence[TableIdentifier], names: list[str]) -> list[TableIdentifier]:
    patterns = [
        TablePattern(
            name
            if any(wildcard in name for wildcard in "*?[")
            else str(TableIdentifier.parse(name))
        )
        for name in names
    ]
    for pattern in patterns:
        if not any(pattern.matches(table) for table in known):
            raise UnknownTableError(
                describe_unknown(TableIdentifier.parse(pattern.text), known)
                if pattern.is_exact
                else f"no known table matches {pattern.text!r}"
            )
    return [
        table
        for table in known
        if not patterns or any(pattern.matches(table) for pattern in patterns)
    ]


def _preview_table(previews: list[TablePreview]) -> Rows:
    table = Rows(("table", "rule", "now", "then", "why then"), below="why then")
    for preview in previews:
        name = str(preview.table)
        for change in preview.changes:
            table.add_row(
                name,
                change.rule.value,
                Text(change.before or "-", style="dim"),
                Text(change.after or "-", style="bold"),
                Text(change.why_after),
            )
            name = ""
    return table
