"""Avro files, made byte by byte."""

from __future__ import annotations

import json
import zlib
from io import BytesIO
from typing import Any

import fastavro

from maintainer.adapters.catalog.manifests.container import MAGIC
from tests.adapters.catalog.manifests.test_manifest import long

SYNC = b"s" * 16
LISTING: dict[str, Any] = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string", "field-id": 500},
        {"name": "manifest_length", "type": "long", "field-id": 501},
        {"name": "partition_spec_id", "type": "int", "field-id": 502},
    ],
}


def block(count: int, data: bytes) -> bytes:
    return long(count) + long(len(data)) + data + SYNC


def avro(schema: Any, *blocks: bytes, codec: bytes = b"null") -> bytes:
    pairs = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": codec}
    head = b"".join(long(len(key)) + key + long(len(text)) + text for key, text in pairs.items())
    return MAGIC + long(len(pairs)) + head + long(0) + SYNC + b"".join(blocks)


def deflated(plain: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(plain) + compressor.flush()


def listing(count: int) -> bytes:
    """A manifest list of so many manifests."""
    stream = BytesIO()
    fastavro.writer(
        stream,
        LISTING,
        [
            {"manifest_path": f"m{number}", "manifest_length": 9, "partition_spec_id": 0}
            for number in range(count)
        ],
    )
    return stream.getvalue()
