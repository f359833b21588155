"""A table that deletes apply to everywhere: many partitions, and equality deletes that are bound to none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.benchmarks import bench_readers
from tests.benchmarks.bench_readers import FILES_A_MANIFEST

PARTITIONS_A_MANIFEST: Final = 400
COMMITS: Final = 20  # between which the data files were written, and after each of which some rows were deleted
_EQUALITY_DELETES: Final = 2
_DELETES: Final = 1


def make_table(directory: Path, manifests: int, partitions: int) -> Path:
    """The metadata.json of a table whose manifests have the files of 400 partitions each, ten of a kind; those of the same partitions are names of one."""
    metadata = bench_readers.make_table(directory, 1, partitions=1)
    list_path = bench_readers._path(json.loads(metadata.read_bytes())["snapshots"][0]["manifest-list"])
    list_header, (listed,) = bench_readers._read(list_path)
    template = bench_readers._path(listed["manifest_path"])
    header, (entry, *_) = bench_readers._read(template)
    kinds = []
    for kind in range(min(manifests, partitions // PARTITIONS_A_MANIFEST)):
        path = template.with_name(f"kind-{kind}.avro")
        path.write_bytes(bench_readers._write(header, [_place(entry, kind, number) for number in range(FILES_A_MANIFEST)]))
        kinds.append(path)
    rows = []
    for number in range(manifests):
        source = kinds[number % len(kinds)]
        copy = template.with_name(f"data-{number}.avro")
        copy.hardlink_to(source)
        told = {"manifest_path": f"file://{copy}", "manifest_length": source.stat().st_size, "sequence_number": 1 + number % COMMITS}
        rows.append(listed | told)
    rows += [_write_delete(template, header, entry, listed, commit) for commit in range(COMMITS)]
    list_path.write_bytes(bench_readers._write(list_header, rows))
    return metadata


def _place(entry: dict[str, Any], kind: int, number: int) -> dict[str, Any]:
    varied = bench_readers._vary(entry, number, PARTITIONS_A_MANIFEST)
    value = kind * PARTITIONS_A_MANIFEST + number % PARTITIONS_A_MANIFEST
    return varied | {"data_file": varied["data_file"] | {"partition": dict.fromkeys(varied["data_file"]["partition"], value)}}


def _write_delete(template: Path, header: dict[str, str], entry: dict[str, Any], listed: dict[str, Any], commit: int) -> dict[str, Any]:
    """One equality delete of the unpartitioned spec, later than the files of its commit; its row in the manifest list."""
    schema = json.loads(header["avro.schema"])
    partition = _field(_field(schema, 2)["type"], 102)
    partition["type"] = partition["type"] | {"fields": []}
    own = {"avro.schema": json.dumps(schema), "partition-spec": "[]", "partition-spec-id": "0", "content": "deletes"}
    deleted = entry["data_file"] | {"content": _EQUALITY_DELETES, "equality_ids": [1], "partition": {}, "record_count": 1}
    path = template.with_name(f"deletes-{commit}.avro")
    path.write_bytes(bench_readers._write(header | own, [entry | {"data_file": deleted}]))
    told = {"manifest_path": f"file://{path}", "manifest_length": path.stat().st_size, "content": _DELETES, "partition_spec_id": 0}
    return listed | told | {"sequence_number": 2 + commit, "added_files_count": 1}


def _field(schema: dict[str, Any], field_id: int) -> dict[str, Any]:
    found: dict[str, Any] = next(field for field in schema["fields"] if field["field-id"] == field_id)
    return found
