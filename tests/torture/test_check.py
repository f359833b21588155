"""The checker is broken on purpose, one loss at a time: what it does not see here, a torture run
would not see.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.torture.check import (
    Checked,
    Fault,
    Held,
    check_held,
    check_table,
    compare_rows,
    summarise_rows,
)
from tests.torture.jobs import OUR_NAME, check_jobs
from tests.torture.ledger import Ledger, LostAttempt, Operation, Told, replay
from tests.torture.reading import TableReading, plain_path
from tests.torture.report import compare_writers, count_operations
from tests.torture.rows import ARROW_SCHEMA, COLUMNS, Row, to_arrow
from tests.torture.writers import PyIcebergHand

TABLE = "torture.events"
WRITER = "events-a"


def rows_of(*sequences: int, version: int = 0) -> tuple[Row, ...]:
    return tuple(Row(WRITER, sequence, version, "p0") for sequence in sequences)


APPENDED = Operation(
    "t-0", TABLE, WRITER, "append", rows_of(0, 1, 2), told=Told.COMMITTED, attempts=1
)
DELETED = Operation("t-1", TABLE, WRITER, "delete", (), (1,), told=Told.COMMITTED, attempts=1)
AGAIN = Operation("t-2", TABLE, WRITER, "append", rows_of(3, 4), told=Told.COMMITTED, attempts=1)
OPERATIONS = (APPENDED, DELETED, AGAIN)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with one table, which PyIceberg has written as the ledger says."""
    home = tmp_path_factory.mktemp("lake")
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{home}/catalog.db", warehouse=f"file://{home}/warehouse"
    )
    catalog.create_namespace("torture")
    catalog.create_table(TABLE, ARROW_SCHEMA)
    hand = PyIcebergHand(catalog)
    for operation in OPERATIONS:
        hand.carry_out(operation)
    hand.close()
    return home


@pytest.fixture
def catalog(original: Path) -> Iterator[SqlCatalog]:
    """The lake, to be broken; put back afterwards."""
    backup = original.with_name(f"{original.name}-backup")
    shutil.copytree(original, backup)
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{original}/catalog.db", warehouse=f"file://{original}/warehouse"
    )
    yield catalog
    catalog.close()
    shutil.rmtree(original)
    backup.rename(original)


def read(catalog: SqlCatalog) -> TableReading:
    return TableReading.open(catalog.load_table(TABLE).metadata_location)


def find_faults(catalog: SqlCatalog, *operations: Operation) -> set[Fault]:
    found = catalog.load_table(TABLE).scan().to_arrow()
    by_pyiceberg = list(zip(*(found.column(name).to_pylist() for name in COLUMNS), strict=True))
    return check(catalog, *operations, by_another=by_pyiceberg)


def check(
    catalog: SqlCatalog, *operations: Operation, by_another: list[tuple[Any, ...]] | None = None
) -> set[Fault]:
    checked = Checked()
    check_table(checked, TABLE, read(catalog), operations or OPERATIONS, by_another)
    return {finding.fault for finding in checked.findings}


def test_a_table_that_holds_what_was_reported_is_clean(catalog: SqlCatalog) -> None:
    checked = Checked()
    check_table(checked, TABLE, read(catalog), OPERATIONS, None)
    assert checked.findings == []
    assert (checked.rows, checked.commits, checked.snapshots_listed) == (4, 3, 3)
    assert checked.files > 6


def test_a_row_that_is_lost_is_seen(catalog: SqlCatalog) -> None:
    catalog.load_table(TABLE).delete("sequence = 2")
    assert find_faults(catalog) == {Fault.ROW_LOST}


def test_a_row_that_is_there_twice_is_seen(catalog: SqlCatalog) -> None:
    catalog.load_table(TABLE).append(to_arrow(list(rows_of(2))))
    assert find_faults(catalog) == {Fault.ROW_TWICE}


def test_a_deleted_row_that_is_back_is_seen(catalog: SqlCatalog) -> None:
    catalog.load_table(TABLE).append(to_arrow(list(rows_of(1))))
    assert find_faults(catalog) == {Fault.ROW_IS_BACK}


def test_a_row_in_an_older_version_than_the_last_is_seen(catalog: SqlCatalog) -> None:
    changed = Operation(
        "t-3", TABLE, WRITER, "merge", rows_of(0, version=1), told=Told.COMMITTED, attempts=1
    )
    assert find_faults(catalog, *OPERATIONS, changed) == {Fault.ROW_STALE, Fault.COMMIT_LOST}


def test_a_row_that_nobody_wrote_is_seen(catalog: SqlCatalog) -> None:
    catalog.load_table(TABLE).append(to_arrow(list(rows_of(0, version=7))))
    assert find_faults(catalog) == {Fault.ROW_FOREIGN, Fault.ROW_TWICE}


def test_a_payload_of_another_row_is_seen() -> None:
    checked = Checked()
    swapped = [(*rows_of(0)[0].values[:4], rows_of(2)[0].payload)]
    compare_rows(checked, TABLE, OPERATIONS, {(WRITER, 0): rows_of(0)[0]}, swapped)
    assert {finding.fault for finding in checked.findings} == {Fault.ROW_FOREIGN}


def test_a_commit_that_was_reported_and_is_not_there_is_seen(catalog: SqlCatalog) -> None:
    lost = replace(AGAIN, token="t-9")  # noqa: S106 - no secret
    assert find_faults(catalog, APPENDED, DELETED, AGAIN, lost) == {Fault.COMMIT_LOST}


def test_a_commit_that_was_reported_as_failed_and_is_there_is_seen(catalog: SqlCatalog) -> None:
    assert Fault.COMMIT_OF_FAILED in find_faults(
        catalog, APPENDED, DELETED, replace(AGAIN, told=Told.FAILED)
    )


def test_what_a_writer_does_not_know_is_decided_by_the_table(catalog: SqlCatalog) -> None:
    assert find_faults(catalog, APPENDED, DELETED, replace(AGAIN, told=Told.UNKNOWN)) == set()
    never = Operation("t-8", TABLE, WRITER, "append", rows_of(9), told=Told.UNKNOWN, attempts=1)
    assert find_faults(catalog, *OPERATIONS, never) == set()


@pytest.mark.parametrize("ending", ["data/*.parquet", "metadata/*-m*.avro", "metadata/snap-*.avro"])
def test_a_file_that_is_gone_is_seen(catalog: SqlCatalog, original: Path, ending: str) -> None:
    current = catalog.load_table(TABLE).current_snapshot()
    assert current is not None
    needed = {
        plain_path(current.manifest_list),
        *(
            plain_path(manifest.manifest_path)
            for manifest in current.manifests(catalog.load_table(TABLE).io)
        ),
    }
    needed |= {
        plain_path(task.file.file_path) for task in catalog.load_table(TABLE).scan().plan_files()
    }
    victim = next(path for path in sorted(original.rglob(ending)) if path in needed)
    victim.unlink()
    assert check(catalog) == {Fault.FILE_GONE, Fault.UNREADABLE}


def test_a_file_that_only_an_older_snapshot_needs_is_missed_too(catalog: SqlCatalog) -> None:
    reading = read(catalog)
    current = {file["file_path"] for file in reading.list_files(next(reading.lineage())).data}
    older = {file["file_path"] for file in reading.list_files(reading.snapshots[0]).data} - current
    plain_path(older.pop()).unlink()
    assert check(catalog) == {Fault.FILE_GONE}


def test_a_file_that_was_cut_short_is_seen(catalog: SqlCatalog) -> None:
    reading = read(catalog)
    victim = plain_path(reading.list_files(reading.snapshots[0]).data[0]["file_path"])
    victim.write_bytes(victim.read_bytes()[:-8])
    assert check(catalog) == {Fault.FILE_GONE}


def test_readers_that_see_different_rows_are_seen(catalog: SqlCatalog) -> None:
    assert check(catalog, by_another=[row.values for row in rows_of(0, 2, 3)]) == {
        Fault.READERS_DIFFER
    }


def hold(
    catalog: SqlCatalog, by: str, summary: str | None = None, snapshot_id: int | None = None
) -> set[Fault]:
    reading, checked = read(catalog), Checked()
    first = reading.snapshots[0]
    wanted = summary or summarise_rows(reading.read_rows(first))
    check_held(checked, reading, Held(TABLE, snapshot_id or first["snapshot-id"], by, wanted))
    return {finding.fault for finding in checked.findings}


def test_a_held_snapshot_that_reads_as_before_is_clean(catalog: SqlCatalog) -> None:
    assert hold(catalog, "pin slow-reader") == set()


def test_a_held_snapshot_that_is_gone_is_seen(catalog: SqlCatalog) -> None:
    assert hold(catalog, "pin slow-reader", snapshot_id=1) == {Fault.SNAPSHOT_GONE}


def test_a_tag_that_is_gone_is_seen(catalog: SqlCatalog) -> None:
    assert hold(catalog, "tag yearly") == {Fault.SNAPSHOT_GONE}


def test_a_held_snapshot_that_reads_otherwise_is_seen(catalog: SqlCatalog) -> None:
    assert hold(catalog, "pin slow-reader", summary="3 rows 0000000000000000") == {
        Fault.SNAPSHOT_CHANGED
    }


def test_a_held_snapshot_that_cannot_be_read_is_seen(catalog: SqlCatalog) -> None:
    reading = read(catalog)
    plain_path(reading.list_files(reading.snapshots[0]).data[0]["file_path"]).unlink()
    assert hold(catalog, "pin slow-reader", summary="any") == {Fault.UNREADABLE}


def failing(count: int, of: int) -> list[Operation]:
    return [
        replace(
            APPENDED, token=f"t-{number}", told=Told.FAILED if number < count else Told.COMMITTED
        )
        for number in range(of)
    ]


def test_a_writer_that_fails_more_often_beside_the_daemon_is_seen() -> None:
    checked = Checked()
    compare_writers(checked, failing(0, of=40), failing(3, of=40))
    assert {(finding.fault, finding.where) for finding in checked.findings} == {
        (Fault.WRITER_FAILS_MORE, "writer events-a"),
        (Fault.WRITER_FAILS_MORE, "all append"),
        (Fault.WRITER_FAILS_MORE, "all writers"),
    }
    within = Checked()
    compare_writers(within, failing(1, of=40), failing(3, of=40))
    assert within.findings == []


def test_a_few_operations_say_nothing_of_a_rate() -> None:
    checked = Checked()
    compare_writers(checked, failing(0, of=10), failing(2, of=10))
    assert checked.findings == []
    assert count_operations(failing(2, of=10)).failure_rate == 0.2


UUID = "11111111-1111-1111-1111-111111111111"
AT = "2026-11-21T10:00:{:02d}.000000Z"
SNAPSHOT = {
    "snapshot-id": 7,
    "timestamp-ms": 1795255205000,
    "summary": {"app-name": f"{OUR_NAME}abc", "maintainer.jobs": "m-0,m-1"},
}  # five seconds after AT.format(0)


def entry(deed: str, second: int, **fields: object) -> dict[str, Any]:
    job = str(fields.pop("job", "m-1"))
    return {
        "deed": deed,
        "at": AT.format(second),
        "sequence": second,
        "job_id": job,
        "table": f"lake.{TABLE}",
        "table_uuid": UUID,
        "fields": fields,
    }


def ended(
    second: int = 9,
    commits: tuple[str, ...] = ("7",),
    state: str = "succeeded",
    rows: str = "same",
    job: str = "m-1",
) -> dict[str, Any]:
    return entry("job.ended", second, job=job, state=state, commits=list(commits), rows=rows)


def judge(
    jobs: list[dict[str, Any]], audit: list[dict[str, Any]], *snapshots: dict[str, Any]
) -> set[Fault]:
    checked = Checked()
    check_jobs(checked, jobs, audit, {TABLE: TableReading({"snapshots": snapshots})})
    return {finding.fault for finding in checked.findings}


DONE = {"job_id": "m-1", "table": f"lake.{TABLE}", "state": "succeeded"}


def handed(statement: str, second: int = 1, job: str = "m-1") -> dict[str, Any]:
    return entry("job.submitted", second, job=job, statements=[statement])


STARTED = handed("CALL lake.system.rewrite_manifests('torture.events')")


def test_jobs_that_their_tables_bear_out_are_clean() -> None:
    assert judge([DONE], [STARTED, ended()], SNAPSHOT) == set()


def test_a_commit_whose_statement_the_audit_log_does_not_have_is_seen() -> None:
    assert judge([DONE], [entry("job.submitted", 1), ended()], SNAPSHOT) == {
        Fault.COMMIT_UNEXPLAINED
    }


def test_a_commit_of_ours_that_no_job_has_is_seen() -> None:
    assert judge([DONE], [ended(commits=())], SNAPSHOT) == {Fault.COMMIT_UNEXPLAINED}


def test_a_commit_that_two_jobs_claim_is_seen() -> None:
    other = {**DONE, "job_id": "m-2"}
    assert judge(
        [DONE, other],
        [STARTED, ended(), handed("CALL x", 10, "m-2"), ended(11, job="m-2")],
        SNAPSHOT,
    ) == {Fault.COMMIT_UNEXPLAINED}


def test_a_commit_that_names_other_jobs_than_the_one_that_claims_it_is_seen() -> None:
    for named in ("m-2", "m-10", ""):
        summary = {**cast("dict[str, str]", SNAPSHOT["summary"]), "maintainer.jobs": named}
        assert judge([DONE], [STARTED, ended()], {**SNAPSHOT, "summary": summary}) == {
            Fault.COMMIT_UNEXPLAINED
        }


def test_a_commit_after_the_end_of_its_job_is_seen() -> None:
    assert judge([DONE], [STARTED, ended(second=1)], SNAPSHOT) == {Fault.COMMIT_UNEXPLAINED}


def test_a_commit_that_a_job_claims_and_its_table_does_not_have_is_seen() -> None:
    assert judge([DONE], [STARTED, ended()]) == {Fault.JOB_UNTRUE}


def test_a_job_that_did_not_end_is_seen() -> None:
    assert judge([{**DONE, "state": "running"}], []) == {Fault.JOB_NOT_ENDED}


def test_a_job_whose_end_the_audit_log_has_otherwise_is_seen() -> None:
    assert judge([{**DONE, "state": "failed"}], [STARTED, ended()], SNAPSHOT) == {Fault.JOB_UNTRUE}
    assert judge([DONE], [], SNAPSHOT) == {Fault.JOB_UNTRUE, Fault.COMMIT_UNEXPLAINED}
    assert judge([DONE], [STARTED, ended(), ended(commits=())], SNAPSHOT) == {Fault.JOB_UNTRUE}


def test_a_failed_job_whose_commit_is_there_is_seen_unless_it_commits_as_it_goes() -> None:
    failed = {**DONE, "state": "failed"}
    assert judge([failed], [STARTED, ended(state="failed")], SNAPSHOT) == {Fault.JOB_UNTRUE}
    parts = handed(
        "CALL lake.system.rewrite_data_files(options => map('partial-progress.enabled', 'true'))"
    )
    assert judge([failed], [parts, ended(state="failed")], SNAPSHOT) == set()
    whole = handed(
        "CALL lake.system.rewrite_data_files(options => map('partial-progress.enabled', 'false'))"
    )
    assert judge([failed], [whole, ended(state="failed")], SNAPSHOT) == {Fault.JOB_UNTRUE}


LOST = "Spark was lost after its commits; they were found in the table's metadata"


@pytest.mark.parametrize(
    ("said", "replaced", "found"), [(LOST, 3, {Fault.JOB_UNTRUE}), (LOST, 9, set()), ("", 3, set())]
)
def test_a_success_that_nobody_told_of_and_that_is_a_part_of_the_work_is_seen(
    said: str, replaced: int, found: set[Fault]
) -> None:
    job = {**DONE, "failure_message": said, "estimate": {"items_before": 10, "error_bound": 1}}
    parts = handed(
        "CALL lake.system.rewrite_data_files(options => map('partial-progress.enabled', 'true'))"
    )
    summary = {**cast("dict[str, str]", SNAPSHOT["summary"]), "deleted-data-files": str(replaced)}
    assert judge([job], [parts, ended()], {**SNAPSHOT, "summary": summary}) == found


def test_two_jobs_on_one_table_at_a_time_are_seen() -> None:
    audit = [
        STARTED,
        entry("job.submitted", 2, job="m-2"),
        ended(second=8),
        ended(second=9, commits=(), job="m-2"),
    ]
    assert judge([DONE, {**DONE, "job_id": "m-2"}], audit, SNAPSHOT) == {Fault.JOB_UNTRUE}


def test_a_ledger_gives_back_the_last_that_was_written_of_each_operation(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    done = replace(APPENDED, attempts=2, lost=(LostAttempt(1.0, 2.5, "CommitFailedException: no"),))
    for operation in (
        replace(APPENDED, told=Told.INTENDED),
        done,
        replace(AGAIN, told=Told.INTENDED),
    ):
        ledger.write(operation)
    assert ledger.read() == [done, replace(AGAIN, told=Told.INTENDED)]
    assert json.loads(ledger.path.read_text(encoding="utf-8").splitlines()[0])["told"] == "intended"
    assert sorted(replay(ledger.read(), lambda _token: False)) == [
        (WRITER, 0),
        (WRITER, 1),
        (WRITER, 2),
    ]
