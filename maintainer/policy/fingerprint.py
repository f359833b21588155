"""A short text that identifies the policies behind a table's health."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.policy.layer_index import LayerIndex

_DIGITS = 16


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
