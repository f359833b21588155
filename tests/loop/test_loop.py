"""A neglected table becomes healthy, and its contents stay equal, on each catalog and storage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import BadRequestError

from maintainer.domain.effect import RowProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.requests.approval import approve_list
from maintainer.requests.run import request_run
from tests.adapters.spark.lakes import WallClock
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.clock import FakeClock
from tests.java_servers.nessie import WAREHOUSE, serve_nessie
from tests.loop.cells import CELLS, ON_NESSIE, CatalogKind, Cell
from tests.loop.recipes import is_of_tests, recipe
from tests.loop.site import Site, SiteLake, open_site
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
EXPECTED = [(number, number % PARTS) for number in range(COMMITS * ROWS) if number != 7]
KEPT_SNAPSHOTS = 3  # the two of the policy, and the one that the rewrite's tag keeps
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
    prove_recipe(cell, lake)
    with open_workshop(lake, site.runner, POLICY) as workshop:
        table = neglect(workshop)
        # Nessie's metadata lists the newest snapshot alone: the rows before cannot be counted.
        is_nessie = cell.catalog in ON_NESSIE
        rewrite(workshop, table, RowProof.BOUNDED if is_nessie else RowProof.COUNTED)
        assert lake.read_rows(table) == EXPECTED

        later = FakeClock(WallClock().now() + MONTH)
        in_a_month = replace(workshop, ports=replace(workshop.ports, clock=later))
        location = workshop.look(table).location
        stray = f"{location}/data/stray.parquet"
        lake.storage.put(stray)
        if cell.catalog is not CatalogKind.NESSIE_VENDING:  # whose storage notes the time itself
            lake.storage.grow_old(location, WallClock().now() - MONTH)
        workshop.grow_old(table, MONTH)
        if is_nessie:  # it deletes files itself, across its branches
            refuse(in_a_month, table, RuleName.EXPIRE_SNAPSHOTS)
            refuse(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
            assert lake.storage.has(stray)
        else:
            expiry = done(in_a_month, table, RuleName.EXPIRE_SNAPSHOTS)
            assert expiry.effect is not None
            assert expiry.effect.snapshots_removed > 0
            remove_orphans(workshop, table)
            assert not lake.storage.has(stray)
            assert workshop.measure(table).snapshots == KEPT_SNAPSHOTS
        assert lake.read_rows(table) == EXPECTED
        prove_access(cell, site, table)


def test_nessie_takes_no_tables_on_local_files(tmp_path: Path) -> None:
    warehouse = f"file://{tmp_path}/warehouse"
    with (
        serve_nessie(tmp_path, warehouse, "http://127.0.0.1:1") as address,
        pytest.raises(BadRequestError, match="Unknown or unsupported scheme: file"),
    ):
        load_catalog("local", type="rest", uri=address, warehouse=WAREHOUSE)


def prove_recipe(cell: Cell, lake: SiteLake) -> None:
    """See that the documentation has the configuration that runs here."""
    written = recipe(cell)
    spark, locations = written.pop("spark", {}), written.pop("locations", {})
    assert written.keys() == lake.properties.keys()
    assert written["type"] == lake.properties["type"]
    assert spark == {name: text for name, text in lake.given.items() if not is_of_tests(name)}
    assert locations == dict(lake.aliases.pairs)


def prove_access(cell: Cell, site: Site, table: TableIdentifier) -> None:
    """See that the catalog gave what its cell is about; Spark has no keys of its own there."""
    settings = site.lakes[cell].spark
    keys = {name for name in settings if name.endswith(("access-key-id", "secret-access-key"))}
    if cell.catalog is CatalogKind.NESSIE_SIGNING:
        assert not keys
        assert site.log_of(cell).count("/s3sign/") > COMMITS, "a signature for each request"
    elif cell.catalog is CatalogKind.NESSIE_VENDING:
        vended = site.lakes[cell].load(table).io.properties
        assert not keys
        assert vended["s3.session-token"]


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


def rewrite(workshop: Workshop, table: TableIdentifier, proof: RowProof) -> None:
    """Rewrite manifests, then data files."""
    start = workshop.measure(table)
    assert (start.data_files, start.position_delete_files) == (COMMITS * PARTS, 1)
    manifests = done(workshop, table, RuleName.REWRITE_MANIFESTS)
    assert manifests.effect is not None
    assert (manifests.effect.before.manifests, manifests.effect.after.manifests) == (5, 2)
    files = done(workshop, table, RuleName.REWRITE_DATA_FILES)
    assert files.effect is not None
    assert files.effect.rows is proof
    assert files.effect.canary_files == PARTS
    end = workshop.measure(table)
    assert (end.data_files, end.position_delete_files) == (PARTS, 0)


def refuse(workshop: Workshop, table: TableIdentifier, rule: RuleName) -> None:
    """See the rule refused, because the table forbids that its files are deleted."""
    plan, job = request_run(workshop.ports, table, (rule,), "person")
    assert job is None
    assert [skipped.code for skipped in plan.skipped] == [SkipCode.GC_DISABLED]


def remove_orphans(workshop: Workshop, table: TableIdentifier) -> None:
    """Look for orphans, approve the list and remove what it names."""
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    (orphans,) = workshop.store.orphan_lists(table)
    assert orphans.files == 1
    approve_list(workshop.ports, table, orphans.list_id, "ada", orphans.sha256)
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
