from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import FILES, PARTITIONS, TABLE
from tests.postgres import postgres_server

__all__ = ["empty_lake", "lake", "postgres_server"]


@pytest.fixture
def empty_lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    yield made
    made.catalog.close()


@pytest.fixture
def lake(empty_lake: Lake) -> Lake:
    """With one table, whose rewrite takes long."""
    empty_lake.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    return empty_lake
