"""One directory with two names: Spark writes viewfs://, and the daemon reads the file system below.

A job is proved, and orphans are found, put aside and deleted, across the two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.location import Aliases
from maintainer.domain.policy import RuleName
from maintainer.requests.approval import approve_list
from tests.adapters.spark.lakes import Lake, WallClock, runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop

pytestmark = [pytest.mark.spark, pytest.mark.slow]

OLD = timedelta(days=30)
NAME = "viewfs://lake/wh/"
POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {options: {min-input-files: 2, delete-file-threshold: 1}}
  remove_orphan_files: {older_than: 3d, quarantine: 7d}
"""


class AliasedLake(Lake):
    """Tables that Spark writes by Hadoop's view of this machine's file system."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.files = root / "files"
        self.files.mkdir()
        self.aliases = Aliases(((NAME, f"file://{self.files}/"),))
        self.properties |= {"warehouse": f"{NAME}warehouse"}
        self.spark = spark_configuration(
            "lake",
            self.properties,
            {"spark.hadoop.fs.viewfs.mounttable.lake.link./wh": f"file://{self.files}"},
        )


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    lake = AliasedLake(tmp_path_factory.mktemp("lake"))
    with (
        closing(runner_on([lake], tmp_path_factory.mktemp("run"), "aliases-1")) as runner,
        open_workshop(lake, runner, POLICY) as opened,
    ):
        yield opened


def done(workshop: Workshop, table: TableIdentifier, rule: RuleName) -> Job:
    job = workshop.run(table, rule)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    return job


def test_jobs_and_orphans_are_proved_where_spark_writes_under_another_name(
    workshop: Workshop,
) -> None:
    lake = workshop.lake
    assert isinstance(lake, AliasedLake)
    rows = tuple(f"SELECT id, id % 3 FROM range({n}00)" for n in (1, 2))
    table = workshop.create("t", "id bigint, part int", "PARTITIONED BY (part)", "", rows)
    health = workshop.look(table)
    assert health.location.startswith(NAME)
    place = lake.files / health.location.removeprefix(NAME)
    assert f"{place}/" in health.paths

    rewrite = done(workshop, table, RuleName.REWRITE_DATA_FILES)
    assert rewrite.effect is not None
    assert rewrite.effect.canary_files, "the new files were read under the other name"

    live = {path for path in place.rglob("*") if path.is_file()}
    stray = place / "data" / "stray.parquet"
    stray.write_bytes(b"left over by a writer that failed")
    moment = (WallClock().now() - OLD).timestamp()
    for path in (*live, stray):
        os.utime(path, (moment, moment))
    workshop.grow_old(table, OLD)
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    (orphans,) = workshop.store.orphan_lists(table)
    assert orphans.files == 1
    approve_list(workshop.ports, table, orphans.list_id, "ada", orphans.sha256)
    removal = done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    assert removal.effect is not None
    assert removal.effect.orphans_removed == 1
    assert not stray.exists()
    assert {path for path in live if not path.exists()} == set()
