"""Rates and rises of a figure follow from its samples."""

from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.measure.history import drop_unknown, mean_over_time, sum_rises
from tests.samples import NOW

HOUR = timedelta(hours=1)


def test_unknown_values_are_dropped() -> None:
    assert drop_unknown([(NOW, None), (NOW + HOUR, 2.0)]) == [(NOW + HOUR, 2.0)]


def test_falls_are_not_taken_from_the_rises() -> None:
    assert sum_rises([(NOW, 3.0), (NOW + HOUR, 5.0), (NOW + 2 * HOUR, 1.0)]) == 2.0


def test_a_value_counts_for_as_long_as_it_was_the_last_one() -> None:
    samples = [(NOW, 4.0), (NOW + HOUR, 1.0), (NOW + 4 * HOUR, 9.0)]
    assert mean_over_time(samples) == pytest.approx((4.0 * 1 + 1.0 * 3) / 4)


def test_the_mean_of_samples_of_one_moment_is_the_last_of_them() -> None:
    assert mean_over_time([(NOW, 4.0), (NOW, 6.0)]) == 6.0
