from __future__ import annotations

from datetime import timedelta

from maintainer.ports.store import Store
from tests.samples import NOW

HOUR = timedelta(hours=1)


def test_an_ended_session_is_known_until_it_would_have_ended(store: Store) -> None:
    assert store.ended_sessions(NOW) == ()
    store.end_session("a", NOW + HOUR, NOW)
    store.end_session("b", NOW + 2 * HOUR, NOW)
    assert list(store.ended_sessions(NOW)) == ["a", "b"]
    assert list(store.ended_sessions(NOW + HOUR)) == ["b"]
    store.end_session("c", NOW + 9 * HOUR, NOW + HOUR)
    assert list(store.ended_sessions(NOW)) == ["b", "c"], "what was over is dropped"
