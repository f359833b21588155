"""Which deletes apply to which data file, as Iceberg's delete index tells: by path, by partition, and by sequence number."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from maintainer.domain.filelist import WHOLE_PARTITION, ListedFile, unpack_files
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, SizeClasses
from maintainer.domain.sizes import DeletedFiles
from maintainer.health.deleted_classes import NO_BOUNDS, DeletedTable

_Place = tuple[int, str]  # a partition: spec and text


@dataclass(slots=True)
class _Scoped:
    """Delete files that are bound to one data file each: 24 bytes for one, because there may be one for each of ten million files."""

    keys: array[int] = field(default_factory=lambda: array("Q"))  # of the data files; in order once all are in
    sequence_numbers: array[int] = field(default_factory=lambda: array("Q"))
    record_counts: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, file: ListedFile) -> None:
        self.keys.append(file.key)
        self.sequence_numbers.append(file.sequence_number)
        self.record_counts.append(file.record_count)

    def put_in_order(self) -> None:
        order = sorted(range(len(self.keys)), key=self.keys.__getitem__)
        for column in (self.keys, self.sequence_numbers, self.record_counts):
            column[:] = array(column.typecode, [column[position] for position in order])

    def find(self, key: int, oldest: int) -> tuple[int, int]:
        """How many there are for a data file that are not older than that, and the records that they delete."""
        position = bisect_left(self.keys, key)
        files = records = 0
        while position < len(self.keys) and self.keys[position] == key:
            if self.sequence_numbers[position] >= oldest:
                files += 1
                records += self.record_counts[position]
            position += 1
        return files, records


@dataclass(slots=True)
class _Deletes:
    """Delete files of one partition."""

    by_path: _Scoped = field(default_factory=_Scoped)
    vectors: _Scoped = field(default_factory=_Scoped)
    positions: list[int] = field(default_factory=list)  # sequence numbers of those for the whole partition
    equalities: list[int] = field(default_factory=list)

    def put_in_order(self) -> None:
        self.by_path.put_in_order()
        self.vectors.put_in_order()
        self.positions.sort()
        self.equalities.sort()


def join_deletes(manifests: Iterable[ManifestDigest], limit: int, bounds: SizeClasses = NO_BOUNDS) -> dict[_Place, tuple[DeletedFiles, ...]]:
    """The data files that deletes apply to, by partition: one by one up to the limit in each, else in classes, none with sizes on both sides of a bound.

    Equality deletes are counted by sequence number alone, where Iceberg may also rule some out by the data files' column bounds: never too low.
    """
    deletes, everywhere = _index_deletes(manifests)
    if not deletes and not everywhere:
        return {}
    found = DeletedTable(limit, bounds)
    for manifest in manifests:
        if manifest.content is not ManifestContent.DATA:
            continue
        places = [(share.spec_id, share.partition) for share in manifest.partitions]
        there = [deletes.get(place, _NOTHING if everywhere else None) for place in places]
        for file in unpack_files(manifest.files) if any(there) else ():
            concerned = there[file.partition]
            if concerned is not None:
                count, deleted = _count_deletes(file, concerned, everywhere)
                if count:
                    found.add(places[file.partition], file.size_bytes, deleted / file.record_count if file.record_count else 0.0, count)
    return found.tell()


_NOTHING: Final = _Deletes()


def _index_deletes(manifests: Iterable[ManifestDigest]) -> tuple[dict[_Place, _Deletes], list[int]]:
    """Deletes by partition, and the sequence numbers of the equality deletes that are written without one: they apply everywhere."""
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


def _list_deletes(manifests: Iterable[ManifestDigest]) -> Iterator[tuple[_Place, Content, ListedFile]]:
    for manifest in manifests:
        if manifest.content is ManifestContent.DELETES:
            for file in unpack_files(manifest.files):
                share = manifest.partitions[file.partition]
                yield (share.spec_id, share.partition), share.content, file


def _count_deletes(file: ListedFile, there: _Deletes, everywhere: Sequence[int]) -> tuple[int, int]:
    """How many delete files apply to the file, and how many of its records those delete that are bound to it alone: no more than it has."""
    count = len(everywhere) - bisect_right(everywhere, file.sequence_number)
    count += len(there.equalities) - bisect_right(there.equalities, file.sequence_number)
    scoped, deleted = there.vectors.find(file.key, 0)
    if not scoped:  # a deletion vector takes the place of all position deletes
        scoped, deleted = there.by_path.find(file.key, file.sequence_number)
        count += len(there.positions) - bisect_left(there.positions, file.sequence_number)
    return count + scoped, min(deleted, file.record_count)
