from __future__ import annotations

from math import inf, nan

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.timing import QueryTiming
from tests.samples import NOW


@pytest.mark.parametrize("seconds", [0.0, -1.0, nan, inf, 1e9])
def test_a_time_that_no_query_takes_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidValueError, match="is no query time"):
        QueryTiming("q1", seconds, NOW)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_a_query_needs_a_name(name: str) -> None:
    with pytest.raises(InvalidValueError, match="1 to 200 characters"):
        QueryTiming(name, 1.0, NOW)


@pytest.mark.parametrize("cost", [-1.0, nan, inf])
def test_a_cost_is_a_price(cost: float) -> None:
    with pytest.raises(InvalidValueError, match="is no cost"):
        QueryTiming("q1", 1.0, NOW, cost=cost)
