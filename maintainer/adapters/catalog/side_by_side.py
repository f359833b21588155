"""Works on several tables in parallel, so that no table waits for a huge table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from maintainer.adapters.catalog.loop import STOP_CHECK_SECONDS, ShouldStop, never

HUGE_ABREAST: Final = 1  # huge tables at the same time, while there are other tables

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(slots=True)
class Abreast(Generic[Item, Found]):
    """Works on a bounded number of items at the same time.

    An item that turns out to be huge is put off. At most HUGE_ABREAST huge items run with others.
    """

    # Starts an item; with True, the result may be that the item is huge.
    start: Callable[[Item, bool], Future[Found]]
    is_put_off: Callable[[Found], bool]
    width: int  # items at the same time
    _usual: dict[Future[Found], Item] = field(default_factory=dict)
    _huge: dict[Future[Found], Item] = field(default_factory=dict)
    _backlog: deque[Item] = field(default_factory=deque)

    def run(
        self, items: Iterable[Item], should_stop: ShouldStop = never
    ) -> Iterator[tuple[Item, Future[Found]]]:
        """Yield each item with its finished work, in the order of completion.

        Running work is cancelled when the caller stops or should_stop returns True.
        """
        source = iter(items)
        has_more = True
        try:
            while not should_stop():
                has_more = has_more and self._fill(source)
                self._start_huge(has_more=has_more)
                if not self._usual and not self._huge:
                    return
                yield from self._collect(should_stop)
        finally:
            for future in (*self._usual, *self._huge):
                future.cancel()

    def _fill(self, source: Iterator[Item]) -> bool:
        """Start items up to the width; False if there are no more."""
        while len(self._usual) < self.width:
            try:
                item = next(source)
            except StopIteration:
                return False
            # The parameters of a callable have no names here.
            self._usual[self.start(item, True)] = item  # noqa: FBT003
        return True

    def _start_huge(self, *, has_more: bool) -> None:
        free = HUGE_ABREAST if has_more or self._usual else self.width
        while self._backlog and len(self._huge) < free:
            item = self._backlog.popleft()
            self._huge[self.start(item, False)] = item  # noqa: FBT003 - as above

    def _collect(self, should_stop: ShouldStop) -> Iterator[tuple[Item, Future[Found]]]:
        done = wait(
            [*self._usual, *self._huge],
            None if should_stop is never else STOP_CHECK_SECONDS,
            FIRST_COMPLETED,
        ).done
        for future in [future for future in (*self._usual, *self._huge) if future in done]:
            if future in self._huge:
                yield self._huge.pop(future), future
                continue
            item = self._usual.pop(future)
            if (
                not future.cancelled()
                and future.exception() is None
                and self.is_put_off(future.result())
            ):
                self._backlog.append(item)
            else:
                yield item, future
