"""Reads the fields that health needs from manifest lists and manifests, by field id.

`read_manifest_list` and `digest_manifest` take bytes, and raise UnreadableFileError for corrupt
bytes. This is the slow reader, which reads everything that fastavro can read. `fast_reader` returns
the same values faster, and uses this reader if it fails.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import fastavro

from maintainer.adapters.catalog.limits import (
    CHECKED_ENTRIES,
    LEAST_ENTRY_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_ENTRIES,
    MAX_ENTRIES_PER_BYTE,
    MAX_MANIFEST_BYTES,
    ImplausibleError,
    UnreadableFileError,
    at_most_listed,
)
from maintainer.adapters.catalog.manifests.avro_schema import LIST_FIELDS, Reader, compile_reader
from maintainer.adapters.catalog.manifests.container import Container, open_container
from maintainer.adapters.catalog.manifests.digest_sums import Groups, Tally
from maintainer.adapters.catalog.manifests.field_summaries import (
    FieldSummary,
    find_summary_fault,
    read_summaries,
)
from maintainer.adapters.catalog.manifests.partition import (
    Spec,
    compile_partition_text,
    header_spec,
)
from maintainer.domain.file_sizes import WHOLE_PARTITION, path_key
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, SizeClasses

PATH_COLUMN: Final = 2147483546  # Iceberg's field id of file_path in position delete files
_LIVE: Final = (0, 1)  # EXISTING, ADDED
_STATUSES: Final = (0, 1, 2)  # EXISTING, ADDED, DELETED
_CONTENTS: Final = (Content.DATA, Content.POSITION_DELETES, Content.EQUALITY_DELETES)


def delete_key(
    is_equality: bool, referenced: str | None, lower: bytes | None, upper: bytes | None
) -> int:
    """Return the key of the data file to which a delete file applies, by Iceberg's rule.

    The delete file names the data file, or the bounds of its paths are equal.
    """
    if is_equality:
        return WHOLE_PARTITION
    if referenced is not None:
        return path_key(referenced.encode())
    return path_key(lower) if lower is not None and lower == upper else WHOLE_PARTITION


def bound_of_path(bounds: Any) -> bytes | None:  # noqa: ANN401 - any value that a manifest stores
    """Return the bound of the paths in a position delete file, from its bounds by field id."""
    if not isinstance(bounds, list):
        return None
    found = [
        value for key, value in (tuple(pair.values()) for pair in bounds) if key == PATH_COLUMN
    ]
    return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class ListedManifest:
    """A manifest as its manifest list describes it."""

    path: str
    length_bytes: int | None  # None for a v1 snapshot, which lists only paths
    spec_id: int
    content: ManifestContent
    sequence_number: int
    is_encrypted: bool = False
    live_entries: int | None = None  # added and existing entries by the list; None: unknown
    keeps_files: bool = False  # the digest lists data files, because the snapshot has deletes
    summaries: tuple[FieldSummary, ...] | None = None  # of the partition fields; None: unknown

    @property
    def lists_files(self) -> bool:
        """Return whether the digest of this manifest lists its files."""
        return self.keeps_files or self.content is ManifestContent.DELETES


def read_manifest_list(
    raw: bytes, most_bytes: int = MAX_DOCUMENT_BYTES
) -> tuple[ListedManifest, ...]:
    """Return the manifests of one snapshot in the list's order."""
    container = open_container(raw, most_bytes)
    reader = compile_reader(container.schema, is_list=True)
    names = reader.names
    return list_manifests(
        [record.get(names[name]) for name in LIST_FIELDS.values()]
        for record in _records(container, reader)
    )


def list_manifests(rows: Iterable[Iterable[Any]]) -> tuple[ListedManifest, ...]:
    """Convert the rows of a list; each row has the values for `list_manifest`.

    If the snapshot has deletes, the digests of data manifests list their files, to find the deletes
    of each file.
    """
    listed = tuple(map(list_manifest, at_most_listed(rows)))
    _refuse_implausible(listed)
    if all(
        manifest.content is ManifestContent.DATA or manifest.live_entries == 0
        for manifest in listed
    ):
        return listed
    return tuple(
        replace(manifest, keeps_files=manifest.content is ManifestContent.DATA)
        for manifest in listed
    )


def _refuse_implausible(listed: Sequence[ListedManifest]) -> None:
    paths: set[str] = set()
    for manifest in listed:
        if manifest.path in paths:
            raise ImplausibleError(f"it lists the manifest {manifest.path} twice")
        paths.add(manifest.path)
        live = manifest.live_entries or 0
        most = MAX_ENTRIES_PER_BYTE * (manifest.length_bytes or MAX_ENTRIES)
        if not 0 <= live <= most:
            raise ImplausibleError(
                f"it says that the manifest {manifest.path} lists {live:,} files in "
                f"{manifest.length_bytes or 0:,} bytes"
            )


def list_manifest(values: Iterable[Any]) -> ListedManifest:
    """Build a manifest from values of LIST_FIELDS; UnreadableFileError if impossible."""
    path, length, spec_id, sequence_number, content, key_metadata, added, existing, fields = values
    if (
        not isinstance(path, str)
        or not isinstance(length, int)
        or length < 0
        or not isinstance(spec_id, int)
    ):
        raise UnreadableFileError(
            f"it lists a manifest without path, length or spec: {path!r}, {length!r}, {spec_id!r}"
        )
    content = content or 0
    if content not in {0, 1}:
        raise UnreadableFileError(
            f"it lists {path} with content {content!r}, which is neither data (0) nor deletes (1)"
        )
    kind = ManifestContent.DELETES if content else ManifestContent.DATA
    live = added + existing if isinstance(added, int) and isinstance(existing, int) else None
    return ListedManifest(
        path,
        length,
        spec_id,
        kind,
        sequence_number or 0,
        is_encrypted=bool(key_metadata),
        live_entries=live,
        summaries=read_summaries(fields),
    )


def describe_manifest(path: str, raw: bytes) -> ListedManifest:
    """Describe a manifest by its header; format v1 may have paths without a manifest list."""
    metadata = open_container(raw).metadata
    spec_id = _header_number(metadata, "partition-spec-id")
    content = (
        ManifestContent.DELETES if metadata.get("content") == b"deletes" else ManifestContent.DATA
    )
    return ListedManifest(path, None, spec_id, content, sequence_number=0)


def digest_manifest(
    raw: bytes,
    listed: ListedManifest,
    specs: Mapping[int, Spec],
    classes: SizeClasses,
    most_bytes: int = MAX_MANIFEST_BYTES,
) -> ManifestDigest:
    """Make the digest of a manifest's live entries; `classes` tell small from large files."""
    container = open_listed(raw, listed, most_bytes)
    tally = tally_entries(container, listed, specs, classes)
    if is_suspicious(listed, len(raw), tally.entries):
        refuse_repeats(container)
    return make_digest(listed, len(raw), tally)


def is_suspicious(listed: ListedManifest, length_bytes: int, entries: int) -> bool:
    """Return whether a manifest of data files has so few bytes that its entries may be equal.

    Deletion vectors are left out: many of them have one path, that of their Puffin file.
    """
    return (
        listed.content is ManifestContent.DATA
        and entries >= CHECKED_ENTRIES
        and length_bytes < LEAST_ENTRY_BYTES * entries
    )


def refuse_repeats(container: Container) -> None:
    """ImplausibleError if the manifest lists a live file twice."""
    reader = compile_reader(container.schema, is_list=False)
    status, file, path = reader.names["status"], reader.names["data_file"], "file_path"
    seen: set[int] = set()  # hashes, of which one in a billion collides
    for entry in _records(container, reader):
        if entry.get(status) in _LIVE:
            name = str(entry[file].get(reader.file_names[path]) or "")
            if hash(name) in seen:
                raise ImplausibleError(f"it lists the file {name} twice")
            seen.add(hash(name))


def open_listed(
    raw: bytes, listed: ListedManifest, most_bytes: int = MAX_MANIFEST_BYTES
) -> Container:
    """Open a manifest; UnreadableFileError if it is shorter than its list says."""
    if listed.length_bytes is not None and len(raw) < listed.length_bytes:
        raise UnreadableFileError(
            f"it has {len(raw)} bytes, the manifest list says {listed.length_bytes}"
        )
    return open_container(raw, most_bytes)


def find_list_fault(
    listed: ListedManifest, reader: Reader, partitions: Collection[tuple[Any, ...]]
) -> str:
    """Say why readers of the manifest list skip the manifest wrongly; empty if they do not."""
    if partitions and listed.live_entries == 0:
        return "the manifest list says that it has no live files"
    return find_summary_fault(listed.summaries, reader.partition, partitions)


def make_digest(listed: ListedManifest, length_bytes: int, tally: Tally) -> ManifestDigest:
    return ManifestDigest(
        path=listed.path,
        length_bytes=length_bytes if listed.length_bytes is None else listed.length_bytes,
        spec_id=listed.spec_id,
        content=listed.content,
        sequence_number=listed.sequence_number,
        partitions=tally.partitions(listed.spec_id),
        histogram=tuple(tally.histogram),
        histogram_bytes=tuple(tally.histogram_bytes),
        formats=tuple(sorted(tally.formats.items())),
        entries_read=tally.entries,
        files=tally.pack_files(),
        lists_files=listed.lists_files,
        list_fault=tally.list_fault,
    )


def partition_writer(
    container: Container, reader: Reader, listed: ListedManifest, specs: Mapping[int, Spec]
) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that writes a stored partition as a text."""
    return compile_partition_text(
        reader.partition,
        specs.get(listed.spec_id) or header_spec(container.metadata, listed.spec_id),
    )


def tally_entries(
    container: Container, listed: ListedManifest, specs: Mapping[int, Spec], classes: SizeClasses
) -> Tally:
    """Add up the live entries one at a time."""
    reader = compile_reader(container.schema, is_list=False)
    write_partition = partition_writer(container, reader, listed, specs)
    texts: dict[tuple[Any, ...], str] = {}
    tally = Tally(classes, listed.sequence_number)
    groups: Groups = {}
    status_name, file_name, sequence_name, names = (
        reader.names["status"],
        reader.names["data_file"],
        reader.names["sequence_number"],
        reader.file_names,
    )
    for entry in _records(container, reader):
        tally.count(1)
        status = entry.get(status_name)
        if status not in _STATUSES:
            raise UnreadableFileError(
                f"entry {tally.entries} has status {status!r}, which is none of existing (0), "
                f"added (1), deleted (2)"
            )
        if status not in _LIVE:
            continue
        file = entry[file_name]
        values = file.get(names["partition"]) or {}
        key = tuple(values.values())
        text = texts.get(key)
        if text is None:
            text = texts[key] = write_partition(values)
        content, size, records, file_format = _measure(file, names, tally.entries)
        group = groups.setdefault((text, content, file_format), ([], [], [], []))
        group[0].append(size)
        group[1].append(records)
        group[2].append(entry.get(sequence_name))
        if listed.lists_files:
            group[3].append(
                _key_of(file, names, content)
                if listed.content is ManifestContent.DELETES
                else path_key(str(file.get(names["file_path"]) or "").encode())
            )
    for (text, content, file_format), group in groups.items():
        tally.add_files(text, content, file_format.lower(), group)
    tally.list_fault = find_list_fault(listed, reader, texts)
    return tally


def _key_of(file: Mapping[str, Any], names: Mapping[str, str], content: Content) -> int:
    """Return the key of the data file to which a position delete file or a vector applies."""
    lower, upper = (
        bound_of_path(file.get(names[name])) for name in ("lower_bounds", "upper_bounds")
    )
    return delete_key(
        content is Content.EQUALITY_DELETES, file.get(names["referenced_data_file"]), lower, upper
    )


def _measure(
    file: Mapping[str, Any], names: Mapping[str, str], position: int
) -> tuple[Content, int, int, str]:
    """Return (content, size in bytes, records, file format as written) of an entry."""
    content_id = file.get(names["content"]) or 0
    file_format = str(file.get(names["file_format"]) or "")
    size, records = file.get(names["file_size_in_bytes"]), file.get(names["record_count"])
    if content_id not in {0, 1, 2}:
        raise UnreadableFileError(
            f"entry {position} has content {content_id!r}, which is none of data (0), position "
            f"deletes (1), equality deletes (2)"
        )
    content = _CONTENTS[content_id]
    if content is Content.POSITION_DELETES and (
        file_format.lower() == "puffin" or file.get(names["content_offset"]) is not None
    ):
        # Many vectors share a Puffin file. If its size counted for each vector, the sum would be
        # many times too large.
        content, size = Content.DELETION_VECTORS, file.get(names["content_size_in_bytes"]) or 0
    if not isinstance(size, int) or not isinstance(records, int) or size < 0 or records < 0:
        raise UnreadableFileError(f"entry {position} claims {size!r} bytes and {records!r} records")
    return content, size, records, file_format


class _Block(io.BytesIO):
    """A block that raises an error at its end.

    With a corrupt length, fastavro would skip values of fixed width behind the end silently.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if size is not None and len(found) < size:
            raise EOFError(f"{size} bytes are needed, and only {len(found)} are left")
        return found


def _records(container: Container, reader: Reader) -> Iterator[dict[str, Any]]:
    for count, data in container.blocks():
        stream = _Block(data)
        for index in range(count):
            try:
                record = fastavro.schemaless_reader(stream, reader.writer, reader.wanted)
            except Exception as error:
                # For corrupt bytes the decoder raises many kinds of exceptions, with the same
                # meaning.
                raise UnreadableFileError(
                    (
                        f"record {index} of a block of {count} cannot be decoded: "
                        f"{type(error).__name__} {error}"
                    ).rstrip()
                ) from error
            if not isinstance(record, dict):
                raise UnreadableFileError(f"its records are {type(record).__name__}, not structs")
            yield record
        if stream.tell() != len(data):
            raise UnreadableFileError(
                f"a block of {count} records leaves {len(data) - stream.tell()} bytes over"
            )


def _header_number(metadata: Mapping[str, bytes], key: str) -> int:
    text = metadata.get(key, b"0")
    try:
        return int(text)
    except ValueError as error:
        raise UnreadableFileError(f"its header has {key} {text!r}, not a number") from error
