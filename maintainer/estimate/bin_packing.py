"""Bin packing as in Iceberg: first fit among the last few bins, in the order of the items.

Source: org.apache.iceberg.util.BinPacking of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def pack(
    weights: Iterable[int],
    limit: int,
    lookback: int,
    *,
    largest_first: bool,
    most_items: int | None = None,
) -> Iterator[list[int]]:
    """The bins in the order in which Iceberg closes them.

    An item above the limit has a bin of its own.
    """
    bins: list[_Bin] = []
    for weight in weights:
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
            fitting.add(weight)
            continue
        bins.append(_Bin(weight))
        if len(bins) > lookback:
            closed = (
                max(range(len(bins)), key=lambda position: bins[position].weight)
                if largest_first
                else 0
            )
            yield bins.pop(closed).items
    yield from (left.items for left in bins)


class _Bin:
    """The items of one bin so far."""

    __slots__ = ("items", "weight")

    def __init__(self, weight: int) -> None:
        self.items = [weight]
        self.weight = weight

    def add(self, weight: int) -> None:
        self.items.append(weight)
        self.weight += weight
