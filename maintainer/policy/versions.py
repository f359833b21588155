"""Policies as text that does not depend on the program's types, and their differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.domain.policy_version import PolicyChange, PolicyVersion, WrittenLayer
from maintainer.policy.writing import describe_layer

TABLES = "tables"
NAMED = "{}"  # the text for a rule that a file names without any fields


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
