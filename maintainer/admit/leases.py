"""When a lease is renewed, and when the job of another is taken over."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.lease import Lease, LeaseTerms

_RENEW_AT = 2 / 3  # of the duration left: two renewals may fail before the third comes too late


def is_due(lease: Lease, now: datetime, terms: LeaseTerms) -> bool:
    """Whether it is time to renew; also when the clock was set back, since others go by theirs."""
    left = lease.expires_at - now
    return not terms.duration * _RENEW_AT < left <= terms.duration


def is_abandoned(
    lease: Lease | None, now: datetime, terms: LeaseTerms, *, is_holder_alive: bool | None
) -> bool:
    """Whether nobody works on another's job any more; is_holder_alive as far as can be seen from
    this machine, None when it cannot.

    A holder on another machine is only gone when its lease has been out for the clock margin: its
    runner has ended the work by then, whatever it can reach.
    """
    if is_holder_alive is not None:
        return not is_holder_alive
    return lease is None or now > lease.expires_at + terms.clock_margin
