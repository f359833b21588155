from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer
from maintainer.policy.layering import LayerIndex

NAMES = st.text("ab.", min_size=1, max_size=6)
PATTERNS = st.text("ab.*?[]!", min_size=1, max_size=6)


@given(st.lists(st.lists(PATTERNS, max_size=3), max_size=5), NAMES)
def test_it_finds_the_layers_with_a_pattern_that_selects_the_name(
    written: list[list[str]], name: str
) -> None:
    layers = [
        PolicyLayer(f"{number}.yaml", tuple(map(TablePattern, texts)), {})
        for number, texts in enumerate(written)
    ]
    assert LayerIndex(layers).find(name) == tuple(
        number
        for number, layer in enumerate(layers)
        if any(pattern.matches_name(name) for pattern in layer.tables)
    )
