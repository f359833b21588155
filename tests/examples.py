"""How many random examples a property is tried on: fewer in ``make test-fast``."""

from __future__ import annotations

from hypothesis import settings

FULL = 40
FAST = 10
FEWEST = 5


def examples(count: int) -> int:
    """The number for a property that does not take FULL; in ``make test-fast`` its share."""
    default: int = settings().max_examples
    return count if default >= FULL else max(FEWEST, count * FAST // FULL)
