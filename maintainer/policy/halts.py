"""Pauses and drains: which one applies to a table."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from maintainer.domain.admission import Halt
from maintainer.domain.identifier import TableIdentifier

_DIGITS = 8


def find_halt(halts: Sequence[Halt], table: TableIdentifier) -> Halt | None:
    """The halt with the widest scope that covers the table: it must be lifted last."""
    covering = [halt for halt in halts if halt.covers(table)]
    return min(
        covering, key=lambda halt: (not halt.is_drain, len(halt.scope), halt.scope), default=None
    )


def describe_halt(halt: Halt) -> str:
    """Who asked for the pause or drain, its scope, and the reason."""
    asked = f"{halt.by} started a drain" if halt.is_drain else f"{halt.by} paused {halt.scope}"
    return f"{asked}: {halt.reason}" if halt.reason else asked


def is_draining(halts: Sequence[Halt]) -> bool:
    """True while nothing may start at all."""
    return any(halt.is_drain for halt in halts)


def digest_halts(halts: Sequence[Halt]) -> str:
    """A hash of the halts: equal texts mean the same halts; empty for none."""
    return (
        sha256(
            repr([(halt.scope, halt.by, halt.reason, halt.is_drain) for halt in halts]).encode()
        ).hexdigest()[:_DIGITS]
        if halts
        else ""
    )
