"""Data files that deletes apply to: single files while they are few, then classes of similar files.

The number of classes in a table is limited.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

from maintainer.domain.file_sizes import FINEST_BITS, DeletedFiles, end_of_run
from maintainer.domain.inventory import SizeClasses

MOST_SINGLE: Final = 250_000  # files of a table that are kept individually: about 60 MB
MOST_CLASSES: Final = 250_000  # per table: about 140 MB while they are collected, 60 MB afterwards
NO_BOUNDS: Final = SizeClasses(0, 0, 2**63 - 1)
_Place = tuple[int, str]
# the key of a class: deleted share, delete files, small or large, and size
_Key = tuple[int, int, int, int]


class Grain(IntEnum):
    """The similarity of the files in a class.

    Each coarser grain merges whole classes of the finer one.
    """

    FINE = 0  # equal within a twentieth (deleted share), exactly (delete files), an eighth (sizes)
    MEDIUM = 1  # within a twentieth, a factor of two, a half
    COARSE = 2  # within a tenth, a factor of two, a factor of two
    # deleted share below Iceberg's threshold, below 1, or 1; one delete file or several; small,
    # large or neither
    COARSEST = 3


_STEPS: Final = {Grain.FINE: 20, Grain.MEDIUM: 20, Grain.COARSE: 10}
_BITS: Final = {Grain.FINE: FINEST_BITS, Grain.MEDIUM: 1, Grain.COARSE: 0}
_THRESHOLDS: Final = (
    0.3,
    1.0,
)  # bounds of deleted shares, with Iceberg's threshold, which is between two steps, and 1


@dataclass(slots=True)
class _Class:
    """Files that are similar."""

    smallest: int
    largest: int
    least_ratio: float
    most_ratio: float
    fewest: int  # the least number of delete files that apply to one file
    most: int
    files: int
    bytes: int

    def add(self, size: int, ratio: float, count: int) -> None:
        self.files += 1
        self.bytes += size
        if size < self.smallest:
            self.smallest = size
        elif size > self.largest:
            self.largest = size
        if ratio < self.least_ratio:
            self.least_ratio = ratio
        elif ratio > self.most_ratio:
            self.most_ratio = ratio
        if count < self.fewest:
            self.fewest = count
        elif count > self.most:
            self.most = count

    def join(self, other: _Class) -> None:
        self.files += other.files
        self.bytes += other.bytes
        self.smallest = min(self.smallest, other.smallest)
        self.largest = max(self.largest, other.largest)
        self.least_ratio = min(self.least_ratio, other.least_ratio)
        self.most_ratio = max(self.most_ratio, other.most_ratio)
        self.fewest = min(self.fewest, other.fewest)
        self.most = max(self.most, other.most)


@dataclass(slots=True)
class _Found:
    """The files of one partition: single files, or classes if there are too many files."""

    single: list[DeletedFiles] = field(default_factory=list)
    classes: dict[_Key, _Class] = field(default_factory=dict)

    def tell(self) -> tuple[DeletedFiles, ...]:
        """Return the files, individually or by class.

        Files with similar shares and equally many delete files share the same bounds for all sizes.
        """
        bounds: dict[tuple[int, int], _Class] = {}
        for key, files in self.classes.items():
            known = bounds.get(key[:2])
            if known is None:
                bounds[key[:2]] = replace(files)
            else:
                known.join(files)
        return (
            *self.single,
            *(_make_class(self.classes[key], bounds[key[:2]]) for key in sorted(self.classes)),
        )


def _make_class(files: _Class, bounds: _Class) -> DeletedFiles:
    shares = bounds.least_ratio, bounds.most_ratio
    return DeletedFiles(
        files.files,
        files.bytes,
        files.smallest,
        files.largest,
        *shares,
        bounds.fewest,
        bounds.most - bounds.fewest,
    )


class DeletedTable:
    """The files of all partitions. The classes do not depend on the order of the files."""

    def __init__(
        self,
        limit: int,
        bounds: SizeClasses,
        most_single: int = MOST_SINGLE,
        most_classes: int = MOST_CLASSES,
    ) -> None:
        """Set how many files a partition may list singly, and size bounds that no class crosses."""
        self._limit = limit
        self._bounds = bounds
        self._most_single = most_single
        self._most_classes = most_classes
        self._found: dict[_Place, _Found] = {}
        self._files = 0
        self._classes = 0
        self.grain = Grain.FINE

    def add(self, place: _Place, files: Sequence[tuple[int, float, int]]) -> None:
        """Add files of one partition.

        Each is its bytes, the deleted share of its rows, and the number of delete files that apply.
        """
        if not files:
            return
        there = self._found.get(place)
        if there is None:
            there = self._found[place] = _Found()
        self._files += len(files)
        if self._files > self._most_single and self._limit:
            self._limit = 0
            for each in self._found.values():
                self._classify(each)
        if not there.classes and len(there.single) + len(files) <= self._limit:
            there.single += [
                DeletedFiles(1, size, size, size, ratio, ratio, count)
                for size, ratio, count in files
            ]
            return
        self._classify(there)
        for file in files:
            self._fold(there, *file)
        while self._classes > self._most_classes and self.grain is not Grain.COARSEST:
            self._coarsen()

    def tell(self) -> dict[_Place, tuple[DeletedFiles, ...]]:
        """The result for each partition. It is removed from this object as it is returned."""
        reported = {}
        while self._found:
            place, there = self._found.popitem()
            reported[place] = there.tell()
        return reported

    def _classify(self, there: _Found) -> None:
        for file in there.single:
            self._fold(there, file.bytes, file.least_ratio, file.delete_files)
        there.single.clear()

    def _fold(self, there: _Found, size: int, ratio: float, count: int) -> None:
        key = self._key(size, ratio, count)
        known = there.classes.get(key)
        if known is None:
            there.classes[key] = _Class(size, size, ratio, ratio, count, count, 1, size)
            self._classes += 1
        else:
            known.add(size, ratio, count)

    def _key(self, size: int, ratio: float, count: int) -> _Key:
        kind = (
            0
            if size < self._bounds.small_below_bytes
            else 2
            if size > self._bounds.large_above_bytes
            else 1
        )
        if self.grain is Grain.COARSEST:
            return bisect_right(_THRESHOLDS, ratio), int(count > 1), kind, 0
        return (
            int(ratio * _STEPS[self.grain]),
            count if self.grain is Grain.FINE else count.bit_length(),
            kind,
            end_of_run(size, _BITS[self.grain]),
        )

    def _coarsen(self) -> None:
        self.grain = Grain(self.grain + 1)
        self._classes = 0
        for there in self._found.values():
            fine, there.classes = there.classes, {}
            for files in fine.values():
                known = there.classes.setdefault(
                    self._key(files.smallest, files.least_ratio, files.fewest), files
                )
                if known is not files:
                    known.join(files)
            self._classes += len(there.classes)
