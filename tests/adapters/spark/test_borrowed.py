"""Tables that Iceberg's own procedures make of other tables' files, on a real Spark: nothing of
theirs is deleted by any request.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.orphan import OrphanListState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_run
from maintainer.steps.table import measure_table
from tests.adapters.spark.lakes import QUICK_OPTIONS, Lake, WallClock, runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.clock import FakeClock

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {options: {min-input-files: 2}}
  expire_snapshots: {max_age: 1d, keep: 2}
  remove_orphan_files: {older_than: 3d, quarantine: off}
"""
OLD = timedelta(days=30)
ROWS = 400
SESSION = "spark.sql.catalog.spark_catalog"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Spark's own catalog has the plain tables, and Iceberg's of those that were migrated in the
    lake's database.
    """
    lake = Lake(tmp_path_factory.mktemp("lake"))
    same = {
        key.replace("spark.sql.catalog.lake", SESSION, 1): value
        for key, value in lake.spark.items()
    }
    options = replace(
        QUICK_OPTIONS,
        conf={
            **QUICK_OPTIONS.conf,
            **same,
            SESSION: "org.apache.iceberg.spark.SparkSessionCatalog",
        },
    )
    with (
        closing(runner_on([lake], tmp_path_factory.mktemp("run"), "borrowed-1", options)) as runner,
        open_workshop(lake, runner, POLICY) as opened,
    ):
        lake.catalog.create_namespace("db")
        yield opened


def make_plain(workshop: Workshop, name: str) -> Path:
    """A table of plain Parquet files, four of a hundred rows, in Spark's own catalog; its
    directory.
    """
    place = workshop.lake.root / "plain" / name
    made = (
        f"CREATE TABLE spark_catalog.default.{name} USING parquet LOCATION 'file://{place}' AS "
        f"SELECT /*+ REPARTITION(4) */ id FROM range({ROWS})"
    )
    workshop.sql(made)
    return place


def files_in(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*.parquet")}


def count_rows(place: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in place.rglob("*.parquet"))


def refusal_of(workshop: Workshop, table: TableIdentifier, rule: RuleName) -> tuple[SkipCode, str]:
    """Why nothing is done for anybody."""
    plan, job = request_run(workshop.ports, table, (rule,), "person ada")
    assert job is None
    (skipped,) = [skipped for skipped in plan.skipped if skipped.rule is rule]
    return skipped.code, skipped.reason


def test_guard_2_of_a_snapshot_of_another_table_nothing_is_ever_deleted(workshop: Workshop) -> None:
    place = make_plain(workshop, "source")
    workshop.sql(
        "CALL lake.system.snapshot(source_table => 'spark_catalog.default.source', table => "
        "'lake.db.shot')"
    )
    table = TableIdentifier("lake", ("db",), "shot")
    before = files_in(place)
    assert len(before) > 1
    assert workshop.look(table).properties["snapshot"] == "true"
    workshop.grow_old(table, OLD)
    assert refusal_of(workshop, table, RuleName.REMOVE_ORPHAN_FILES)[0] is SkipCode.GC_DISABLED
    job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    code, reason = refusal_of(workshop, table, RuleName.EXPIRE_SNAPSHOTS)
    assert code is SkipCode.GC_DISABLED
    assert "its files may belong to another table" in reason
    workshop.sql("ALTER TABLE lake.db.shot SET TBLPROPERTIES ('gc.enabled' = 'true')")
    borrowed = (
        "the table has the property snapshot=true: it was made from another table, whose files"
    )
    assert refusal_of(workshop, table, RuleName.REMOVE_ORPHAN_FILES) == (
        SkipCode.UNSAFE,
        f"{borrowed} may be in its location",
    )
    assert refusal_of(workshop, table, RuleName.EXPIRE_SNAPSHOTS) == (
        SkipCode.UNSAFE,
        f"{borrowed} expiry would delete",
    )
    assert files_in(place) == before
    assert workshop.lake.rows(table) == count_rows(place) == ROWS


def test_guard_2_of_a_migrated_table_no_orphans_are_looked_for(workshop: Workshop) -> None:
    place = make_plain(workshop, "moved")
    workshop.sql("CALL spark_catalog.system.migrate('default.moved')")
    (made,) = (place / "metadata").glob("*.metadata.json")
    workshop.lake.catalog.register_table(
        "db.moved", f"file://{made}"
    )  # Spark's own catalog is none that can be configured
    table = TableIdentifier("lake", ("db",), "moved")
    found = workshop.look(table)
    assert (found.properties["migrated"], found.location) == ("true", f"file:{place}")
    workshop.grow_old(table, OLD)
    borrowed = (
        "the table has the property migrated=true: it was made from another table, whose files "
        "may be in its location"
    )
    assert refusal_of(workshop, table, RuleName.REMOVE_ORPHAN_FILES) == (SkipCode.UNSAFE, borrowed)
    before = files_in(place)
    job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    assert files_in(place).items() >= before.items(), (
        "the backup that migrate leaves still reads them"
    )
    assert workshop.lake.rows(table) == ROWS
    workshop.grow_old(table, OLD)
    code, reason = refusal_of(workshop, table, RuleName.EXPIRE_SNAPSHOTS)
    assert (
        code,
        reason.startswith("the table has the property migrated=true: expiry would delete files"),
    ) == (SkipCode.UNSAFE, True)


def test_guard_2_of_a_table_that_add_files_has_given_files_no_orphan_goes(
    workshop: Workshop,
) -> None:
    place = make_plain(workshop, "giver")
    table = workshop.create("taker", "id bigint", rows=(f"SELECT id FROM range({ROWS})",))
    workshop.sql(
        "CALL lake.system.add_files(table => 'db.taker', source_table => "
        "'spark_catalog.default.giver')"
    )
    before = files_in(place)
    own = Path(workshop.look(table).location.removeprefix("file://"))
    stray = own / "data" / "stray.parquet"
    stray.write_bytes(b"x" * 10)
    moment = (WallClock().now() - OLD).timestamp()
    os.utime(stray, (moment, moment))
    workshop.grow_old(table, OLD)
    job = workshop.run(table, RuleName.REMOVE_ORPHAN_FILES)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    (orphans,) = workshop.store.orphan_lists(table)
    assert orphans.state is OrphanListState.REFUSED
    assert orphans.refusal == (
        f"{len(before)} files of the table are outside its location: it may have been made "
        f"by add_files, and its directory may be another table's"
    )
    assert stray.exists()
    assert files_in(place) == before
    assert workshop.lake.rows(table) == 2 * ROWS


def test_guard_2_expiry_leaves_files_that_add_files_has_given_unless_the_operator_lets_them_go(
    workshop: Workshop,
) -> None:
    place = make_plain(workshop, "lender")
    table = workshop.create("borrower", "id bigint")
    workshop.sql(
        "CALL lake.system.add_files(table => 'db.borrower', source_table => "
        "'spark_catalog.default.lender')"
    )
    before = files_in(place)
    later = FakeClock(WallClock().now() + timedelta(days=2))
    allowed = POLICY.replace("keep: 2}", "keep: 2, imported_files: delete}").replace(
        "mode: enforce", "mode: enforce\nrollback_for: off"
    )
    with open_workshop(workshop.lake, workshop.runner, allowed) as operator:
        job = operator.run(table, RuleName.REWRITE_DATA_FILES)
        assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
        workshop.sql("INSERT INTO lake.db.borrower SELECT id FROM range(5)")
        measure_table(workshop.ports, table)
        code, reason = refusal_of(workshop, table, RuleName.EXPIRE_SNAPSHOTS)
        assert (
            code,
            "a name mapping (schema.name-mapping.default), as add_files leaves" in reason,
        ) == (SkipCode.UNSAFE, True)
        assert files_in(place) == before
        expired = replace(operator, ports=replace(operator.ports, clock=later)).run(
            table, RuleName.EXPIRE_SNAPSHOTS
        )
    assert (expired.state, expired.failure_message) == (JobState.SUCCEEDED, "")
    assert files_in(place) == {}, "this is what the refusal keeps from happening"
    assert workshop.lake.rows(table) == ROWS + 5
