"""Who lives, by one's own clock alone."""

from __future__ import annotations

from datetime import timedelta

from maintainer.adapters.spark.remote.strays import Heartbeats

HEARTS = timedelta(seconds=30)


def test_a_heart_that_beats_lives_and_one_that_stops_is_dead_after_a_while() -> None:
    hearts = Heartbeats(HEARTS)
    for second in range(0, 100, 5):
        hearts.observe({"beats": second, "stopped": 7}, float(second))
        assert hearts.lives("beats") is True
        assert hearts.lives("stopped") is (second < 30)
    hearts.observe({"beats": 1, "stopped": 8}, 101.0)
    assert hearts.lives("stopped") is True, "it was only slow"


def test_who_signs_off_is_dead_at_once_and_who_was_never_there_is_unknown() -> None:
    hearts = Heartbeats(HEARTS)
    hearts.observe({"one": 3}, 0.0)
    hearts.observe({"one": None}, 1.0)
    assert hearts.lives("one") is False
    assert hearts.lives("two") is None
    assert hearts.others("one") == []


def test_time_without_a_store_does_not_count() -> None:
    hearts = Heartbeats(HEARTS)
    hearts.observe({"one": 3}, 0.0)
    hearts.restart(600.0)
    hearts.observe({"one": 3}, 600.0)
    assert hearts.lives("one") is True
    hearts.observe({"one": 3}, 631.0)
    assert hearts.lives("one") is False
    assert hearts.dead_for("one") == 31.0
