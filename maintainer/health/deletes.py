"""Which deletes apply to which data file, as Iceberg's delete index tells: by path, by partition, and by sequence number."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from maintainer.domain.filelist import WHOLE_PARTITION, ListedFile, unpack_files
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest
from maintainer.domain.sizes import DeletedFiles, find_runs

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
    found: dict[_Place, list[DeletedFiles]] = defaultdict(list)
    for manifest in manifests:
        if manifest.content is not ManifestContent.DATA:
            continue
        places = [(share.spec_id, share.partition) for share in manifest.partitions]
        concerned = [place in deletes or bool(everywhere) for place in places]
        for file in unpack_files(manifest.files) if any(concerned) else ():
            if concerned[file.partition]:
                place = places[file.partition]
                found[place] += _apply(file, deletes.get(place, _NOTHING), everywhere)
    return {place: _shorten(files, limit) for place, files in found.items() if files}


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


def _shorten(files: list[DeletedFiles], limit: int) -> tuple[DeletedFiles, ...]:
    if len(files) <= limit:
        return tuple(files)
    classes: dict[tuple[int, int], list[DeletedFiles]] = defaultdict(list)
    for file in files:
        classes[int(file.least_ratio * _RATIO_STEPS), file.delete_files].append(file)
    return tuple(shortened for key in sorted(classes) for shortened in _make_classes(classes[key]))


def _make_classes(alike: list[DeletedFiles]) -> Iterator[DeletedFiles]:
    """Files of one class of ratios, by runs of sizes."""
    least, most = min(file.least_ratio for file in alike), max(file.most_ratio for file in alike)
    for run in find_runs(sorted(file.bytes for file in alike)):
        yield DeletedFiles(run.files, run.bytes, run.smallest, run.largest, least, most, alike[0].delete_files)
