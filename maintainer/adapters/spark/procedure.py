"""An action as the CALL statement that Spark runs: escaped, and with allow-listed options only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_never

from maintainer.domain.action import Action, ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.option import check_option

_MAX_INT = 2**31 - 1
_LEAST_KEPT = 2  # snapshots: the floor of every policy, held here once more
_MAX_TEXT_CHARACTERS = 10_000  # of a where or sort_order clause
_MAX_NAME_CHARACTERS = 1_000  # of one level of a name

# max-failed-commits is never left to Iceberg's default, with which every commit may fail unnoticed.
_PARTIAL_PROGRESS = {"partial-progress.enabled": "true", "partial-progress.max-commits": "10", "partial-progress.max-failed-commits": "3"}
_AT_ONCE = {"partial-progress.enabled": "false"}
_SORT = "sort"
_STRATEGIES = ("binpack", _SORT)


def call_statement(table: TableIdentifier, action: Action) -> str:
    """The statement that does the action on the table; InvalidValueError for an unknown option or a value out of its bound."""
    match action:
        case RewriteDataFiles():
            arguments = _rewrite_data_files(action)
        case RewriteManifests():
            arguments = [("spec_id", str(_within("spec_id of rewrite_manifests", action.spec_id, 0, _MAX_INT)))]
        case ExpireSnapshots():
            retain_last = _within("retain_last of expire_snapshots", action.retain_last, _LEAST_KEPT, _MAX_INT)
            arguments = [("older_than", _timestamp(action.older_than)), ("retain_last", str(retain_last))]
        case _:  # pragma: no cover
            assert_never(action)
    # The table is given with its catalog: a namespace that is named like a catalog would be taken for one otherwise.
    full_name = ".".join(quote_identifier(level) for level in (table.catalog, *table.namespace, table.name))
    written = ", ".join(f"{name} => {value}" for name, value in [("table", quote_text(full_name)), *arguments])
    return f"CALL {quote_identifier(table.catalog)}.system.{action.procedure.value}({written})"


def quote_identifier(level: str) -> str:
    """One level of a name in backticks; InvalidValueError when it is empty or too long, or Unicode cannot carry it."""
    if not level or len(level) > _MAX_NAME_CHARACTERS:
        message = f"name {level[:40]!r} has {len(level)} characters; a level has 1 to {_MAX_NAME_CHARACTERS}"
        raise InvalidValueError(message)
    _refuse_surrogates(level)
    return "`" + level.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """A SQL string literal as Spark reads it with spark.sql.parser.escapedStringLiterals=false, which the driver sets.

    A dollar sign is escaped too: Spark would substitute ``${...}`` anywhere in a statement.
    """
    _refuse_surrogates(text)
    return "'" + "".join(_LITERAL_ESCAPES.get(character, character) for character in text) + "'"


_LITERAL_ESCAPES = {"\\": "\\\\", "'": "\\'", "$": "\\u0024", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\u0000", "\x1a": "\\u001a"}


def _refuse_surrogates(text: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        message = f"text {text[:40]!r} holds half of a surrogate pair, which UTF-8 cannot carry"
        raise InvalidValueError(message)


def _rewrite_data_files(action: RewriteDataFiles) -> list[tuple[str, str]]:
    if action.strategy not in _STRATEGIES:
        message = f"strategy of rewrite_data_files is {action.strategy!r}; it must be one of {', '.join(_STRATEGIES)}"
        raise InvalidValueError(message)
    if action.sort_order is not None and action.strategy != _SORT:
        message = f"sort_order of rewrite_data_files is {action.sort_order!r}, but strategy is {action.strategy}; it must be {_SORT}"
        raise InvalidValueError(message)
    arguments = [("strategy", quote_text(action.strategy))]
    for name, text in (("sort_order", action.sort_order), ("where", action.where)):
        if text is not None:
            arguments.append((name, quote_text(_clause(name, text))))
    pairs = ", ".join(f"{quote_text(name)}, {quote_text(value)}" for name, value in _rewrite_options(action.options).items())
    return [*arguments, ("options", f"map({pairs})")]


def _rewrite_options(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Defaults first, then the action's own, sorted: the same action is always the same statement."""
    given: dict[str, str] = {}
    for name, value in options:
        problem = check_option(name, value)
        if problem is not None:
            raise InvalidValueError(problem)
        if name in given:
            message = f"option {name} of rewrite_data_files is given twice: {given[name]!r} and {value!r}"
            raise InvalidValueError(message)
        given[name] = value
    progress = _AT_ONCE if given.get("partial-progress.enabled") == "false" else _PARTIAL_PROGRESS
    return dict(sorted((progress | {"use-starting-sequence-number": "true"} | given).items()))


def _clause(name: str, text: str) -> str:
    if not text.strip() or len(text) > _MAX_TEXT_CHARACTERS:
        message = f"{name} of rewrite_data_files has {len(text)} characters; it must have 1 to {_MAX_TEXT_CHARACTERS} that are not all blank"
        raise InvalidValueError(message)
    return text


def _within(thing: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        message = f"{thing} is {value}; it must be from {low} to {high}"
        raise InvalidValueError(message)
    return value


def _timestamp(instant: datetime) -> str:
    if instant.tzinfo is None:
        message = f"older_than of expire_snapshots is {instant.isoformat()} without a time zone; it must have one"
        raise InvalidValueError(message)
    return f"TIMESTAMP '{instant.astimezone(UTC).replace(tzinfo=None).isoformat(sep=' ', timespec='microseconds')} UTC'"
