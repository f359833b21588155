"""The layers that name a table, where there are many of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer


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
