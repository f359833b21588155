"""The duties that a worker holds: its share of each kind, as long as others work too."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby
from math import ceil

from maintainer.domain.duty import Duty, DutyKind, HeldDuty


def choose_duties(
    wanted: Collection[Duty], held: Collection[HeldDuty], worker: str
) -> frozenset[Duty]:
    """Choose what the worker holds from now on; `held` are the duties that have not expired.

    Of each kind it keeps what it has, and takes what nobody has, up to its share: the wanted
    duties by the number of workers, rounded up. So it gives back what is above its share.
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
