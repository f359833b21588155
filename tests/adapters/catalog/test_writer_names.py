"""Who wrote a snapshot that PyIceberg really wrote."""

from __future__ import annotations

from maintainer.measure.history import name_writer
from tests.adapters.catalog.lake import Lake, rows


def test_pyiceberg_leaves_no_name_unless_its_commit_gives_one(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(5))
    table.delete("id < 3")
    table.append(rows(5), snapshot_properties={"app-name": "loader"})
    written = lake.read("sales", "orders").snapshots
    assert [name_writer(one) for one in written] == ["unnamed", "unnamed", "loader"]
    assert not [key for key in written[0].summary if "py" in key or "engine" in key]
