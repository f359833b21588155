"""Writes docs/policy-reference.md: python -m docs.generator.policy_reference."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from inspect import getdoc

from docs.generator import fold, write_table
from maintainer.adapters.policies.rule_models import THRESHOLD_BOUNDS
from maintainer.domain.policy import Rule
from maintainer.domain.rule_field import Choice, Kind, Member, RuleField, fields_of
from maintainer.domain.rules import RULES

_INTRODUCTION = """\
# Keys of the rules

<!-- Generated from the types of the rules by `make generate`. Do not edit. -->

The keys under `rules.<rule>` of a policy file. [Policies](policies.md) says how the rules work and
lists the options of Iceberg's procedures. "Built in" marks the thresholds of the [built-in
default](policies.md#several-files-for-one-table).
"""
_COLUMNS = ("key", "meaning", "default", "bounds")
Row = tuple[str, str, str, str]


def write_reference(rules: Mapping[str, type[Rule]] = RULES) -> str:
    """Return the whole page."""
    parts = [_INTRODUCTION, _write_section("Every rule", "", map(_write_field, fields_of(Rule)))]
    parts += [
        _write_section(name, getdoc(rule) or "", _list_rows(rule)) for name, rule in rules.items()
    ]
    return "\n".join(parts)


def _write_section(heading: str, text: str, rows: Iterator[Row]) -> str:
    meaning = f"{fold(text)}\n\n" if text else ""
    return f"## {heading}\n\n{meaning}{write_table(_COLUMNS, rows)}\n"


def _list_rows(rule: type[Rule]) -> Iterator[Row]:
    """Yield the rows of the thresholds and of the fields that differ from those of every rule."""
    built_in = {threshold.metric: threshold.bound for threshold in rule.built_in}
    for metric in rule.metrics:
        key = f"when.{metric.key}"
        bound = built_in.get(metric)
        default = f"{metric.write_bound(bound)} (built in)" if bound is not None else ""
        yield key, metric.meaning, default, THRESHOLD_BOUNDS[metric.unit][1]
    common = fields_of(Rule)
    yield from (_write_field(field) for field in fields_of(rule) if field not in common)


def _write_field(field: RuleField) -> Row:
    meaning = f"{field.meaning}.{field.restriction}"
    bounds = field.bounds or _write_choices(field.kind)
    return field.key, meaning, field.default_text, bounds


def _write_choices(kind: Kind) -> str:
    match kind:
        case Choice():
            return " or ".join(kind.choices)
        case Member():
            return " or ".join(kind.type)
        case _:
            return "true or false"


if __name__ == "__main__":
    sys.stdout.write(write_reference())
