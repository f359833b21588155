"""The portions of jobs in the store in memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from maintainer.ports.store.portions import Portion, PortionSet, check_bounds


@dataclass
class FakePortions:
    """Implements PortionStore."""

    _portions: dict[PortionSet, dict[int, Portion]] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def _is_unfinished(self, job_id: str) -> bool:
        raise NotImplementedError

    def add_portion(self, portions: PortionSet, number: int, portion: Portion) -> bool:
        check_bounds(portions, number, portion)
        with self._open():
            known = self._portions.setdefault(portions, {})
            return known.setdefault(number, portion) is portion

    def count_lines(self, portions: PortionSet) -> tuple[int, ...] | None:
        with self._open():
            known = sorted(self._portions.get(portions, {}).items())
            is_complete = [number for number, _ in known] == list(range(len(known)))
            if not known or not is_complete or not known[-1][1].is_last:
                return None
            return tuple(portion.lines for _, portion in known)

    def portion(self, portions: PortionSet, number: int) -> Portion | None:
        with self._open():
            return self._portions.get(portions, {}).get(number)

    def claim_portions(self, job_id: str, preparer: str) -> None:
        with self._open():
            claimed = {
                replace(portions, preparer=""): held
                for portions, held in self._portions.items()
                if (portions.job_id, portions.preparer) == (job_id, preparer)
            }
            self._delete(lambda portions: portions.job_id == job_id and bool(portions.preparer))
            self._portions |= claimed

    def forget_portions(self, job_id: str, preparer: str | None = None) -> None:
        with self._open():
            self._delete(
                lambda portions: portions.job_id == job_id and preparer in {None, portions.preparer}
            )

    def prune_portions(self) -> int:
        with self._open():
            return self._delete(lambda portions: not self._is_unfinished(portions.job_id))

    def _delete(self, is_gone: Callable[[PortionSet], bool]) -> int:
        gone = [portions for portions in self._portions if is_gone(portions)]
        return sum(len(self._portions.pop(portions)) for portions in gone)
