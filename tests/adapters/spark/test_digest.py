"""Readings of manifests: the statements that leave the process, and the file that comes back."""

from __future__ import annotations

import gzip
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.spark.digest import read_found
from maintainer.adapters.spark.statements import main_statement, write_statements
from maintainer.domain.action import RewriteManifests
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content
from maintainer.domain.reading import DigestManifests, FoundFiles, FoundManifest

TABLE = TableIdentifier("lake", ("sales", "eu west"), "odd`name")
GOLDEN = Path(__file__).with_name("digest.golden.sql")
PARTITION = {
    "schema": {
        "fields": [
            {
                "name": "partition",
                "type": {"type": "struct", "fields": [{"name": "day", "type": "date"}]},
            }
        ]
    }
}
FILES: dict[str, Any] = {
    "schema": {
        "fields": [{"name": "manifest", "type": "string"}, {"name": "partition", "type": "string"}]
    }
}


def row(
    manifest: str,
    partition: str = '{"day":"2026-01-02"}',
    *,
    first: int = 0,
    sizes: tuple[int, ...] = (10,),
    content: int = 0,
) -> list[Any]:
    return [
        manifest,
        0,
        partition,
        content,
        "parquet",
        len(sizes) + 1,
        7 * len(sizes),
        3,
        first,
        list(sizes),
    ]


def write(path: Path, *lines: object) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def test_the_statements_are_these() -> None:
    written = []
    for is_partitioned, lists_files in ((False, False), (True, False), (True, True)):
        action = DigestManifests(42, 1000, is_partitioned=is_partitioned, lists_files=lists_files)
        written += [
            f"-- partitioned: {is_partitioned}, files listed: {lists_files}",
            *write_statements(TABLE, action),
        ]
    assert "\n".join(written) + "\n" == GOLDEN.read_text()


def test_the_last_statement_is_the_one_that_a_job_shows() -> None:
    action = DigestManifests(42, 1000, is_partitioned=True, lists_files=False)
    assert main_statement(TABLE, action) == write_statements(TABLE, action)[-1]
    assert main_statement(TABLE, RewriteManifests(0)).startswith(
        "CALL `lake`.system.rewrite_manifests("
    )


def test_a_file_is_read_manifest_by_manifest(tmp_path: Path) -> None:
    rows = [row("a", first=5, sizes=(1, 2)), row("a", '{"day":null}', first=1), row("b")]
    path = write(tmp_path / "f", PARTITION, {"rows": 0}, FILES, *rows, {"rows": 3})
    first, second = read_found(path)
    assert first == FoundManifest(
        "a",
        0,
        5,
        {"day": "date"},
        (
            FoundFiles({"day": None}, Content.DATA, "parquet", 1, (10,), 7, 3),
            FoundFiles({"day": 20455}, Content.DATA, "parquet", 5, (1, 2), 14, 3),
        ),
    )
    assert (second.path, second.entry_count) == ("b", 2)


def test_files_one_by_one_come_with_their_keys(tmp_path: Path) -> None:
    (found,) = read_found(
        write(
            tmp_path / "f",
            FILES,
            [*row("a", "{}", sizes=(1, 2)), [3, 4], [5, None], [6, None]],
            {"rows": 1},
        )
    )
    (files,) = found.files
    assert (files.records, files.sequence_numbers, files.keys) == ((3, 4), (5, None), (6, None))


def test_entries_that_are_deleted_count_as_read_and_are_no_files(tmp_path: Path) -> None:
    (found,) = read_found(write(tmp_path / "f", FILES, row("a", "{}", sizes=()), {"rows": 1}))
    assert (found.entry_count, found.files) == (1, ())


@pytest.mark.parametrize("cut", [1, 12, 20])
def test_of_a_file_that_is_cut_short_the_whole_manifests_count(tmp_path: Path, cut: int) -> None:
    rows = [row(name) for name in ("a", "a", "b", "b", "c", "c")]
    path = write(tmp_path / "f", FILES, *rows)
    assert [found.path for found in read_found(path)] == ["a", "b"]
    raw = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(raw[:-cut]))
    assert [found.path for found in read_found(path)] == ["a", "b"]


def test_a_compressed_stream_without_an_end_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "f"
    file = gzip.open(path, "wt")  # noqa: SIM115 - never closed properly: its process is killed
    for name in ("a", "b", "c"):
        file.write(json.dumps(row(name)) + "\n")
    file.flush()
    flushed = path.read_bytes()
    file.close()
    path.write_bytes(flushed)
    assert [found.path for found in read_found(path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "said", "stored"),
    [
        ("integer", 5, 5),
        ("long", -(2**62), -(2**62)),
        ("string", "a/b", "a/b"),
        ("boolean", True, True),
        ("date", "0001-01-01", -719162),
        ("timestamp", "2026-01-02T03:04:05.123456", 1767323045123456),
        ("timestamp_ntz", "1969-12-31T23:59:59.500000", -500000),
        ("binary", "AP89", b"\x00\xff="),
        ("float", 1.1, 1.100000023841858),
        ("double", "-Infinity", -math.inf),
        ("decimal(9,2)", 100000, Decimal(100000)),
        ("decimal(30,10)", 1.5, Decimal("1.5")),
    ],
)
def test_values_are_as_a_manifest_stores_them(
    tmp_path: Path, kind: str, said: object, stored: object
) -> None:
    types = {
        "schema": {
            "fields": [
                {
                    "name": "partition",
                    "type": {"type": "struct", "fields": [{"name": "x", "type": kind}]},
                }
            ]
        }
    }
    (found,) = read_found(
        write(
            tmp_path / "f",
            types,
            {"rows": 0},
            FILES,
            row("a", json.dumps({"x": said})),
            {"rows": 1},
        )
    )
    (value,) = found.files[0].partition.values()
    assert (value, type(value)) == (stored, type(stored))
