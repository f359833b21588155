"""The paths that a rewrite may take and must take, by the planner's rules for each single file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from maintainer.domain.file_sizes import FileSizes, ListedFile, pack_files, path_key, unpack_files
from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.inventory import ManifestContent, ManifestDigest, TableInventory
from maintainer.estimate.file_selection import find_candidates
from maintainer.estimate.rewrite_data_files import FileGroup, PlannerOptions
from maintainer.measure.delete_index import join_deletes


@dataclass(frozen=True)
class Paths:
    """What was predicted of each path."""

    possible: frozenset[str]
    is_exact: bool  # True: all of them are taken

    def count_wrong(self, taken: Collection[str]) -> int:
        """Paths that were taken against the prediction, or not taken."""
        missing = self.possible - set(taken) if self.is_exact else ()
        return len(set(taken) - self.possible) + len(missing)


def predict_paths(
    paths: Collection[str],
    inventory: TableInventory,
    health: TableHealth,
    options: PlannerOptions,
    groups: Collection[FileGroup],
) -> Paths:
    """The candidates in the partitions of the groups; `inventory` lists all files."""
    places = {place for group in groups for place in group.partitions}
    keys = {path_key(path.encode()): path for path in paths}
    assert len(keys) == len(paths)
    possible = frozenset(
        keys[file.key]
        for place, file, digest in _list_data(inventory)
        if place in places and _is_candidate(place, file, digest, inventory, health, options)
    )
    return Paths(
        possible,
        options.max_files is None
        and sum(group.files for group in groups) == len(possible)
        and not any(group.is_cut or group.is_doubtful or group.uncertain_files for group in groups),
    )


def _list_data(
    inventory: TableInventory,
) -> Iterator[tuple[PartitionKey, ListedFile, ManifestDigest]]:
    for manifest in inventory.manifests:
        if manifest.content is ManifestContent.DATA:
            for file in unpack_files(manifest.files):
                share = manifest.partitions[file.partition]
                yield (share.spec_id, share.partition), file, manifest


def _is_candidate(  # noqa: PLR0917 - one file of a table
    place: PartitionKey,
    file: ListedFile,
    digest: ManifestDigest,
    inventory: TableInventory,
    health: TableHealth,
    options: PlannerOptions,
) -> bool:
    """True when the file would be selected if it were the only one of its partition."""
    alone = replace(digest, files=pack_files([file]))
    deletes = [one for one in inventory.manifests if one.content is ManifestContent.DELETES]
    deleted = join_deletes([*deletes, alone], limit=1).deleted.get(place, ())
    there = next(one for one in health.partitions if (one.spec_id, one.partition) == place)
    single = replace(there, sizes=FileSizes((file.size_bytes,)), deleted=deleted)
    return find_candidates(single, options.bounds).files.count > 0
