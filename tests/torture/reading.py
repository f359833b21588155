"""What lies in the lake, read without Iceberg's libraries: JSON, Avro, and DuckDB for the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from re import compile as compile_regex
from typing import Any

import fastavro

from tests.lake_contents import Files, read_rows
from tests.torture.rows import COLUMNS

_DELETED = 2  # manifest entry status
_OF_DELETES = 1  # manifest content
_FIRST_ATTEMPT = compile_regex(r"/snap-\d+-1-[^/]*$")
_METADATA_FILE = compile_regex(rb"file:/[\x20-\x7e]*?\.metadata\.json")
FoundRow = tuple[Any, ...]  # in the order of COLUMNS


def plain_path(location: str) -> Path:
    """A file's path without its scheme: writers spell it file:/ and file:///."""
    return Path("/" + location.removeprefix("file:").lstrip("/"))


@dataclass(slots=True)
class TableReading:
    """One table's metadata file; manifests are read once, however many snapshots list them."""

    metadata: Mapping[str, Any]
    _manifests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @staticmethod
    def open(metadata_location: str) -> TableReading:
        """The table as this metadata file has it."""
        return TableReading(json.loads(plain_path(metadata_location).read_text(encoding="utf-8")))

    @property
    def snapshots(self) -> Sequence[Mapping[str, Any]]:
        """All that are kept."""
        found: Sequence[Mapping[str, Any]] = self.metadata.get("snapshots", ())
        return found

    @property
    def refs(self) -> Mapping[str, int]:
        """Branches and tags: name -> snapshot."""
        return {name: ref["snapshot-id"] for name, ref in self.metadata.get("refs", {}).items()}

    def snapshot(self, snapshot_id: int) -> Mapping[str, Any] | None:
        """None when it is not kept."""
        return next((one for one in self.snapshots if one["snapshot-id"] == snapshot_id), None)

    def lineage(self) -> Iterator[Mapping[str, Any]]:
        """The snapshots of the main branch, the newest first, as far as they are kept."""
        current = self.snapshot(self.metadata["current-snapshot-id"])
        while current is not None:
            yield current
            parent = current.get("parent-snapshot-id")
            current = self.snapshot(parent) if parent is not None else None

    def list_files(self, snapshot: Mapping[str, Any]) -> Files:
        """The live files of a snapshot."""
        data: list[dict[str, Any]] = []
        deletes: list[dict[str, Any]] = []
        manifests = _read_avro(snapshot["manifest-list"])
        for manifest in manifests:
            (deletes if manifest["content"] == _OF_DELETES else data).extend(
                self._live(manifest["manifest_path"])
            )
        return Files(COLUMNS, tuple(data), tuple(deletes), len(manifests), len(self.snapshots))

    def read_rows(self, snapshot: Mapping[str, Any]) -> list[FoundRow]:
        """The rows of a snapshot; OSError or an error of DuckDB's when a file is missing or
        broken.
        """
        files = self.list_files(snapshot)
        if not files.data:
            return []
        found = read_rows(files)
        return list(zip(*(found.column(name).to_pylist() for name in COLUMNS), strict=True))

    def find_files(self) -> tuple[int, list[str]]:
        """How many different files the kept snapshots need, and those of them that are not there or
        of another size, each with its reason.
        """
        sizes: dict[str, int | None] = {}
        faults: list[str] = []
        for kind in ("statistics", "partition-statistics"):
            sizes.update(
                {
                    one["statistics-path"]: one["file-size-in-bytes"]
                    for one in self.metadata.get(kind, ())
                }
            )
        for snapshot in self.snapshots:
            sizes[snapshot["manifest-list"]] = None
            try:
                files = self.list_files(snapshot)
            except OSError as error:
                faults.append(f"snapshot {snapshot['snapshot-id']} cannot be listed: {error}")
                continue
            sizes.update(
                {
                    file["file_path"]: file["file_size_in_bytes"]
                    for file in (*files.data, *files.deletes)
                }
            )
        sizes.update(dict.fromkeys(self._manifests))
        faults += [
            fault for location, size in sizes.items() if (fault := _find_fault(location, size))
        ]
        return len(sizes), faults

    def commit_times(self) -> set[int]:
        """When each of the table's metadata files was committed, in milliseconds, as far back as
        they are kept.
        """
        metadata = self.metadata
        times: set[int] = {metadata["last-updated-ms"]}
        while log := metadata.get("metadata-log"):
            times.update(entry["timestamp-ms"] for entry in log)
            if not (oldest := plain_path(log[0]["metadata-file"])).exists():
                break
            metadata = json.loads(oldest.read_text(encoding="utf-8"))
        return times

    def _live(self, location: str) -> list[dict[str, Any]]:
        if location not in self._manifests:
            self._manifests[location] = [
                entry["data_file"] for entry in _read_avro(location) if entry["status"] != _DELETED
            ]
        return self._manifests[location]


def breaks_if_unanswered(said: bytes) -> bool:
    """Whether Iceberg 1.12 deletes what this commit made when its answer is lost.

    It does for rewrite_manifests, and for rewrite_data_files beside other commits, which attempts
    before this one tell. The client says a commit to its catalog's database with the new metadata
    file and the old one. Iceberg counts the entries that it copied from manifest to manifest in the
    summary of rewrite_manifests alone, and its attempts in the name of the manifest list.
    """
    for location in set(_METADATA_FILE.findall(said)):
        newest = next(TableReading.open(location.decode()).lineage(), None)
        if newest is None:
            continue
        summary = newest["summary"]
        is_repeated = not _FIRST_ATTEMPT.search(newest.get("manifest-list", ""))
        if "entries-processed" in summary or (summary["operation"] == "replace" and is_repeated):
            return True
    return False


def _find_fault(location: str, size: int | None) -> str:
    try:
        found = plain_path(location).stat().st_size
    except OSError as error:
        return f"{location} is gone: {error.strerror}"
    return "" if size in {None, found} else f"{location} has {found} bytes, not {size}"


def _read_avro(location: str) -> list[dict[str, Any]]:
    with plain_path(location).open("rb") as file:
        return [record for record in fastavro.reader(file) if isinstance(record, dict)]
