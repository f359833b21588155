from __future__ import annotations

import pytest

from maintainer.domain.rules import RewriteDataFilesRule


@pytest.mark.parametrize(
    ("written", "is_refused"),
    [
        ({"sort_order": "id ASC", "strategy": "binpack"}, True),
        ({"sort_order": "id ASC", "strategy": "sort"}, False),
        ({"sort_order": "id ASC"}, False),
        ({"strategy": "binpack"}, False),
    ],
)
def test_a_sort_order_conflicts_with_bin_packing_alone(
    written: dict[str, object], *, is_refused: bool
) -> None:
    assert (RewriteDataFilesRule.find_conflict(written) is not None) is is_refused
