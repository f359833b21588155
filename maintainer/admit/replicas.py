"""How replicas divide the work: the duties of each, and when a lease is renewed or taken over."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import groupby
from math import ceil

from maintainer.domain.replica import Duty, DutyKind, HeldDuty, Lease, LeaseTerms

_RENEW_AT = 2 / 3  # of the duration is left then: enough time to repeat a failed renewal twice


def choose_duties(
    wanted: Collection[Duty], held: Collection[HeldDuty], worker: str
) -> frozenset[Duty]:
    """Choose what the worker holds from now on; `held` are the duties that have not expired.

    Of each kind it keeps its duties, and takes free duties, up to its share: the wanted
    duties divided by the number of workers, rounded up. It gives back duties beyond its share.
    """
    holders = {each.duty: each.holder for each in held}
    workers = {each.holder for each in held if each.duty.kind is DutyKind.WORK} | {worker}
    chosen: list[Duty] = []
    for kind, duties in groupby(sorted(wanted), key=lambda duty: duty.kind):
        of_kind = list(duties)
        share = 1 if kind is DutyKind.WORK else ceil(len(of_kind) / len(workers))
        own = [duty for duty in of_kind if holders.get(duty) == worker]
        free = [duty for duty in of_kind if duty not in holders]
        chosen += (own + free)[:share]
    return frozenset(chosen)


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

    `is_holder_alive` is None if it is unknown on this machine. A holder on another machine counts
    as gone once its lease has been expired for the clock margin: its runner has ended the work
    by then, even if it has no connection.
    """
    if is_holder_alive is not None:
        return not is_holder_alive
    return lease is None or now > lease.expires_at + terms.clock_margin
