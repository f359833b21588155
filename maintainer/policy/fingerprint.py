"""What of the policies a table's measurement rests on, as one short text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import PolicyLayer, PolicySet

_DIGITS = 16


class Bases:
    """Tells for each table by which text its measurement is known to be under these policies; made
    anew for each reading of the policies.
    """

    def __init__(
        self,
        policies: PolicySet,
        program: str,
        shared: Mapping[TableIdentifier, Sequence[TableIdentifier]] | None = None,
    ) -> None:
        """Take the policies in force, what names the program's own way of measuring, and all names
        of each table that has several.
        """
        self._shared = shared or {}
        self._layers = policies.layers
        self._program = program
        self._known: dict[tuple[int, ...], str] = {}

    def of(self, table: TableIdentifier) -> str:
        """Equal texts mean: the same layers with the same values speak for the table under all of
        its names, and the program measures alike.
        """
        own = self._of_name(table)
        names = self._shared.get(table, ())
        return " ".join(
            [own, *(f"{name} {self._of_name(name)}" for name in names if name != table)]
        )

    def _of_name(self, table: TableIdentifier) -> str:
        name = str(table)
        numbers = tuple(
            number
            for number, layer in enumerate(self._layers)
            if any(pattern.matches_name(name) for pattern in layer.tables)
        )
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
