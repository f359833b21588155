"""The duties of the store in memory, with a clock of its own that a test moves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta

from maintainer.domain.replica import LONGEST_DUTY, Duty, HeldDuty


@dataclass
class FakeDuties:
    """Implements DutyStore for the store that mixes it in."""

    duty_clock: timedelta = field(default=timedelta(0), kw_only=True)
    _duties: dict[Duty, tuple[str, timedelta]] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def duties(self) -> Sequence[HeldDuty]:
        with self._open():
            return tuple(
                HeldDuty(duty, holder)
                for duty, (holder, until) in sorted(self._duties.items())
                if timedelta(0) < until - self.duty_clock <= LONGEST_DUTY
            )

    def hold_duties(
        self, holder: str, duties: Collection[Duty], span: timedelta, gone: Collection[str] = ()
    ) -> frozenset[Duty]:
        with self._open():
            others = {held.duty for held in self.duties() if held.holder not in {holder, *gone}}
            taken = frozenset(duties) - others
            self._duties |= dict.fromkeys(taken, (holder, self.duty_clock + span))
            return taken

    def give_back_duties(self, holder: str, duties: Collection[Duty]) -> None:
        with self._open():
            self._duties = {
                duty: held
                for duty, held in self._duties.items()
                if duty not in duties or held[0] != holder
            }
