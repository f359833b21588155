"""One table under two names, on a real Spark: what expiry under one name does to the other, and
that it is not done until a policy names the owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from json import dumps, loads
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.requests.run import request_run
from maintainer.steps.scan import scan
from tests.adapters.spark.lakes import SCHEMA, Lake, WallClock
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.policies import FakePolicies

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {options: {min-input-files: 2}}
  expire_snapshots: {max_age: 1d, keep: 2}
"""
LAKE, OLD = TableIdentifier("lake", ("db",), "orders"), TableIdentifier("old", ("db",), "orders")
COMMITS = 8


class Migration:
    """The catalog `old` still points to the state before the table was compacted by a writer in the
    catalog `lake`.
    """

    def __init__(self, workshop: Workshop, directory: Path) -> None:
        properties = {
            "type": "sql",
            "uri": f"sqlite:///{directory}/old.db",
            "warehouse": f"file://{directory}/warehouse",
        }
        self.old, self.reader = (
            SqlCatalog("old", **properties),
            PyIcebergCatalog("old", properties, WallClock()),
        )
        self.workshop = workshop
        workshop.ports = replace(
            workshop.ports, catalogs={**workshop.ports.catalogs, "old": self.reader}
        )
        workshop.lake.catalog.create_namespace_if_not_exists("db")
        made = workshop.lake.catalog.create_table(("db", "orders"), SCHEMA)
        rows = pa.table(
            {"id": pa.array([1], pa.int64()), "part": pa.array([0], pa.int64()), "text": ["x"]}
        )
        with made.transaction() as transaction:
            for _ in range(COMMITS):
                transaction.append(rows)
        before = workshop.lake.catalog.load_table(("db", "orders"))
        _age(Path(before.metadata_location.removeprefix("file://")))
        self.old.create_namespace("db")
        self.old.register_table(("db", "orders"), before.metadata_location)
        everything = pa.table(
            {
                "id": pa.array([1] * COMMITS, pa.int64()),
                "part": pa.array([0] * COMMITS, pa.int64()),
                "text": ["x"] * COMMITS,
            }
        )
        for _ in range(2):
            workshop.lake.catalog.load_table(("db", "orders")).overwrite(everything)

    def rows_in_old(self) -> int:
        return int(self.old.load_table(("db", "orders")).scan().to_arrow().num_rows)

    def govern(self, *owners: str) -> None:
        texts = [POLICY, *(f"tables: '{pattern}'\nowner: true" for pattern in owners)]
        layers = [parse_policy(text, f"{number}.yaml") for number, text in enumerate(texts)]
        self.workshop.ports = replace(
            self.workshop.ports,
            policies=FakePolicies(*(one for one in layers if isinstance(one, PolicyLayer))),
        )

    def look(self) -> None:
        scan(self.workshop.ports)
        scan(self.workshop.ports)


def _age(path: Path) -> None:
    """All commits were made ten days ago; nobody has read the file yet."""
    document = loads(path.read_bytes())
    begin = datetime.now(UTC) - timedelta(days=10)
    for number, entry in enumerate(document["snapshots"]):
        moment = int((begin + timedelta(minutes=number)).timestamp() * 1000)
        entry["timestamp-ms"] = moment
        document["snapshot-log"][number]["timestamp-ms"] = moment
    path.write_text(dumps(document), encoding="utf-8")


@pytest.fixture
def migration(lake: Lake, warm: LocalRunner, tmp_path: Path) -> Iterator[Migration]:
    with open_workshop(lake, warm, POLICY) as workshop:
        made = Migration(workshop, tmp_path)
        with closing(made.reader):
            yield made


def test_guard_33_a_table_under_two_names_stays_readable_under_both_until_a_policy_names_the_owner(
    migration: Migration,
) -> None:
    workshop = migration.workshop
    migration.look()
    for name in (LAKE, OLD):
        for rule in (RuleName.EXPIRE_SNAPSHOTS, RuleName.REWRITE_DATA_FILES):
            plan, job = request_run(workshop.ports, name, (rule,), "person ada")
            assert job is None
            assert plan.skipped[0].code is SkipCode.UNSAFE
    assert (workshop.lake.rows(LAKE), migration.rows_in_old()) == (COMMITS, COMMITS)

    migration.govern("old.*")
    migration.look()
    plan, job = request_run(workshop.ports, OLD, (RuleName.EXPIRE_SNAPSHOTS,), "person ada")
    assert job is None
    assert f"{LAKE} has newer commits" in plan.skipped[0].reason

    migration.govern("lake.*")
    migration.look()
    done = workshop.run(LAKE, RuleName.EXPIRE_SNAPSHOTS)
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert workshop.lake.rows(LAKE) == COMMITS
    with pytest.raises(FileNotFoundError):
        # what the refusal protects from, and what the owner's expiry accepts
        migration.rows_in_old()
