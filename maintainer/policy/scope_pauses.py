"""Pauses and drains: which one applies to a table."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from maintainer.domain.admission import ScopePause
from maintainer.domain.identifier import TableIdentifier

_DIGITS = 8


def find_scope_pause(
    scope_pauses: Sequence[ScopePause], table: TableIdentifier
) -> ScopePause | None:
    """The pause with the widest scope that covers the table: it must be resumed last."""
    covering = [pause for pause in scope_pauses if pause.covers(table)]
    return min(
        covering,
        key=lambda pause: (not pause.is_drain, len(pause.scope), pause.scope),
        default=None,
    )


def describe_scope_pause(pause: ScopePause) -> str:
    """Who asked for the pause or drain, its scope, and the reason."""
    asked = f"{pause.by} started a drain" if pause.is_drain else f"{pause.by} paused {pause.scope}"
    return f"{asked}: {pause.reason}" if pause.reason else asked


def is_draining(scope_pauses: Sequence[ScopePause]) -> bool:
    """True while nothing may start at all."""
    return any(pause.is_drain for pause in scope_pauses)


def hash_scope_pauses(scope_pauses: Sequence[ScopePause]) -> str:
    """A hash of the pauses: equal texts mean the same pauses; empty for none."""
    return (
        sha256(
            repr(
                [(pause.scope, pause.by, pause.reason, pause.is_drain) for pause in scope_pauses]
            ).encode()
        ).hexdigest()[:_DIGITS]
        if scope_pauses
        else ""
    )
