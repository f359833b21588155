from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.health import TableHealth
from maintainer.domain.units import GIB, MIB
from maintainer.measure.health import measure
from maintainer.measure.name_node import (
    NameNodeLoad,
    load_name_node,
    name_service,
    sum_by_service,
)
from tests.samples import inventory, manifest, share


def files_of(size: int, count: int = 10, partition: str = "") -> TableHealth:
    shares = [replace(share([size] * count), partition=partition)]
    return measure(inventory((manifest("m1", shares),)))


def test_150_million_objects_take_100_gb_of_heap_and_1_3_times_as_much_with_snapshots() -> None:
    load = NameNodeLoad(files=70_000_000, directories=10_000_000, blocks=70_000_000)
    assert load.objects == 150_000_000
    assert load.heap_bytes == pytest.approx(100e9)
    assert load.heap_bytes_with_snapshots == pytest.approx(130e9)


def test_a_large_file_has_a_block_for_each_128_mib() -> None:
    load = load_name_node(replace(files_of(GIB, 1), storage_files=4))
    assert load == NameNodeLoad(files=4, directories=3, blocks=4 + 7)


def test_each_level_of_a_partition_is_a_directory() -> None:
    days = [
        replace(share([MIB]), partition=f"year=2026/day={day}/region=eu") for day in range(1, 4)
    ]
    health = measure(inventory((manifest("m1", days),)))
    assert health.directories == 3 + 1 + 3 + 3
    load = load_name_node(health)
    assert load is not None
    assert load.directories == 10


def test_files_that_were_not_counted_load_nothing() -> None:
    assert load_name_node(replace(files_of(MIB), storage_files=None)) is None
    older = load_name_node(replace(files_of(MIB), directories=None))
    assert older is not None
    assert older.directories == 3


def test_a_location_names_its_name_service() -> None:
    assert name_service("hdfs://NS1/lake/orders") == "ns1"
    assert name_service("hdfs://nn.example:8020/lake") == "nn.example:8020"
    assert name_service("hdfs:///lake") == ""


def test_the_loads_are_summed_by_name_service() -> None:
    first = replace(files_of(MIB), location="hdfs://ns1/a", storage_files=100, directories=5)
    second = replace(files_of(MIB), location="hdfs://ns1/b", storage_files=10, directories=3)
    unknown = replace(second, storage_files=None)
    other = replace(first, location="hdfs://ns2/a")
    ns1, ns2 = sum_by_service([first, other, second, unknown])
    assert (ns1.name, ns1.tables, ns1.unknown_tables) == ("ns1", 3, 1)
    assert ns1.load == NameNodeLoad(files=110, directories=8, blocks=110)
    assert (ns2.name, ns2.load.files) == ("ns2", 100)
