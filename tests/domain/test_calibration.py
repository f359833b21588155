from __future__ import annotations

from dataclasses import astuple
from math import isfinite

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.cost import TABLE_ALPHA, CostFit, CostSample

FIGURES = st.floats(0, 1e300)


@given(st.lists(st.builds(CostSample, FIGURES, FIGURES, st.none() | FIGURES), max_size=5))
def test_after_any_claims_of_jobs_the_sums_stay_numbers(
    samples: list[CostSample],
) -> None:
    fit = CostFit()
    for sample in samples:
        fit = fit.learn(sample, TABLE_ALPHA)
    assert all(isfinite(figure) for figure in astuple(fit))
