"""When a lease is renewed, and when another process's job is taken over."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.lease import Lease, LeaseTerms

_RENEW_AT = 2 / 3  # of the duration is left then: enough time to repeat a failed renewal twice


def is_due(lease: Lease, now: datetime, terms: LeaseTerms) -> bool:
    """True when the lease is to be renewed.

    Also true when the clock was set back, because other processes use their own clocks.
    """
    left = lease.expires_at - now
    return not terms.duration * _RENEW_AT < left <= terms.duration


def is_abandoned(
    lease: Lease | None, now: datetime, terms: LeaseTerms, *, is_holder_alive: bool | None
) -> bool:
    """True when the holder of a lease no longer works on its job.

    `is_holder_alive` is None when this machine cannot tell. A holder on another machine counts
    as gone once its lease has been expired for the clock margin: its runner has ended the work
    by then, even if it can reach nothing.
    """
    if is_holder_alive is not None:
        return not is_holder_alive
    return lease is None or now > lease.expires_at + terms.clock_margin
