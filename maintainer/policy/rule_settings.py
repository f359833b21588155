"""Rules from settings, and settings from rules, by the fields of each rule's type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from maintainer.domain.metric import Threshold
from maintainer.domain.policy import Rule, Setting
from maintainer.domain.rule_field import fields_of

_Rule = TypeVar("_Rule", bound=Rule)


def build_rule(kind: type[_Rule], settings: Mapping[str, Setting]) -> _Rule:
    """The rule of that type; fields without a setting have their defaults.

    A value of another type counts as none: a layer that our reader did not make must not break a
    scan.
    """
    at = f"rules.{kind.name}"
    found: dict[str, Any] = {
        field.name: settings[path].value
        for field in fields_of(kind)
        if (path := f"{at}.{field.key}") in settings and field.accepts(settings[path].value)
    }
    bounds = ((metric, settings.get(f"{at}.when.{metric.key}")) for metric in kind.metrics)
    options = f"{at}.options."
    return kind(
        when=tuple(
            Threshold(metric, setting.value)
            for metric, setting in bounds
            if setting is not None and isinstance(setting.value, float)
        ),
        options=tuple(
            (path.removeprefix(options), str(settings[path].value))
            for path in sorted(settings)
            if path.startswith(options)
        ),
        **found,
    )


def flatten_rule(rule: Rule) -> dict[str, object]:
    """All values of the rule by setting path; an empty tuple is no value."""
    at = f"rules.{rule.name}"
    values: dict[str, object] = {at: True, f"{at}.enabled": rule.is_enabled}
    values |= {f"{at}.when.{threshold.metric.key}": threshold.bound for threshold in rule.when}
    values |= {f"{at}.{field.key}": getattr(rule, field.name) for field in fields_of(type(rule))}
    values |= {f"{at}.options.{name}": text for name, text in rule.options}
    return {path: value for path, value in values.items() if value not in {None, ()}}


def built_in_rules(kinds: Mapping[str, type[Rule]]) -> dict[str, object]:
    """The values of the rules that the built-in default has, by setting path."""
    values: dict[str, object] = {}
    for name, kind in kinds.items():
        if kind.built_in:
            values[f"rules.{name}"] = True
            values |= {
                f"rules.{name}.when.{threshold.metric.key}": threshold.bound
                for threshold in kind.built_in
            }
    return values
