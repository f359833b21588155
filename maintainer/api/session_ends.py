"""Sessions of the page that were ended before their time: a copied cookie is worth nothing then."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from threading import Lock
from time import monotonic

from maintainer.domain.errors import MaintainerError
from maintainer.ports.store.upkeep import SessionStore

READ_EVERY_SECONDS = 5.0  # how soon a session that another replica ended ends here


class EndedSessions:
    """Remembers what the store says for a while, so that a request costs no read of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: frozenset[str] = frozenset()
        # A list that was read before an end must not bring the session back.
        self._ended_here: dict[str, datetime] = {}
        self._read_at = float("-inf")

    def end(self, store: SessionStore, cookie: str, until: datetime, now: datetime) -> None:
        """End the session of a cookie, in all replicas; StoreUnavailableError if that fails."""
        store.end_session(_name(cookie), until, now)
        with self._lock:
            left = {name: end for name, end in self._ended_here.items() if end > now}
            self._ended_here = left | {_name(cookie): until}

    def has(self, store: SessionStore, cookie: str, now: datetime) -> bool:
        """True if the session of a cookie was ended; while the store is away, as last known."""
        with self._lock:
            is_old = monotonic() - self._read_at >= READ_EVERY_SECONDS
            if is_old:
                self._read_at = monotonic()
        if is_old:
            with suppress(MaintainerError):
                found = frozenset(store.ended_sessions(now))
                with self._lock:
                    self._known = found
        name = _name(cookie)
        return name in self._known or name in self._ended_here


def _name(cookie: str) -> str:
    """A hash, so that the store holds no cookie."""
    return sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()[:32]
