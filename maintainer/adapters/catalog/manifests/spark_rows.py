"""Digests from what another engine found in manifests, equal to those that our readers make of the
same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal
from typing import Any, Final

from maintainer.adapters.catalog.manifests.digest_sums import Group, Tally
from maintainer.adapters.catalog.manifests.manifest import ListedManifest, make_digest
from maintainer.adapters.catalog.manifests.partition import (
    Spec,
    SpecField,
    StoredField,
    compile_partition_text,
)
from maintainer.domain.filelist import WHOLE_PARTITION
from maintainer.domain.inventory import ManifestDigest, SizeClasses
from maintainer.domain.reading import FoundFiles, FoundManifest, PartitionValue

_DECIMAL: Final = re.compile(r"decimal\(\d+, ?(\d+)\)")
_DECIMAL_BYTES: Final = 17  # 38 digits and a sign
_DECIMALS: Final = Context(prec=76)  # as partition.py's: the default context rounds at 28 digits
# Iceberg's types by the names that Avro has for them; the others are called the same.
_STORED: Final = {
    "timestamp": "timestamp-micros",
    "timestamptz": "timestamp-micros",
    "binary": "bytes",
}


def digest_found(
    found: Iterable[FoundManifest],
    listed: Iterable[ListedManifest],
    specs: Mapping[int, Spec],
    classes: SizeClasses,
) -> Iterator[ManifestDigest]:
    """The digest of each manifest that the list has; others, and those that cannot be told as our
    readers would, are passed over.
    """
    by_path = {manifest.path: manifest for manifest in listed}
    for one in found:
        manifest, spec = by_path.get(one.path), specs.get(one.spec_id)
        if manifest is None or spec is None or not _is_answer(one, manifest):
            continue
        stored = _stored_fields(spec, specs, one.types)
        length = manifest.length_bytes
        if stored is not None and length is not None:
            yield make_digest(manifest, length, _tally(one, manifest, stored, spec, classes))


def _is_answer(found: FoundManifest, listed: ListedManifest) -> bool:
    """Whether it is all that a digest takes: the files one by one too, when deletes have come to
    the table since they were asked for.
    """
    return (
        not listed.is_encrypted
        and listed.spec_id == found.spec_id
        and (not listed.lists_files or all(group.keys for group in found.files))
    )


def _stored_fields(
    spec: Spec, specs: Mapping[int, Spec], types: Mapping[str, str]
) -> tuple[StoredField, ...] | None:
    """The spec's fields under their names in the union of all specs; None when the union lacks one,
    as when its source column was dropped.
    """
    union: dict[int, str] = {}
    for spec_id in sorted(specs, reverse=True):  # Iceberg takes the newest name of a field
        for field in specs[spec_id].fields:
            union.setdefault(field.field_id, field.name)
    wanted = [field for field in spec.fields if field.transform != "void"]
    if any(union[field.field_id] not in types for field in wanted):
        return None
    return tuple(
        _stored_field(field, union[field.field_id], types[union[field.field_id]])
        for field in wanted
    )


def _stored_field(field: SpecField, name: str, type_name: str) -> StoredField:
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal is not None:
        return StoredField(name, field.field_id, "decimal", int(decimal[1]), is_utc=False)
    return StoredField(
        name,
        field.field_id,
        _STORED.get(type_name, type_name),
        0,
        is_utc=type_name == "timestamptz",
    )


def _tally(
    found: FoundManifest,
    listed: ListedManifest,
    stored: tuple[StoredField, ...],
    spec: Spec,
    classes: SizeClasses,
) -> Tally:
    write = compile_partition_text(stored, spec)
    scales = {field.name: field.scale for field in stored}
    tally = Tally(classes, listed.sequence_number)
    tally.entries = found.entry_count
    for files in found.files:
        values = {
            name: _store(value, scales.get(name, 0)) for name, value in files.partition.items()
        }
        tally.add_files(
            write(values),
            files.content,
            files.file_format,
            _group(files, lists_files=listed.lists_files),
        )
    return tally


def _group(files: FoundFiles, *, lists_files: bool) -> Group:
    """Where files are not listed, one sum and one number stand for all."""
    if not lists_files:
        return list(files.sizes), [files.record_count], [files.newest_sequence_number], []
    keys = [WHOLE_PARTITION if key is None else key or 1 for key in files.keys]
    return list(files.sizes), list(files.records), list(files.sequence_numbers), keys


def _store(value: PartitionValue, scale: int) -> Any:  # noqa: ANN401 - whatever a manifest stores
    if isinstance(value, Decimal):
        return int(value.scaleb(scale, _DECIMALS)).to_bytes(_DECIMAL_BYTES, "big", signed=True)
    return value
