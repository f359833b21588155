"""A table's first delete: what was digested before lacks the files that deletes apply to, and is
read anew, once.
"""

from __future__ import annotations

from dataclasses import replace

from maintainer.adapters.catalog import inventories
from maintainer.adapters.catalog.manifests.manifest import ListedManifest, list_manifests
from maintainer.domain.inventory import ManifestContent, ManifestDigest


def row(path: str, content: int, live: int | None) -> list[object]:
    return [path, 10, 0, 1, content, None, live, 0, None]


def test_where_a_list_has_live_deletes_the_data_files_are_kept_one_by_one() -> None:
    without = list_manifests([row("a", 0, 3), row("d", 1, 0)])
    having = list_manifests([row("a", 0, 3), row("d", 1, 1)])
    unsaid = list_manifests([row("a", 0, 3), row("d", 1, None)])
    assert [manifest.lists_files for manifest in without] == [False, True]
    assert (
        [manifest.keeps_files for manifest in having]
        == [manifest.keeps_files for manifest in unsaid]
        == [True, False]
    )
    assert all(manifest.lists_files for manifest in having)


def test_a_digest_without_its_files_is_not_reused_for_a_table_with_deletes() -> None:
    listed = ListedManifest("a", 10, 0, ManifestContent.DATA, 1)
    plain = ManifestDigest("a", 10, 0, ManifestContent.DATA, 1)
    whole = replace(plain, lists_files=True)
    needed = replace(listed, keeps_files=True)
    assert [inventories._is_same(digest, listed) for digest in (plain, whole)] == [True, True]
    assert [
        inventories._is_same(digest, needed)
        for digest in (plain, whole, replace(whole, length_bytes=11))
    ] == [False, True, False]
