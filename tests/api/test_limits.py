from __future__ import annotations

from maintainer.api.guard import Limits


def test_a_full_bucket_answers_at_any_time_of_the_clock() -> None:
    """A sum that crosses a power of two is rounded, perhaps up."""
    for number in range(2000):
        at = 32_740 + number * 0.0137  # on both sides of 2 ** 15
        limits = Limits(1, clock=lambda at=at: at)  # type: ignore[misc]
        assert limits.take("ada") == 0.0
        assert limits.take("ada") > 59
