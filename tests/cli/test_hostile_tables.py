"""The whole command line on a lake in which some tables are broken, or made to do harm: they are
named, and the others are printed as ever.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyiceberg.table import Table
from typer.testing import CliRunner

from maintainer.cli.commands import application
from tests.adapters.catalog.lake import Lake, local_path, rows

GOOD = [f"good{number}" for number in range(5)]
FAR = 2**63 - 1


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with closing(Lake(tmp_path)) as opened:
        for name in (*GOOD, "pipe", "device", "digits", "huge"):
            table = opened.make_table("sales", name)
            for _ in range(2):
                table.append(rows(1))
        yield opened


def change_metadata(table: Table, **properties: str) -> None:
    path = local_path(table.metadata_location)
    document = json.loads(path.read_bytes())
    document["properties"] |= properties
    path.write_text(json.dumps(document))


def enlarge_files(table: Table) -> None:
    """Say in each manifest that its file has nearly 2^63 bytes."""
    snapshot = table.current_snapshot()
    assert snapshot is not None
    lengths: dict[str, int] = {}
    for listed in snapshot.manifests(table.io):
        rewrite(
            local_path(listed.manifest_path),
            lambda entry: entry["data_file"].update(file_size_in_bytes=FAR),
        )
        lengths[listed.manifest_path] = local_path(listed.manifest_path).stat().st_size
    rewrite(
        local_path(snapshot.manifest_list),
        lambda entry: entry.update(manifest_length=lengths[entry["manifest_path"]]),
    )


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    with path.open("rb") as stream:
        reader = fastavro.reader(stream)
        records, schema, metadata = (
            list(reader),
            reader.writer_schema,
            {name: text for name, text in reader.metadata.items() if not name.startswith("avro.")},
        )
    for record in records:
        assert isinstance(record, dict)
        change(record)
    with path.open("wb") as stream:
        fastavro.writer(stream, schema, records, codec="deflate", metadata=metadata)


def test_a_scan_prints_every_other_table(lake: Lake, tmp_path: Path) -> None:
    tables = {name: lake.writer.load_table(("sales", name)) for name in ("pipe", "digits", "huge")}
    local_path(tables["pipe"].metadata_location).unlink()
    os.mkfifo(local_path(tables["pipe"].metadata_location))
    lake.point_to("/dev/zero", "device")
    change_metadata(
        tables["digits"],
        **{
            "write.target-file-size-bytes": "9" * 5000,
            "commit.manifest.target-size-bytes": "9" * 5000,
        },
    )
    enlarge_files(tables["huge"])
    (tmp_path / "policies").mkdir()
    (tmp_path / "maintainer.yaml").write_text(
        "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}}\n"
    )
    done = CliRunner().invoke(
        application, ["scan", "--config", str(tmp_path / "maintainer.yaml"), "--format", "json"]
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    printed = {one["table"].rpartition(".")[2]: one for one in json.loads(done.stdout)}
    assert {name: printed[name].get("data_files") for name in (*GOOD, "digits")} == dict.fromkeys(
        (*GOOD, "digits"), 2
    )
    assert (printed["huge"]["data_files"], printed["huge"]["data_bytes"]) == (None, None)
    assert f"it lists a file of {FAR:,} bytes" in json.dumps(printed["huge"])
    assert {name for name, one in printed.items() if one.get("data_files") is None} >= {
        "pipe",
        "device",
    }
    assert "not a regular file" in json.dumps(printed["pipe"])
