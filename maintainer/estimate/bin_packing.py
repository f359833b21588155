"""Iceberg's bin packing, of files into groups and of parts of files into tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def pack(
    weights: Iterable[int], limit: int, lookback: int, *, most_items: int | None = None
) -> Iterator[list[int]]:
    """The bins in the order in which Iceberg closes them, oldest first.

    An item above the limit has a bin of its own.
    """
    items = list(weights)
    for positions in pack_positions(items, limit, lookback, most_items=most_items):
        yield [items[position] for position in positions]


def pack_positions(
    weights: Sequence[int], limit: int, lookback: int, *, most_items: int | None = None
) -> Iterator[list[int]]:
    """The bins of `pack`, with the position of each item instead of its weight."""
    bins: list[_Bin] = []
    for position, weight in enumerate(weights):
        fitting = next(
            (
                found
                for found in bins
                if found.weight + weight <= limit
                and (most_items is None or len(found.items) < most_items)
            ),
            None,
        )
        if fitting is not None:
            fitting.add(position, weight)
            continue
        bins.append(_Bin(position, weight))
        if len(bins) > lookback:
            yield bins.pop(0).items
    yield from (left.items for left in bins)


class _Bin:
    """The positions of the items of one bin so far, and their weight together."""

    __slots__ = ("items", "weight")

    def __init__(self, position: int, weight: int) -> None:
        self.items = [position]
        self.weight = weight

    def add(self, position: int, weight: int) -> None:
        self.items.append(position)
        self.weight += weight


def weigh_bins(classes: Iterable[tuple[int, int]], limit: int, lookback: int) -> Iterator[int]:
    """The weights of the bins for classes of equal items, each (weight, number), heaviest first.

    Equal items in a row fill one bin after the other, so each bin takes its share at once.
    """
    bins: list[int] = []
    for weight, number in classes:
        left = number
        room = limit - weight
        for position, filled in enumerate(bins):
            if filled <= room:
                taken = 1 if left == 1 else _count_fitting(weight, left, limit - filled)
                bins[position] = filled + taken * weight
                left -= taken
                if not left:
                    break
        while left:  # no open bin has room for another item
            bins.append(weight)
            left -= 1
            if len(bins) > lookback:
                heaviest = bins.index(max(bins))
                yield bins.pop(heaviest)
                if heaviest == len(bins):
                    continue
            if left and 2 * weight <= limit:
                taken = _count_fitting(weight, left, limit - weight)
                bins[-1] += taken * weight
                left -= taken
    yield from bins


def _count_fitting(weight: int, number: int, room: int) -> int:
    return min(number, room // weight) if weight else number
