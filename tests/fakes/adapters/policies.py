"""Policies in memory."""

from __future__ import annotations

from hashlib import sha256

from maintainer.adapters.policies.reading import read_table_properties
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PolicySet


class FakePolicies:
    """The layers that a test gives it, until it gives others."""

    def __init__(self, *layers: PolicyLayer, problems: tuple[PolicyProblem, ...] = ()) -> None:
        self.layers = layers
        self.problems = problems

    def current(self) -> PolicySet:
        layers = tuple(sorted(self.layers, key=lambda layer: layer.name))
        contents = [
            (
                layer.name,
                [pattern.text for pattern in layer.tables],
                sorted((path, repr(s.value)) for path, s in layer.settings.items()),
            )
            for layer in layers
        ]
        return PolicySet(
            layers,
            self.problems,
            sha256(repr(contents).encode()).hexdigest()[:12],
            read_table_properties,
        )
