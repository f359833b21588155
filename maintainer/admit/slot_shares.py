"""How the slots of a pool are shared between the owners of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import floor

from maintainer.admit.budgets import AdmissionCircumstances
from maintainer.domain.admission import Candidate, SlotOwner


class SlotShares:
    """The slots that each owner has in each pool, with those admitted now.

    Each owner with work in a pool has the same fair share of its slots, at least one.
    """

    def __init__(
        self, circumstances: AdmissionCircumstances, candidates: Iterable[Candidate]
    ) -> None:
        self._kind = circumstances.rules.slot_owner
        self._most = circumstances.rules.owner_share
        self._slots: Counter[str] = Counter(
            {pool: max(0, free) for pool, free in circumstances.free_slots.items()}
        )
        self._taken: Counter[tuple[str, str]] = Counter()
        for running in circumstances.running:
            if running.is_at_work:
                self._slots[running.pool] += 1
                self._taken[running.pool, self._kind.name_of(running.table)] += 1
        busy = {running.table_uuid for running in circumstances.running}
        owners = {
            *self._taken,
            *(self._key(one) for one in candidates if one.table_uuid not in busy),
        }
        self._owners = Counter(pool for pool, _ in owners)

    def _key(self, candidate: Candidate) -> tuple[str, str]:
        return candidate.pool, self._kind.name_of(candidate.table)

    def take(self, candidate: Candidate) -> None:
        """Count the slot that the candidate gets."""
        self._taken[self._key(candidate)] += 1

    def has_fair_share(self, candidate: Candidate) -> bool:
        """True when the candidate's owner has its fair share, and others have work too."""
        owners = self._owners[candidate.pool]
        fair = max(1, self._slots[candidate.pool] // max(1, owners))
        return owners > 1 and self._taken[self._key(candidate)] >= fair

    def has_all_it_may(self, candidate: Candidate) -> bool:
        """True when the candidate's owner may take no further slot, even a free one."""
        most = max(1, floor(self._slots[candidate.pool] * self._most))
        return (
            self._kind is not SlotOwner.NONE
            and self._most < 1
            and self._taken[self._key(candidate)] >= most
        )

    def describe(self, candidate: Candidate) -> str:
        """The share of the candidate's owner, for the reason why it waits; empty if it has less."""
        if not (self.has_fair_share(candidate) or self.has_all_it_may(candidate)):
            return ""
        pool, owner = self._key(candidate)
        return (
            f"; {self._kind} {owner} has its share, {self._taken[pool, owner]} of "
            f"{self._slots[pool]} slots"
        )
