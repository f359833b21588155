"""Adds up the live entries of a manifest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from typing import Any

from maintainer.adapters.catalog.limits import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_FILE_RECORDS,
    MAX_NAME_CHARACTERS,
    MAX_SHARES,
    ImplausibleError,
    UnreadableFileError,
)
from maintainer.domain.file_sizes import (
    MAX_LISTED_SIZES,
    FileSizes,
    SizeRun,
    find_runs,
    list_limit,
    merge_runs,
    pack_files,
)
from maintainer.domain.inventory import (
    HISTOGRAM_BOUNDS_BYTES,
    Content,
    PartitionDigest,
    SizeClasses,
    histogram_bin,
)

_FEW_SIZES = 16  # with fewer sizes, a bin for each size is faster than a search for each bound

# Files of one kind: sizes in bytes, records, sequence numbers (None: that of the manifest), and
# keys (filelist.path_key; empty if files are not listed).
Group = tuple[list[int], list[int], list[int | None], list[int]]
Groups = dict[tuple[Any, Any, Any], Group]  # partition, content, file format


@dataclass(slots=True)
class _Share:
    file_count: int = 0
    bytes: int = 0
    record_count: int = 0
    small_count: int = 0
    small_bytes: int = 0
    large_count: int = 0
    large_bytes: int = 0
    listed: list[int] = field(default_factory=list)
    runs: list[SizeRun] = field(default_factory=list)
    newest: int = 0
    files: list[Group] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """The sums of one manifest so far."""

    classes: SizeClasses
    inherited: int = 0  # the sequence number of entries without one
    entries: int = 0
    shares: dict[tuple[str, Content], _Share] = field(default_factory=dict)
    histogram: list[int] = field(default_factory=lambda: [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1))
    histogram_bytes: list[int] = field(
        default_factory=lambda: [0] * (len(HISTOGRAM_BOUNDS_BYTES) + 1)
    )
    formats: dict[str, int] = field(default_factory=dict)
    name_characters: int = 0
    list_fault: str = ""  # as in the digest

    def count(self, entries: int) -> None:
        """Count entries that were read; UnreadableFileError if a manifest has too many."""
        self.entries += entries
        if self.entries > MAX_ENTRIES:
            raise UnreadableFileError(f"it has more than {MAX_ENTRIES:,} entries")

    def add_files(self, partition: str, content: Content, file_format: str, group: Group) -> None:
        """Add files of one kind; ValueError if a size or a count is negative."""
        sizes, records, sequences, keys = group
        ordered = sorted(sizes)
        if ordered[0] < 0 or min(records) < 0:
            raise ValueError(f"{ordered[0]} bytes or {min(records)} records")
        if ordered[-1] > MAX_FILE_BYTES or max(records) > MAX_FILE_RECORDS:
            raise ImplausibleError(
                f"it lists a file of {ordered[-1]:,} bytes or {max(records):,} records; the bound "
                f"of each is {MAX_FILE_BYTES:,}"
            )
        share = self._share(partition, content)
        share.file_count += len(sizes)
        share.bytes += sum(sizes)
        share.record_count += sum(records)
        share.newest = max(share.newest, self._newest(sequences))
        if keys:
            share.files.append(group)
        if content is not Content.DATA:
            return
        self._classify(ordered)
        if file_format not in self.formats:
            self._take_name(file_format)
        self.formats[file_format] = self.formats.get(file_format, 0) + len(sizes)
        small = bisect_left(ordered, self.classes.small_below_bytes)
        large = max(small, bisect_right(ordered, self.classes.large_above_bytes))
        share.small_count += small
        share.small_bytes += sum(ordered[:small])
        share.large_count += len(ordered) - large
        share.large_bytes += sum(ordered[large:])
        if len(sizes) + len(share.listed) <= MAX_LISTED_SIZES:
            share.listed += sizes
        else:
            share.runs += find_runs(ordered)

    def partitions(self, spec_id: int) -> tuple[PartitionDigest, ...]:
        """Return the sums for each partition and content, sorted."""
        limit = list_limit(len(self.shares))
        return tuple(
            _partition_digest(spec_id, key, self.shares[key], limit) for key in sorted(self.shares)
        )

    def pack_files(self) -> bytes:
        """Pack the list of files; empty if files were added without keys."""
        return pack_files(
            chain.from_iterable(
                self._list_files(position, self.shares[key])
                for position, key in enumerate(sorted(self.shares))
            )
        )

    def _list_files(self, position: int, share: _Share) -> Iterator[tuple[int, int, int, int, int]]:
        for sizes, records, sequences, keys in share.files:
            written = [self.inherited if sequence is None else sequence for sequence in sequences]
            if min(written) < 0:
                written = [max(0, sequence) for sequence in written]
            yield from zip(repeat(position), keys, sizes, records, written)

    def _newest(self, sequences: Sequence[int | None]) -> int:
        return max(
            (self.inherited if sequence is None else sequence for sequence in set(sequences)),
            default=0,
        )

    def _share(self, partition: str, content: Content) -> _Share:
        share = self.shares.get((partition, content))
        if share is None:
            share = self.shares[partition, content] = _Share()
            self._take_name(partition)
        return share

    def _take_name(self, name: str) -> None:
        self.name_characters += len(name)
        if (
            len(self.shares) + len(self.formats) > MAX_SHARES
            or self.name_characters > MAX_NAME_CHARACTERS
        ):
            raise UnreadableFileError(
                f"it has more than {MAX_SHARES:,} partitions, or more than "
                f"{MAX_NAME_CHARACTERS:,} characters in their names"
            )

    def _classify(self, sizes: Sequence[int]) -> None:
        """Count sorted sizes into the histogram."""
        if len(sizes) < _FEW_SIZES:
            for size in sizes:
                index = histogram_bin(size)
                self.histogram[index] += 1
                self.histogram_bytes[index] += size
            return
        below = [0, *(bisect_left(sizes, bound) for bound in HISTOGRAM_BOUNDS_BYTES), len(sizes)]
        for index, (start, end) in enumerate(pairwise(below)):
            self.histogram[index] += end - start
            self.histogram_bytes[index] += sum(sizes[start:end])


def _partition_digest(
    spec_id: int, key: tuple[str, Content], share: _Share, limit: int
) -> PartitionDigest:
    partition, content = key
    return PartitionDigest(
        spec_id=spec_id,
        partition=partition,
        content=content,
        file_count=share.file_count,
        bytes=share.bytes,
        record_count=share.record_count,
        small_count=share.small_count,
        small_bytes=share.small_bytes,
        large_count=share.large_count,
        large_bytes=share.large_bytes,
        sizes=_describe_sizes(share, limit),
        newest_sequence_number=share.newest or None,
    )


def _describe_sizes(share: _Share, limit: int) -> FileSizes:
    if not share.runs and len(share.listed) <= limit:
        return FileSizes(tuple(share.listed))
    return FileSizes(runs=merge_runs([*share.runs, *find_runs(sorted(share.listed))]))
