"""A neglected table becomes healthy, and its contents stay equal, on each catalog and storage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.effect import RowProof
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.requests.approval import approve_list
from maintainer.steps.table import measure_table
from tests.adapters.spark.lakes import WallClock
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.clock import FakeClock
from tests.loop.cells import CELLS, Cell
from tests.loop.site import Site, open_site
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.postgres]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {options: {min-input-files: 2, delete-file-threshold: 1}}
  expire_snapshots: {max_age: 24h, keep: 2}
  remove_orphan_files: {older_than: 3d, quarantine: 7d}
"""
COMMITS = 4
ROWS = 100  # of a commit
PARTS = 3
MONTH = timedelta(days=30)


@pytest.fixture(scope="module")
def site(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("site"), postgres_server) as opened:
        yield opened


def done(workshop: Workshop, table: TableIdentifier, rule: RuleName) -> Job:
    job = workshop.run(table, rule)
    assert job.state is JobState.SUCCEEDED, job.failure_message
    return job


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_the_loop_makes_a_table_healthy(cell: Cell, site: Site) -> None:
    lake = site.lakes[cell]
    with open_workshop(lake, site.runner, POLICY) as workshop:
        table = neglect(workshop)
        expected = sorted(
            (number, number % PARTS)
            for commit in range(COMMITS)
            for number in range(commit * ROWS, (commit + 1) * ROWS)
            if number != 7
        )
        start = measure(workshop, table)
        assert (start.data_files, start.position_delete_files) == (COMMITS * PARTS, 1)

        manifests = done(workshop, table, RuleName.REWRITE_MANIFESTS)
        assert manifests.effect is not None
        assert (manifests.effect.before.manifests, manifests.effect.after.manifests) == (5, 2)
        rewrite = done(workshop, table, RuleName.REWRITE_DATA_FILES)
        assert rewrite.effect is not None
        assert rewrite.effect.rows is RowProof.COUNTED
        assert rewrite.effect.canary_files == PARTS
        assert lake.read_rows(table) == expected

        later = FakeClock(WallClock().now() + MONTH)
        in_a_month = replace(workshop, ports=replace(workshop.ports, clock=later))
        expiry = done(in_a_month, table, RuleName.EXPIRE_SNAPSHOTS)
        assert expiry.effect is not None
        assert expiry.effect.snapshots_removed > 0

        location = workshop.look(table).location
        stray = f"{location}/data/stray.parquet"
        lake.storage.put(stray)
        lake.storage.grow_old(location, WallClock().now() - MONTH)
        remove_orphans(workshop, table)
        assert not lake.storage.has(stray)

        end = measure(workshop, table)
        assert (end.data_files, end.position_delete_files) == (PARTS, 0)
        assert end.snapshots == 3, "the two that are kept, and the one that the rewrite's tag keeps"
        assert lake.read_rows(table) == expected


def neglect(workshop: Workshop) -> TableIdentifier:
    """A table of small files, with a row deleted beside them."""
    rows = tuple(
        f"SELECT id, CAST(id % {PARTS} AS INT) FROM range({commit * ROWS}, {(commit + 1) * ROWS})"
        for commit in range(COMMITS)
    )
    merge_on_read = "'write.delete.mode' = 'merge-on-read'"
    columns = "id bigint, part int"
    table = workshop.create("orders", columns, "PARTITIONED BY (part)", merge_on_read, rows)
    workshop.sql(f"DELETE FROM {table} WHERE id = 7")
    return table


def remove_orphans(workshop: Workshop, table: TableIdentifier) -> None:
    """Look for orphans, approve the list and remove what it names."""
    workshop.grow_old(table, MONTH)
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    (orphans,) = workshop.store.orphan_lists(table)
    assert orphans.files == 1
    approve_list(workshop.ports, table, orphans.list_id, "ada", orphans.sha256)
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)


def measure(workshop: Workshop, table: TableIdentifier) -> TableHealth:
    measure_table(workshop.ports, table)
    record = workshop.store.table(table)
    assert record is not None
    assert record.health is not None
    return record.health
