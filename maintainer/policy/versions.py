"""Policies as text that does not depend on the program's types, and what changes between two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import TypeAlias

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import PLANNED, Plan, PlannedAction, VerdictChange
from maintainer.domain.policy import PolicyLayer, PolicySet, RuleName
from maintainer.domain.policy_version import PolicyChange, PolicyVersion, WrittenLayer
from maintainer.policy.layering import LayerIndex
from maintainer.policy.writing import describe_layer

_DIGITS = 16
TABLES = "tables"
NAMED = "{}"  # the text for a rule that a file names without any fields
# A rule's verdict, reason, action and predicted GB-hours.
_Judgement: TypeAlias = tuple[str | None, str, object, float | None]

CANDIDATE_PRECEDENCE = 1  # stronger than equally specific layers


class Bases:
    """The texts that identify the policies behind each table's health.

    A new one is made each time the policies are read.
    """

    def __init__(
        self,
        policies: PolicySet,
        program: str,
        shared: Mapping[TableIdentifier, Sequence[TableIdentifier]] | None = None,
    ) -> None:
        """Take the policies in force, the program's version of measuring, and shared tables.

        `shared` has all names of each table that is registered several times.
        """
        self._shared = shared or {}
        self._layers = policies.layers
        self._index = LayerIndex(policies.layers)
        self._program = program
        self._known: dict[tuple[int, ...], str] = {}

    def of(self, table: TableIdentifier) -> str:
        """The text for one table.

        Equal texts mean that the same layers with the same values apply to the table under all its
        names, and that the program measures in the same way.
        """
        own = self._of_name(table)
        names = self._shared.get(table, ())
        return " ".join(
            [own, *(f"{name} {self._of_name(name)}" for name in names if name != table)]
        )

    def _of_name(self, table: TableIdentifier) -> str:
        numbers = self._index.find(str(table))
        basis = self._known.get(numbers)
        if basis is None:
            basis = self._known[numbers] = self._digest(
                [self._layers[number] for number in numbers]
            )
        return basis

    def _digest(self, layers: list[PolicyLayer]) -> str:
        written = [
            (
                layer.name,
                layer.tables,
                sorted((path, repr(setting.value)) for path, setting in layer.settings.items()),
            )
            for layer in layers
        ]
        return sha256(repr((self._program, written)).encode()).hexdigest()[:_DIGITS]


def version_of(policies: PolicySet, now: datetime) -> PolicyVersion:
    """The version of these policies, in the form that the store keeps."""
    layers = write_layers(policies.layers)
    return PolicyVersion(policies.version, now, now, len(layers), policies.problems, layers)


def write_layers(layers: Iterable[PolicyLayer]) -> tuple[WrittenLayer, ...]:
    """All layers as people write them, ordered by name."""
    return tuple(_write_layer(layer) for layer in sorted(layers, key=lambda layer: layer.name))


def _write_layer(layer: PolicyLayer) -> WrittenLayer:
    values = list(describe_layer(layer))
    said = {path for path, _, _ in values}
    for path, setting in layer.settings.items():
        if (
            setting.value is True
            and path.count(".") == 1
            and not any(other.startswith(f"{path}.") for other in said)
        ):
            values.append((path, NAMED, setting.source))
    return WrittenLayer(
        layer.name, tuple(pattern.text for pattern in layer.tables), tuple(sorted(values))
    )


def compare_layers(
    before: Iterable[WrittenLayer], after: Iterable[WrittenLayer]
) -> tuple[PolicyChange, ...]:
    """All fields that differ, by layer and path. The source of a value does not matter."""
    was, would_be = (
        {layer.name: _list_fields(layer) for layer in before},
        {layer.name: _list_fields(layer) for layer in after},
    )
    found = []
    for name in sorted(was.keys() | would_be.keys()):
        old, new = was.get(name, {}), would_be.get(name, {})
        for path in sorted(old.keys() | new.keys(), key=lambda path: (path != TABLES, path)):
            (text_before, source_before), (text_after, source_after) = (
                old.get(path, (None, None)),
                new.get(path, (None, None)),
            )
            if text_before != text_after:
                found.append(
                    PolicyChange(name, path, text_before, text_after, source_before, source_after)
                )
    return tuple(found)


def _list_fields(layer: WrittenLayer) -> Mapping[str, tuple[str | None, str | None]]:
    return {TABLES: (", ".join(layer.tables), None)} | {
        path: (text, source) for path, text, source in layer.values
    }


def with_candidate(policies: PolicySet, candidate: PolicyLayer | None) -> PolicySet:
    """The policies with one more layer that is tried out.

    It replaces a file of the same name, else it is stronger than equally specific layers.
    """
    if candidate is None:
        return policies
    is_known = any(layer.name == candidate.name for layer in policies.layers)
    return with_file(
        policies, candidate if is_known else replace(candidate, precedence=CANDIDATE_PRECEDENCE)
    )


def with_file(policies: PolicySet, layer: PolicyLayer) -> PolicySet:
    """The policies with this file added, or in place of a file of the same name."""
    return replace(
        policies, layers=(*(other for other in policies.layers if other.name != layer.name), layer)
    )


def find_affected(
    before: PolicySet, after: PolicySet, tables: Iterable[TableIdentifier]
) -> list[TableIdentifier]:
    """The tables to which a layer applies that only one of the two policy sets has.

    Nothing can change for other tables.
    """
    differing = [layer for layer in before.layers if layer not in after.layers] + [
        layer for layer in after.layers if layer not in before.layers
    ]
    patterns = tuple(dict.fromkeys(pattern for layer in differing for pattern in layer.tables))
    return [
        table for table in tables if any(pattern.matches_name(str(table)) for pattern in patterns)
    ]


def compare_plans(before: Plan, after: Plan) -> tuple[VerdictChange, ...]:
    """The rules with a different verdict or action, in execution order."""
    was, would_be = _judge(before), _judge(after)
    none: _Judgement = (None, "the policy has no such rule", None, None)
    pairs = [(rule, was.get(rule, none), would_be.get(rule, none)) for rule in RuleName]
    return tuple(
        VerdictChange(rule, old[0], new[0], old[1], new[1], new[3])
        for rule, old, new in pairs
        if (old[0], old[2]) != (new[0], new[2])
    )


def _judge(plan: Plan) -> dict[RuleName, _Judgement]:
    planned: dict[RuleName, _Judgement] = {
        one.rule: (PLANNED, one.reason, one.action, _cost_of(one)) for one in plan.planned
    }
    return planned | {one.rule: (one.code.value, one.reason, None, None) for one in plan.skipped}


def _cost_of(planned: PlannedAction) -> float | None:
    return planned.cost.gb_hours if planned.cost is not None else None
