"""Read and write manifests and manifest lists as Avro records."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro


def read_avro(path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The header and the records."""
    reader = fastavro.reader(BytesIO(path.read_bytes()))
    return dict(reader.metadata), [record for record in reader if isinstance(record, dict)]


def write_avro(header: dict[str, str], records: list[dict[str, Any]]) -> bytes:
    """A file with this header and blocks of 64 KB, as Spark writes it."""
    stream = BytesIO()
    kept = {key: value for key, value in header.items() if not key.startswith("avro.")}
    fastavro.writer(
        stream,
        json.loads(header["avro.schema"]),
        records,
        codec="deflate",
        sync_interval=64_000,
        metadata=kept,
    )
    return stream.getvalue()


def path_of(location: str) -> Path:
    """The path in a file:// location."""
    return Path(location.removeprefix("file://"))
