"""Which deletes apply to which data file, by the rules of Iceberg's delete index.

The rules use path, partition and sequence number.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from maintainer.domain.file_sizes import (
    WHOLE_PARTITION,
    DeletedFiles,
    FileColumns,
    ListedFile,
    unpack_columns,
    unpack_files,
)
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, SizeClasses
from maintainer.measure.deleted_files import NO_BOUNDS, DeletedTable

_Place = tuple[int, str]  # a partition: spec and text


@dataclass(slots=True)
class _Scoped:
    """Delete files that apply to one data file each.

    They take 24 bytes each, because there may be one for each of ten million data files.
    """

    # keys of the data files, sorted after all are added
    keys: array[int] = field(default_factory=lambda: array("Q"))
    sequence_numbers: array[int] = field(default_factory=lambda: array("Q"))
    record_counts: array[int] = field(default_factory=lambda: array("Q"))
    applied: bytearray = field(default_factory=bytearray)  # 1: the data file exists

    def add(self, file: ListedFile) -> None:
        self.keys.append(file.key)
        self.sequence_numbers.append(file.sequence_number)
        self.record_counts.append(file.record_count)

    def put_in_order(self) -> None:
        order = sorted(range(len(self.keys)), key=self.keys.__getitem__)
        for column in (self.keys, self.sequence_numbers, self.record_counts):
            column[:] = array(column.typecode, [column[position] for position in order])
        self.applied = bytearray(len(order))

    def find(self, keys: Sequence[int], oldest: Iterable[int]) -> dict[int, tuple[int, int]]:
        """The data files that delete files apply to, by their position in `keys`.

        Each has the number of its delete files and of the records that they delete. A delete file
        that is older than the data file's number in `oldest` does not apply.
        """
        found: dict[int, tuple[int, int]] = {}
        known, end = self.keys, len(self.keys)
        if not end:
            return found
        for index, (key, bound) in enumerate(zip(keys, oldest)):  # noqa: B905 - maybe endless
            position = bisect_left(known, key)
            if position < end and known[position] == key:
                files, records = self._apply(position, bound)
                if files:
                    found[index] = files, records
        return found

    def _apply(self, position: int, oldest: int) -> tuple[int, int]:
        files = records = 0
        key = self.keys[position]
        while position < len(self.keys) and self.keys[position] == key:
            if self.sequence_numbers[position] >= oldest:
                files += 1
                records += self.record_counts[position]
                self.applied[position] = 1
            position += 1
        return files, records


@dataclass(slots=True)
class _Deletes:
    """The delete files of one partition."""

    by_path: _Scoped = field(default_factory=_Scoped)
    vectors: _Scoped = field(default_factory=_Scoped)
    # sequence numbers of delete files for the whole partition
    positions: list[int] = field(default_factory=list)
    equalities: list[int] = field(default_factory=list)
    # sequence number of the oldest data file; None: the partition has none
    oldest_data: int | None = None

    def count_dangling(self) -> int:
        """The number of position delete files that apply to no data file.

        Their data files no longer exist, or are newer than the deletes.
        """
        behind = (
            len(self.positions)
            if self.oldest_data is None
            else bisect_left(self.positions, self.oldest_data)
        )
        return behind + self.by_path.applied.count(0)

    def put_in_order(self) -> None:
        self.by_path.put_in_order()
        self.vectors.put_in_order()
        self.positions.sort()
        self.equalities.sort()


@dataclass(frozen=True, slots=True)
class JoinedDeletes:
    """The result of the join, by partition."""

    # data files that deletes apply to
    deleted: dict[_Place, tuple[DeletedFiles, ...]] = field(default_factory=dict)
    # position delete files that apply to no data file; None: unknown
    dangling: dict[_Place, int] | None = field(default_factory=dict)
    # sequence numbers of the delete files whose one data file is not in the table, by its key
    lost: dict[int, list[int]] = field(default_factory=dict)


def join_deletes(
    manifests: Iterable[ManifestDigest],
    limit: int,
    bounds: SizeClasses = NO_BOUNDS,
    since: int | None = None,
) -> JoinedDeletes:
    """Find the data files that deletes apply to.

    Up to the limit in each partition they are single files, beyond it classes; no class has sizes
    on both sides of a bound. Equality deletes are counted by sequence number alone, while Iceberg
    may exclude some by column bounds: the count is never too low. Two paths may share a key, so
    that a dangling delete seems to apply: the number of dangling deletes is never too high.
    `since` is the sequence number after which deletes count as lost; None: none does.
    """
    deletes, everywhere = _index_deletes(manifests)
    if not deletes and not everywhere:
        return JoinedDeletes()
    found, is_whole, nothing = DeletedTable(limit, bounds), True, _Deletes()
    for manifest in manifests:
        is_whole &= manifest.lists_files or not manifest.partitions
        if manifest.content is not ManifestContent.DATA:
            continue
        places = [(share.spec_id, share.partition) for share in manifest.partitions]
        there = [deletes.get(place, nothing if everywhere else None) for place in places]
        if not any(there):
            continue
        for position, files in unpack_columns(manifest.files).by_partition():
            concerned = there[position]
            if concerned is not None:
                found.add(places[position], _find_deleted(files, concerned, everywhere))
    dangling = {
        place: number for place, there in deletes.items() if (number := there.count_dangling())
    }
    if not is_whole:
        return JoinedDeletes(found.tell(), None)
    lost = {} if since is None else _find_lost(manifests, deletes.values(), since)
    return JoinedDeletes(found.tell(), dangling, lost)


def _find_lost(
    manifests: Iterable[ManifestDigest], deletes: Iterable[_Deletes], since: int
) -> dict[int, list[int]]:
    """Delete files after `since` for one data file that the table does not have, in any spec."""
    lost: dict[int, list[int]] = defaultdict(list)
    for there in deletes:
        for scoped in (there.by_path, there.vectors):
            found = zip(scoped.keys, scoped.sequence_numbers, scoped.applied, strict=True)
            for key, number, applied in found:
                if number > since and not applied:
                    lost[key].append(number)
    if lost:
        for manifest in manifests:
            if manifest.content is ManifestContent.DATA:
                for key in lost.keys() & set(unpack_columns(manifest.files).keys):
                    del lost[key]
    return dict(lost)


def _index_deletes(manifests: Iterable[ManifestDigest]) -> tuple[dict[_Place, _Deletes], list[int]]:
    """Deletes by partition, and the sequence numbers of equality deletes without a partition.

    Those apply to all partitions.
    """
    deletes: dict[_Place, _Deletes] = {}
    everywhere: list[int] = []
    for place, content, file in _list_deletes(manifests):
        if content is Content.EQUALITY_DELETES and not place[1]:
            everywhere.append(file.sequence_number)
            continue
        there = deletes.setdefault(place, _Deletes())
        if content is Content.EQUALITY_DELETES:
            there.equalities.append(file.sequence_number)
        elif file.key == WHOLE_PARTITION:
            there.positions.append(file.sequence_number)
        else:
            (there.vectors if content is Content.DELETION_VECTORS else there.by_path).add(file)
    for there in deletes.values():
        there.put_in_order()
    return deletes, sorted(everywhere)


def _list_deletes(
    manifests: Iterable[ManifestDigest],
) -> Iterator[tuple[_Place, Content, ListedFile]]:
    for manifest in manifests:
        if manifest.content is ManifestContent.DELETES:
            for file in unpack_files(manifest.files):
                share = manifest.partitions[file.partition]
                yield (share.spec_id, share.partition), share.content, file


def _find_deleted(
    files: FileColumns, there: _Deletes, everywhere: Sequence[int]
) -> list[tuple[int, float, int]]:
    """The files of a partition that deletes apply to: bytes, deleted share, delete files.

    Only delete files for this one data file count for the share, which is at most 1.
    """
    written = files.sequence_numbers
    oldest = min(written)
    there.oldest_data = oldest if there.oldest_data is None else min(oldest, there.oldest_data)
    by_path = there.by_path.find(files.keys, written)
    vectors = there.vectors.find(files.keys, repeat(0))
    # Whether a delete file without a named data file applies depends only on sequence numbers.
    equalities = {
        sequence: len(everywhere)
        - bisect_right(everywhere, sequence)
        + len(there.equalities)
        - bisect_right(there.equalities, sequence)
        for sequence in set(written)
    }
    positions = {
        sequence: len(there.positions) - bisect_left(there.positions, sequence)
        for sequence in equalities
    }
    found = []
    for index, (size, records, sequence) in enumerate(
        zip(files.sizes_bytes, files.record_counts, written, strict=True)
    ):
        count, scoped = equalities[sequence], vectors.get(index)
        if scoped is None:  # a deletion vector replaces all position deletes
            count, scoped = count + positions[sequence], by_path.get(index)
        if scoped is not None:
            share = min(scoped[1], records) / records if records else 0.0
            found.append((size, share, count + scoped[0]))
        elif count:
            found.append((size, 0.0, count))
    return found
