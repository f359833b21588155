"""What a digest keeps of single files: sizes, and what joining deletes to their data files
takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest
from maintainer.adapters.catalog.manifests.manifest import PATH_COLUMN
from maintainer.domain.file_sizes import WHOLE_PARTITION, ListedFile, path_key, unpack_files
from maintainer.domain.inventory import ManifestContent
from tests.adapters.catalog.manifests.test_manifest import (
    CLASSES,
    SPECS,
    listed_as,
    manifest_schema,
    write,
)


def file_entry(
    path: str, size: int, records: int = 10, sequence_number: int | None = None, **fields: object
) -> dict[str, Any]:
    partition = {"day": 1, "key": None, "price": None}
    file = {
        "content": 0,
        "file_path": path,
        "file_format": "PARQUET",
        "partition": partition,
        "record_count": records,
        "file_size_in_bytes": size,
        **fields,
    }
    return {"status": 1, "snapshot_id": 7, "sequence_number": sequence_number, "data_file": file}


def test_sizes_are_kept_in_the_order_of_the_manifest_with_the_newest_sequence_number() -> None:
    raw = write(
        manifest_schema(2),
        [file_entry("a", 900), file_entry("b", 100, sequence_number=9), file_entry("c", 500)],
    )
    digest = digest_manifest(raw, replace(listed_as(raw), sequence_number=4), SPECS, CLASSES)
    assert [(share.sizes.listed, share.newest_sequence_number) for share in digest.partitions] == [
        ((900, 100, 500), 9)
    ]
    assert (digest.files, digest.lists_files) == (b"", False)


def test_files_are_kept_one_by_one_where_deletes_apply() -> None:
    raw = write(manifest_schema(2), [file_entry("a", 900, 11), file_entry("b", 100, 12, 9)])
    digest = digest_manifest(
        raw, replace(listed_as(raw), sequence_number=4, keeps_files=True), SPECS, CLASSES
    )
    expected = [
        ListedFile(0, path_key(b"a"), 900, 11, 4),
        ListedFile(0, path_key(b"b"), 100, 12, 9),
    ]
    assert list(unpack_files(digest.files)) == sorted(expected)


def test_a_delete_file_is_bound_to_a_data_file_by_name_or_by_equal_bounds() -> None:
    def bounds(path: bytes) -> list[dict[str, object]]:
        return [{"key": 4, "value": b"x"}, {"key": PATH_COLUMN, "value": path}]

    records = [
        file_entry(
            "1",
            10,
            content=1,
            referenced_data_file="a",
            content_offset=4,
            content_size_in_bytes=7,
            file_format="PUFFIN",
        ),
        file_entry("2", 20, content=1, lower_bounds=bounds(b"b"), upper_bounds=bounds(b"b")),
        file_entry("3", 30, content=1, lower_bounds=bounds(b"b"), upper_bounds=bounds(b"c")),
        file_entry("4", 40, content=1),
        file_entry("5", 50, content=2, lower_bounds=bounds(b"b"), upper_bounds=bounds(b"b")),
    ]
    raw = write(manifest_schema(3), records)
    digest = digest_manifest(
        raw, replace(listed_as(raw), content=ManifestContent.DELETES), SPECS, CLASSES
    )
    keys = {file.size_bytes: file.key for file in unpack_files(digest.files)}
    assert keys == {
        7: path_key(b"a"),
        20: path_key(b"b"),
        30: WHOLE_PARTITION,
        40: WHOLE_PARTITION,
        50: WHOLE_PARTITION,
    }
