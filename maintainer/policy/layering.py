"""Merging of layers, the most specific last.

Different values in two equally specific layers are an ambiguity; file names never decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.metric import Threshold
from maintainer.domain.policy import Ambiguity, PolicyLayer, Rule, Setting
from maintainer.domain.rule_field import fields_of

_Rule = TypeVar("_Rule", bound=Rule)
BUILT_IN = "built-in default"  # the source of a value that no layer sets
DEFAULT_FILES = ("default.yaml", "default.yml")
STRATEGY, SORT_ORDER = "rules.rewrite_data_files.strategy", "rules.rewrite_data_files.sort_order"

Rank = tuple[bool, tuple[int, int, int], int]


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


@dataclass(slots=True)
class Laid:
    """The merged settings of all layers for one table, and the ambiguous fields."""

    settings: dict[str, Setting] = field(default_factory=dict)
    ambiguities: dict[str, Ambiguity] = field(default_factory=dict)

    def lay(self, settings: Mapping[str, Setting]) -> None:
        """Apply more specific settings. They resolve ambiguities in the fields that they set."""
        if _is_binpack(settings) and SORT_ORDER not in settings:
            # Iceberg refuses binpack with the sort order of a more general file
            self.settings.pop(SORT_ORDER, None)
            self.ambiguities.pop(SORT_ORDER, None)
        self.settings.update(settings)
        for path in settings:
            self.ambiguities.pop(path, None)


def lay_layers(
    start: Mapping[str, Setting], layers: Iterable[PolicyLayer], table: TableIdentifier
) -> Laid:
    """Merge the start with all layers for the table, from the weakest to the strongest.

    The order in which the layers are given does not matter.
    """
    laid = Laid(dict(start))
    groups = _rank_speaking(layers, table)
    for rank in sorted(groups):
        agreed, disputed = agree(groups[rank])
        laid.lay(agreed)
        laid.ambiguities.update(disputed)
    return laid


def weak_to_strong(layers: Iterable[PolicyLayer]) -> list[PolicyLayer]:
    """The layers in merging order: default.yaml, general globs, specific globs, exact names.

    Equally specific ones are ordered by name.
    """
    return sorted(layers, key=lambda layer: (_rank(layer, layer.tables), layer.name))


def _rank(layer: PolicyLayer, patterns: Iterable[TablePattern]) -> Rank:
    return (
        layer.name not in DEFAULT_FILES,
        max((pattern.specificity for pattern in patterns), default=(0, 0, 0)),
        layer.precedence,
    )


def _rank_speaking(
    layers: Iterable[PolicyLayer], table: TableIdentifier
) -> dict[Rank, list[PolicyLayer]]:
    """The layers that apply to the table, by the rank of their most specific matching pattern.

    Of a family only the strongest counts.
    """
    name = str(table)
    matching = [
        (layer, [pattern for pattern in layer.tables if pattern.matches_name(name)])
        for layer in layers
    ]
    speaking = [(_rank(layer, patterns), layer) for layer, patterns in matching if patterns]
    heads: dict[str, Rank] = {}
    for rank, layer in speaking:
        heads[layer.family] = max(rank, heads.get(layer.family, rank))
    groups: dict[Rank, list[PolicyLayer]] = defaultdict(list)
    for rank, layer in speaking:
        if not layer.family or rank == heads[layer.family]:
            groups[rank].append(layer)
    return groups


def agree(group: list[PolicyLayer]) -> tuple[dict[str, Setting], dict[str, Ambiguity]]:
    """The common settings of equally specific layers, and their ambiguities."""
    said: dict[str, list[Setting]] = defaultdict(list)
    for layer in group:
        for path, setting in _spell_out(layer.settings).items():
            said[path].append(setting)
    agreed: dict[str, Setting] = {}
    disputed: dict[str, Ambiguity] = {}
    for path, settings in said.items():
        ordered = sorted(settings, key=lambda setting: setting.source)
        if any(_differ(ordered[0].value, setting.value) for setting in ordered[1:]):
            disputed[path] = Ambiguity(path, tuple(ordered))
        else:
            agreed[path] = ordered[0]
    if STRATEGY in disputed:
        # the sort order means nothing without the strategy of its layer
        agreed.pop(SORT_ORDER, None)
    return agreed, disputed


def _spell_out(settings: Mapping[str, Setting]) -> Mapping[str, Setting]:
    """Add the strategy that a sort order implies."""
    if SORT_ORDER in settings and STRATEGY not in settings:
        return {**settings, STRATEGY: Setting("sort", settings[SORT_ORDER].source)}
    return settings


def _is_binpack(settings: Mapping[str, Setting]) -> bool:
    return STRATEGY in settings and settings[STRATEGY].value == "binpack"


def _differ(left: object, right: object) -> bool:
    return type(left) is not type(right) or left != right


class LayerIndex:
    """Layers by the beginnings of their patterns."""

    def __init__(self, layers: Sequence[PolicyLayer]) -> None:
        self._numbered: dict[str, list[tuple[TablePattern, int]]] = defaultdict(list)
        for number, layer in enumerate(layers):
            for pattern in layer.tables:
                self._numbered[pattern.prefix].append((pattern, number))
        self._lengths = sorted({len(prefix) for prefix in self._numbered})

    def find(self, name: str) -> tuple[int, ...]:
        """The numbers of the layers that select the table with this full name, in their order."""
        found = {
            number
            for length in self._lengths
            for pattern, number in self._numbered.get(name[:length], ())
            if pattern.matches_name(name)
        }
        return tuple(sorted(found))
