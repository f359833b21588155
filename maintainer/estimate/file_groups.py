"""How Iceberg divides the selected files of a partition into groups, and what is known of them.

Source: Iceberg 1.12's SizeBasedFileRewritePlanner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import ManifestContent
from maintainer.estimate.bin_packing import pack_positions
from maintainer.estimate.file_selection import Candidates, DeleteBytes
from maintainer.estimate.output_files import Count

_MOST_GROUPS = 4096  # per partition: 400 TiB with Iceberg's default


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """The limits on a group, and from which size or number of files Iceberg takes it."""

    bytes: int
    files: int | None
    min_files: int
    large_above: int
    takes_all: bool


def split(
    taken: Candidates, limits: GroupLimits, *, is_order_known: bool
) -> Iterator[tuple[Candidates, int, bool]]:
    """Split into groups within the limits on bytes and files.

    Where it is unknown which files are in a group, it comes with the most bytes that it may have,
    and with True if Iceberg may not take it.
    """
    files, most = taken.files, limits.files
    if files.bytes <= limits.bytes and (most is None or files.count <= most):
        yield taken, 0, False
        return
    parts = (
        [
            _pick(taken, positions)
            for positions in pack_positions(files.listed, limits.bytes, 1, most_items=most)
        ]
        if files.listed
        else list(_spread(taken, limits))
    )
    is_known = is_order_known and bool(files.listed) and taken.marked is not None
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        yield (
            part,
            0 if is_known else _reach(files, part.files.count, limits),
            not (is_known or _is_surely_taken(taken, part, limits, is_last=is_last)),
        )


def _reach(files: FileSizes, count: int, limits: GroupLimits) -> int:
    """The most bytes of a group of this many of the files."""
    if files.runs:
        return limits.bytes
    heaviest = sum(sorted(files.listed)[-count:])
    return min(heaviest, max(limits.bytes, *files.listed))


def _is_surely_taken(
    whole: Candidates, part: Candidates, limits: GroupLimits, *, is_last: bool
) -> bool:
    """True when Iceberg takes the group, however the files are divided among the groups."""
    if limits.takes_all:
        return True
    enough = max(2, limits.min_files)
    if whole.files.bytes <= limits.bytes:  # only the number of files divides them
        return part.files.count >= enough
    largest = max((*whole.files.listed, *(run.largest for run in whole.files.runs)))
    return (
        not is_last
        and limits.bytes - largest > limits.large_above
        and (limits.files is None or limits.files >= enough)
    )


def _pick(taken: Candidates, positions: Sequence[int]) -> Candidates:
    """One group of the listed files."""
    weights = tuple(taken.deletes.listed[at] for at in positions) if taken.deletes.listed else ()
    marked = (
        frozenset(new for new, at in enumerate(positions) if at in taken.marked)
        if taken.marked is not None
        else None
    )
    return replace(
        taken,
        files=FileSizes(tuple(taken.files.listed[at] for at in positions)),
        deleted=len(marked) if marked is not None else min(taken.deleted, len(positions)),
        uncertain=min(taken.uncertain, len(positions)),
        emptied=min(taken.emptied, len(positions)) if taken.emptied == taken.files.count else 0,
        deletes=replace(taken.deletes, listed=weights, expected=sum(weights)),
        marked=marked,
    )


def _spread(taken: Candidates, limits: GroupLimits) -> Iterator[Candidates]:
    """Groups with equal shares of all runs, because the order of files in runs is unknown."""
    files, most = taken.files, limits.files
    number = max(
        -(-files.bytes // limits.bytes),
        -(-files.count // most) if most is not None else 1,
    )
    number = min(number, files.count, _MOST_GROUPS)
    for position in range(number):
        share = _share(files, number, position)
        yield replace(
            taken,
            files=share,
            deleted=min(taken.deleted, share.count),
            uncertain=min(taken.uncertain, share.count),
            emptied=share.count if taken.emptied == files.count else 0,
            deletes=replace(
                taken.deletes, expected=taken.deletes.expected * share.count // files.count
            ),
        )


def _share(files: FileSizes, number: int, position: int) -> FileSizes:
    """Take one of `number` files, counted through all runs, so that no group is empty."""
    runs = []
    before = number - 1 - position
    for run in files.runs:
        count = (before + run.files) // number - before // number
        before += run.files
        if count:
            runs.append(run._replace(files=count, bytes=run.bytes * count // run.files))
    return FileSizes(runs=tuple(runs))


def widen(outputs: Count, reach: int, target: int) -> Count:
    """The bounds of a group that may have this many bytes; 0 if its files are known."""
    if reach <= target:
        return outputs
    most = 2 * reach // target + 1
    return Count(outputs.expected, min(1, outputs.least), max(outputs.most, most))


def is_order_known(health: TableHealth) -> bool:
    """False for several manifests.

    Iceberg reads them in parallel, so the order of their files varies.
    """
    return (
        sum(
            group.count for group in health.manifest_groups if group.content is ManifestContent.DATA
        )
        == 1
    )


def find_common_deletes(health: TableHealth) -> DeleteBytes:
    """The equality deletes of a spec without partitions, which apply to all partitions."""
    size = sum(
        partition.equality_delete_bytes
        for partition in health.partitions
        if not partition.partition
    )
    return DeleteBytes((), size, size, is_known=not size)
