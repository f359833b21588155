"""A table whose every file has deletes: many partitions, a position delete for each file, and
equality deletes that are bound to no partition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from maintainer.adapters.catalog.manifests.manifest import PATH_COLUMN
from tests.benchmarks import copied_table
from tests.benchmarks.copied_table import FILES_A_MANIFEST
from tests.benchmarks.manifest_files import path_of, read_avro, write_avro

PARTITIONS_A_MANIFEST: Final = 400
# manifests with contents of their own; the others are further names of these, as if the same files
# had been written by another commit
KINDS: Final = 100
COMMITS: Final = (
    20  # between which the data files were written, and after each of which some rows were deleted
)
_POSITION_DELETES: Final = 1
_EQUALITY_DELETES: Final = 2
_DELETES: Final = 1
_SHARES: Final = 20  # of a file's rows, from none to nearly all
_LARGEST: Final = 1 << 30  # bytes


def make_table(directory: Path, manifests: int, partitions: int) -> Path:
    """The metadata.json of a table of so many manifests of data, each with files of 400 partitions,
    ten in each.
    """
    metadata = copied_table.make_table(directory, 1, partitions=1)
    list_path = path_of(json.loads(metadata.read_bytes())["snapshots"][0]["manifest-list"])
    list_header, (listed,) = read_avro(list_path)
    template = path_of(listed["manifest_path"])
    header, (entry, *_) = read_avro(template)
    files = [
        copied_table.vary(entry, number, PARTITIONS_A_MANIFEST)
        for number in range(FILES_A_MANIFEST)
    ]
    kinds, rows = [], list[dict[str, Any]]()
    for kind in range(min(manifests, KINDS)):
        entries = list(_place(files, kind, partitions))
        kinds.append(template.with_name(f"kind-{kind}.avro"))
        kinds[-1].write_bytes(write_avro(header, entries))
        path = template.with_name(f"positions-{kind}.avro")
        path.write_bytes(
            write_avro(header | {"content": "deletes"}, list(map(_delete_rows, entries)))
        )
        rows.append(
            listed
            | _tell(path)
            | {
                "content": _DELETES,
                "sequence_number": 2 + COMMITS,
                "added_files_count": FILES_A_MANIFEST,
            }
        )
    for number in range(manifests):
        copy = template.with_name(f"data-{number}.avro")
        copy.hardlink_to(kinds[number % len(kinds)])
        rows.append(listed | _tell(copy) | {"sequence_number": 1 + number // len(kinds) % COMMITS})
    rows += [_write_delete(template, header, entry, listed, commit) for commit in range(COMMITS)]
    list_path.write_bytes(write_avro(list_header, rows))
    return metadata


def _tell(path: Path) -> dict[str, Any]:
    return {"manifest_path": f"file://{path}", "manifest_length": path.stat().st_size}


def _place(files: Sequence[dict[str, Any]], kind: int, partitions: int) -> Iterator[dict[str, Any]]:
    """The files in the partitions of the kind, under names and with sizes of their own."""
    first = kind * PARTITIONS_A_MANIFEST % partitions
    for number, file in enumerate(files):
        reported = file["data_file"]
        size = 1_000 + (number * 7_919 + kind * 104_729) * 4_099 % _LARGEST
        own = {
            "file_path": f"{reported['file_path']}-{kind}",
            "file_size_in_bytes": size,
            "record_count": size // 100 + 1,
        }
        yield file | {
            "data_file": reported
            | own
            | {
                "partition": dict.fromkeys(
                    reported["partition"], first + number % PARTITIONS_A_MANIFEST
                )
            }
        }


def _delete_rows(entry: dict[str, Any]) -> dict[str, Any]:
    """A file of position deletes of this file alone."""
    file = entry["data_file"]
    bound = [{"key": PATH_COLUMN, "value": file["file_path"].encode()}]
    records = file["record_count"] * (file["file_size_in_bytes"] % _SHARES) // _SHARES
    deleted = {
        "content": _POSITION_DELETES,
        "file_size_in_bytes": 1_000,
        "record_count": max(1, records),
        "lower_bounds": bound,
        "upper_bounds": bound,
    }
    return entry | {"data_file": file | deleted}


def _write_delete(
    template: Path,
    header: dict[str, str],
    entry: dict[str, Any],
    listed: dict[str, Any],
    commit: int,
) -> dict[str, Any]:
    """One equality delete of the unpartitioned spec, later than the files of its commit; its row in
    the manifest list.
    """
    schema = json.loads(header["avro.schema"])
    partition = _field(_field(schema, 2)["type"], 102)
    partition["type"] = partition["type"] | {"fields": []}
    own = {
        "avro.schema": json.dumps(schema),
        "partition-spec": "[]",
        "partition-spec-id": "0",
        "content": "deletes",
    }
    deleted = entry["data_file"] | {
        "content": _EQUALITY_DELETES,
        "equality_ids": [1],
        "partition": {},
        "record_count": 1,
    }
    path = template.with_name(f"deletes-{commit}.avro")
    path.write_bytes(write_avro(header | own, [entry | {"data_file": deleted}]))
    return (
        listed
        | _tell(path)
        | {
            "content": _DELETES,
            "partition_spec_id": 0,
            "sequence_number": 2 + commit,
            "added_files_count": 1,
        }
    )


def _field(schema: dict[str, Any], field_id: int) -> dict[str, Any]:
    found: dict[str, Any] = next(
        field for field in schema["fields"] if field["field-id"] == field_id
    )
    return found
