"""Which deletes apply to which data file, as Iceberg's delete index tells: by path, by partition, and by sequence number."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from maintainer.domain.filelist import WHOLE_PARTITION, ListedFile, unpack_files
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest
from maintainer.domain.sizes import DeletedFiles, end_of_run

_RATIO_STEPS: Final = 20  # classes of deleted shares, so that Iceberg's own threshold of 0.3 lies between two
_Place = tuple[int, str]  # a partition: spec and text


@dataclass(slots=True)
class _Deletes:
    """Delete files of one partition."""

    by_path: dict[int, list[ListedFile]] = field(default_factory=lambda: defaultdict(list))
    vectors: dict[int, list[ListedFile]] = field(default_factory=lambda: defaultdict(list))
    positions: list[int] = field(default_factory=list)  # sequence numbers of those for the whole partition
    equalities: list[int] = field(default_factory=list)


def join_deletes(manifests: Sequence[ManifestDigest], limit: int) -> Mapping[_Place, tuple[DeletedFiles, ...]]:
    """The data files that deletes apply to, by partition: one by one up to the limit in each, else in classes.

    Equality deletes are counted by sequence number alone, where Iceberg may also rule some out by the data files' column bounds: never too low.
    """
    deletes, everywhere = _index_deletes(manifests)
    if not deletes and not everywhere:
        return {}
    found: dict[_Place, _Found] = {}
    for manifest in manifests:
        if manifest.content is not ManifestContent.DATA:
            continue
        places = [(share.spec_id, share.partition) for share in manifest.partitions]
        concerned = [place in deletes or bool(everywhere) for place in places]
        for file in unpack_files(manifest.files) if any(concerned) else ():
            if concerned[file.partition]:
                place = places[file.partition]
                for deleted in _apply(file, deletes.get(place, _NOTHING), everywhere):
                    found.setdefault(place, _Found()).add(deleted, limit)
    joined: dict[_Place, tuple[DeletedFiles, ...]] = {}
    while found:  # each let go of as soon as it is told: there may be hundreds of thousands of classes
        place, there = found.popitem()
        joined[place] = there.groups()
    return joined


_NOTHING: Final = _Deletes()


def _index_deletes(manifests: Iterable[ManifestDigest]) -> tuple[Mapping[_Place, _Deletes], list[int]]:
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
            (there.vectors if content is Content.DELETION_VECTORS else there.by_path)[file.key].append(file)
    for there in deletes.values():
        there.positions.sort()
        there.equalities.sort()
    return deletes, sorted(everywhere)


def _list_deletes(manifests: Iterable[ManifestDigest]) -> Iterator[tuple[_Place, Content, ListedFile]]:
    for manifest in manifests:
        if manifest.content is ManifestContent.DELETES:
            for file in unpack_files(manifest.files):
                share = manifest.partitions[file.partition]
                yield (share.spec_id, share.partition), share.content, file


def _apply(file: ListedFile, there: _Deletes, everywhere: Sequence[int]) -> Iterator[DeletedFiles]:
    """The file with its deletes, when it has any."""
    count = len(everywhere) - bisect_right(everywhere, file.sequence_number)
    count += len(there.equalities) - bisect_right(there.equalities, file.sequence_number)
    scoped = there.vectors.get(file.key, ())
    if not scoped:  # a deletion vector takes the place of all position deletes
        scoped = [delete for delete in there.by_path.get(file.key, ()) if delete.sequence_number >= file.sequence_number]
        count += len(there.positions) - bisect_left(there.positions, file.sequence_number)
    count += len(scoped)
    if count:
        deleted = min(sum(delete.record_count for delete in scoped), file.record_count)
        ratio = deleted / file.record_count if file.record_count else 0.0
        yield DeletedFiles(1, file.size_bytes, file.size_bytes, file.size_bytes, ratio, ratio, count)


@dataclass(slots=True)
class _Found:
    """The files of one partition that deletes apply to: in classes from the moment that they are too many, so that a table's files are never all here."""

    files: list[DeletedFiles] = field(default_factory=list)
    classes: dict[tuple[int, int, int], DeletedFiles] = field(default_factory=dict)  # by deleted share, delete files and size

    def add(self, file: DeletedFiles, limit: int) -> None:
        """Take one more."""
        if self.classes:
            self._fold(file)
            return
        self.files.append(file)
        if len(self.files) > limit:
            for each in self.files:
                self._fold(each)
            self.files.clear()

    def _fold(self, file: DeletedFiles) -> None:
        key = int(file.least_ratio * _RATIO_STEPS), file.delete_files, end_of_run(file.bytes)
        known = self.classes.get(key)
        self.classes[key] = file if known is None else _merge(known, file)

    def groups(self) -> tuple[DeletedFiles, ...]:
        """One by one, or by class of shares, their number of delete files, and size; a class has the same bounds for all its sizes."""
        least: dict[tuple[int, int], float] = {}
        most: dict[tuple[int, int], float] = {}
        for (ratio, count, _), files in self.classes.items():
            least[ratio, count] = min(least.get((ratio, count), files.least_ratio), files.least_ratio)
            most[ratio, count] = max(most.get((ratio, count), files.most_ratio), files.most_ratio)
        classed = (self.classes[key]._replace(least_ratio=least[key[:2]], most_ratio=most[key[:2]]) for key in sorted(self.classes))
        return (*self.files, *classed)


def _merge(some: DeletedFiles, more: DeletedFiles) -> DeletedFiles:
    return DeletedFiles(
        some.files + more.files,
        some.bytes + more.bytes,
        min(some.smallest, more.smallest),
        max(some.largest, more.largest),
        min(some.least_ratio, more.least_ratio),
        max(some.most_ratio, more.most_ratio),
        some.delete_files,
    )
