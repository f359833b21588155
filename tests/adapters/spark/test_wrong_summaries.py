"""A manifest list with summaries that exclude the manifests' own entries, on a real Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import fastavro
import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.decide.grading.bands import WRONG_SUMMARY
from maintainer.domain.action import RewritePositionDeleteFiles
from maintainer.domain.effect import RowProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_run
from maintainer.steps.table import Measured, measure_table
from tests.adapters.spark.lakes import Lake
from tests.adapters.spark.workshop import Workshop, open_workshop

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DELETES, MANIFESTS = RuleName.REWRITE_POSITION_DELETE_FILES, RuleName.REWRITE_MANIFESTS
MERGE_ON_READ = (
    "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', "
    "'write.delete.granularity' = 'file', 'commit.manifest-merge.enabled' = 'false'"
)
EVERY_DELETE = RewritePositionDeleteFiles(None, (("rewrite-all", "true"),))
EXCLUDING = b"\x00"  # below every value of the partition field


@pytest.fixture(scope="module")
def workshop(lake: Lake, warm: LocalRunner) -> Iterator[Workshop]:
    with open_workshop(lake, warm) as opened:
        yield opened


def create(workshop: Workshop, name: str) -> TableIdentifier:
    """Two binary partitions of 600 rows each, 24 of them deleted by two commits."""
    rows = tuple(
        f"SELECT /*+ REPARTITION(1) */ id + {start}, X'{key}' FROM range(600)"
        for start, key in ((0, "10"), (600, "FE"))
    )
    table = workshop.create(
        name, "id bigint, key binary", "PARTITIONED BY (key)", MERGE_ON_READ, rows
    )
    full = f"lake.db.{table.name}"
    workshop.sql(
        f"DELETE FROM {full} WHERE id % 100 = 3",
        f"DELETE FROM {full} WHERE id % 100 = 4",
    )
    return table


def forge_summaries(workshop: Workshop, table: TableIdentifier, content: int) -> None:
    """Write bounds into the current manifest list that exclude the entries of these manifests."""
    snapshot = workshop.lake.catalog.load_table((*table.namespace, table.name)).current_snapshot()
    assert snapshot is not None
    path = Path(snapshot.manifest_list.removeprefix("file://").removeprefix("file:"))
    reader = fastavro.reader(BytesIO(path.read_bytes()))
    records = list(reader)
    forged = 0
    for record in records:
        assert isinstance(record, dict)
        if record["content"] == content:
            forged += 1
            for field in record["partitions"]:
                field["lower_bound"] = field["upper_bound"] = EXCLUDING
    assert forged == 2
    metadata = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    out = BytesIO()
    schema = json.loads(reader.metadata["avro.schema"])
    fastavro.writer(out, schema, records, "deflate", metadata=metadata)
    path.write_bytes(out.getvalue())
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)  # Hadoop's checksum


def measure(workshop: Workshop, table: TableIdentifier) -> Measured:
    measured = measure_table(workshop.ports, table)
    assert isinstance(measured, Measured), measured
    return measured


def count_rows(workshop: Workshop, table: TableIdentifier) -> int:
    return len(workshop.lake.catalog.load_table((*table.namespace, table.name)).scan().to_arrow())


def test_a_wrong_summary_is_found_refused_and_mended_by_a_rewrite_of_the_manifests(
    workshop: Workshop,
) -> None:
    table = create(workshop, "wrong_summary")
    forge_summaries(workshop, table, 0)
    found = measure(workshop, table)
    assert found.health.wrong_summaries == 2
    assert found.grade.findings[0].metric == WRONG_SUMMARY
    for rule in (DELETES, RuleName.REWRITE_DATA_FILES):
        plan, job = request_run(workshop.ports, table, (rule,), "person")
        assert job is None
        assert plan.skipped[0].code is SkipCode.UNSUPPORTED
        assert "rewrite_manifests writes right summaries" in plan.skipped[0].reason

    mended = workshop.run(table, MANIFESTS)
    assert (mended.state, mended.failure_message) == (JobState.SUCCEEDED, "")
    after = measure(workshop, table)
    assert after.health.wrong_summaries == 0
    assert WRONG_SUMMARY not in {finding.metric for finding in after.grade.findings}
    rewritten = workshop.finish(workshop.begin(table, EVERY_DELETE))
    assert (rewritten.state, rewritten.failure_message) == (JobState.SUCCEEDED, "")
    assert count_rows(workshop, table) == 1176


def test_rows_that_a_rewrite_of_deletes_brings_back_fail_its_proof(workshop: Workshop) -> None:
    table = create(workshop, "wrong_summary_passed_by")
    forge_summaries(workshop, table, 0)
    job = workshop.finish(workshop.begin(table, EVERY_DELETE))
    assert job.effect is not None
    assert (job.state, job.effect.rows) == (JobState.FAILED, RowProof.DIFFERENT)
    assert job.failure_message.startswith(f"`maintainer rollback {job.job_id}` undoes")
    assert "the rows before and after the job's commits are not the same" in job.failure_message
    assert count_rows(workshop, table) > 1176
