"""Orphan files on a real Spark: found, approved, deleted as far as they still are nobody's, and
proved from the storage.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest

from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.spark.driver.lists.portions import pack
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.orphan import OrphanList, OrphanListState
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.requests.approval import approve_list, restore_list
from maintainer.requests.run import request_run
from tests.adapters.spark.lakes import Lake, WallClock, runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.policies import FakePolicies

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
rules:
  remove_orphan_files: {older_than: 3d, quarantine: off}
"""
COLUMNS = "id bigint, part int"
RULE = RuleName.REMOVE_ORPHAN_FILES
OLD = timedelta(days=30)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A lake of its own: while some table of a catalog cannot be measured, nobody's orphans go."""
    lake = Lake(tmp_path_factory.mktemp("lake"))
    with (
        closing(runner_on([lake], tmp_path_factory.mktemp("run[1]"), "orphans-1")) as runner,
        open_workshop(lake, runner, POLICY) as opened,
    ):
        yield opened


def place_of(workshop: Workshop, table: TableIdentifier) -> Path:
    return Path(unquote(urlparse(workshop.look(table).location).path))


def make(workshop: Workshop, name: str, clauses: str = "", properties: str = "") -> TableIdentifier:
    """A table with a snapshot a commit, statistics, and deletes, known since a long time."""
    rows = tuple(f"SELECT id, {n} FROM range(50000)" for n in range(4))
    table = workshop.create(
        name, COLUMNS, clauses, f"'write.delete.mode' = 'merge-on-read'{properties}", rows
    )
    workshop.sql(
        f"DELETE FROM lake.db.{name} WHERE id = 7",
        f"CALL lake.system.compute_table_stats(table => 'db.{name}', columns => array('id'))",
    )
    workshop.grow_old(table, OLD)
    return table


def litter(
    path: Path, content: bytes = b"left over by a writer that failed", age: timedelta = OLD
) -> Path:
    """A file of that age that no table knows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return age_of(path, age)


def age_of(path: Path, age: timedelta) -> Path:
    moment = (WallClock().now() - age).timestamp()
    os.utime(path, (moment, moment))
    return path


def files_in(place: Path) -> set[Path]:
    return {path for path in place.rglob("*") if path.is_file()}


def look(workshop: Workshop, table: TableIdentifier) -> OrphanList:
    job = workshop.run(table, RULE)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    return next(iter(workshop.store.orphan_lists(table)))


def remove(workshop: Workshop, orphans: OrphanList) -> Job:
    approve_list(workshop.ports, orphans.table, orphans.list_id, "ada", orphans.sha256)
    return workshop.run(orphans.table, RULE)


def test_exactly_the_orphans_of_every_kind_go_and_nothing_that_is_needed(
    workshop: Workshop,
) -> None:
    table = make(workshop, "littered", "PARTITIONED BY (part)")
    place = place_of(workshop, table)
    # What writers lose: data files, also under odd names, manifests, lists of manifests, statistics
    # of a run that did not commit.
    strays = {
        litter(place / "data" / name)
        for name in (
            "stray.parquet",
            "part=1/it's a %20 {stray} #1.parquet",
            "part=9/\N{SNOWMAN}.parquet",
        )
    }
    strays |= {litter(place / "metadata" / name) for name in ("0a1b-m0.avro", "snap-1-1-0a1b.avro")}
    before = files_in(place) - strays
    harmless = {
        litter(place / "data" / "young.parquet", age=timedelta(days=1)),
        litter(place / "data" / "_temporary" / "0" / "x.parquet"),
        litter(place / "data" / ".hidden" / "x.parquet"),
        litter(place / "data" / "marker", b""),
        litter(place / "metadata" / "flink.job-id.7"),
        litter(place / "metadata" / "20000101_000000_00000_abcde.stats"),
        litter(place / "metadata" / "00000-0a1b.metadata.json"),
        litter(place.with_name("littered_2") / "data" / "sibling.parquet"),
    }
    rows = workshop.lake.rows(table)
    orphans = look(workshop, table)
    assert (orphans.files, orphans.kept_files, orphans.state) == (
        len(strays),
        4,
        OrphanListState.WAITING,
    )
    assert files_in(place) >= before | strays, "a look deletes nothing"
    job = remove(workshop, orphans)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    assert files_in(place) | files_in(place.with_name("littered_2")) == before | harmless
    assert workshop.lake.rows(table) == rows
    assert job.effect is not None
    assert (job.effect.orphans_removed, job.effect.orphan_bytes_removed) == (
        len(strays),
        33 * len(strays),
    )
    assert job.effect.before.snapshot_id == job.effect.after.snapshot_id
    reached = len(before - {path for path in before if path.suffix in {".crc", ".text"}})
    assert f"{reached} files that the table references were checked" in job.effect.sentence
    reported = {event.name for event in workshop.store.events(job.job_id)}
    assert {"orphans.brought", "job.reviewed"} <= reported
    (carried_out,) = workshop.store.orphan_lists(table)
    assert (carried_out.state, carried_out.removed_by) == (OrphanListState.REMOVED, job.job_id)


def test_a_file_that_became_live_between_the_list_and_its_deletion_stays(
    workshop: Workshop,
) -> None:
    table = make(workshop, "adopted")
    workshop.sql("INSERT INTO lake.db.adopted SELECT id, 9 FROM range(100)")
    place = place_of(workshop, table)
    rows = workshop.lake.rows(table)
    live = min(
        (path for path in (place / "data").glob("*.parquet") if "deletes" not in path.name),
        key=lambda path: path.stat().st_size,
    )
    assert live.stat().st_size < 3000, "within the caps"
    adopted = age_of(Path(shutil.copyfile(live, place / "data" / "adopted.parquet")), OLD)
    stray = litter(place / "data" / "stray.parquet", b"x" * 999)
    orphans = look(workshop, table)
    assert orphans.files == 2
    workshop.sql(
        f"CALL lake.system.add_files(table => 'db.adopted', source_table => "
        f"'`parquet`.`{adopted}`', check_duplicate_files => false)"
    )
    added = pq.read_metadata(live).num_rows
    assert workshop.lake.rows(table) == rows + added
    job = remove(workshop, orphans)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    assert adopted.exists()
    assert not stray.exists()
    assert workshop.lake.rows(table) == rows + added
    assert job.effect is not None
    assert job.effect.orphans_removed == 1
    assert "1 were kept, because the table references them now" in job.effect.sentence


def test_files_are_put_aside_brought_back_and_at_last_deleted(workshop: Workshop) -> None:
    layer = parse_policy(POLICY.replace("quarantine: off", "quarantine: 5d"), "all.yaml")
    assert isinstance(layer, PolicyLayer)
    keeping = replace(workshop, ports=replace(workshop.ports, policies=FakePolicies(layer)))
    table = make(workshop, "kept")
    place = place_of(workshop, table)
    strays = {
        litter(place / "data" / "part=1" / "it's a %20 {stray}.parquet", b"one"),
        litter(place / "metadata" / "0a1b-m0.avro", b"two"),
    }
    live = files_in(place) - strays
    orphans = look(keeping, table)
    moved = remove(keeping, orphans)
    assert (moved.state, moved.failure_message) == (JobState.SUCCEEDED, "")
    aside = place / "_maintainer_quarantine" / orphans.list_id
    assert {
        path.relative_to(aside): path.read_bytes()
        for path in files_in(aside)
        if path.suffix != ".crc"
    } == {
        Path("data/part=1/it's a %20 {stray}.parquet"): b"one",
        Path("metadata/0a1b-m0.avro"): b"two",
    }
    assert not any(path.exists() for path in strays)

    restore_list(keeping.ports, table, orphans.list_id, "bob")
    back = keeping.run(table, RULE)
    assert (back.state, back.failure_message) == (JobState.SUCCEEDED, "")
    assert files_in(place) == live | strays
    assert {path.read_bytes() for path in strays} == {b"one", b"two"}

    again = look(keeping, table)
    assert again.files == 2, "what is hidden is not found, what came back is"
    assert remove(keeping, again).state is JobState.SUCCEEDED
    kept = workshop.store.orphan_list(again.list_id)
    assert kept is not None
    assert kept.state is OrphanListState.QUARANTINED
    assert workshop.store.update_orphan_list(replace(kept, expires_at=WallClock().now()), kept)
    emptied = keeping.run(table, RULE)
    assert (emptied.state, emptied.failure_message) == (JobState.SUCCEEDED, "")
    assert files_in(place) == live
    assert workshop.lake.rows(table) == 199_996


@pytest.mark.parametrize("portion", [None, [], ["data/stray.parquet"] * 2])
def test_guard_5_of_a_list_that_does_not_arrive_as_it_is_nothing_is_deleted(
    portion: list[str] | None, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(workshop, f"torn_{portion is None}_{len(portion or ())}".lower())
    stray = litter(place_of(workshop, table) / "data" / "stray.parquet")
    orphans = look(workshop, table)
    approve_list(workshop.ports, table, orphans.list_id, "ada", orphans.sha256)

    def read_portion(job_id: str, kind: str, number: int) -> bytes:
        if portion is None:
            message = f"portion {number} of the {kind} of job {job_id} is not in the store"
            raise InvalidValueError(message)
        (packed,) = pack(json.dumps([name, 0]) for name in portion)
        return packed.data

    monkeypatch.setattr(workshop.runner.orphan_files, "read_portion", read_portion)
    job = workshop.run(table, RULE)
    assert stray.exists()
    assert job.state is JobState.FAILED
    complaint = "is not in the store" if portion is None else "the list is incomplete: nothing is"
    assert complaint in job.failure_message


def test_guard_2_a_table_that_took_files_from_elsewhere_meanwhile_loses_nothing(
    workshop: Workshop,
) -> None:
    table = make(workshop, "borrower")
    place = place_of(workshop, table)
    stray = litter(place / "data" / "stray.parquet")
    orphans = look(workshop, table)
    live = next(
        path
        for path in (place / "data").glob("*.parquet")
        if "deletes" not in path.name and path != stray
    )
    elsewhere = Path(shutil.copyfile(live, workshop.lake.root / "elsewhere.parquet"))
    workshop.sql(
        f"CALL lake.system.add_files(table => 'db.borrower', source_table => "
        f"'`parquet`.`{elsewhere}`', check_duplicate_files => false)"
    )
    job = remove(workshop, orphans)
    assert job.state is JobState.FAILED
    assert "files of the table are outside its location: nothing is deleted" in job.failure_message
    assert stray.exists()


def test_guard_2_the_table_says_no_after_the_list_was_approved(workshop: Workshop) -> None:
    table = make(workshop, "forbidden")
    stray = litter(place_of(workshop, table) / "data" / "stray.parquet")
    orphans = look(workshop, table)
    approve_list(workshop.ports, table, orphans.list_id, "ada")
    _, job = request_run(workshop.ports, table, (RULE,), "person")
    assert job is not None
    workshop.sql("ALTER TABLE lake.db.forbidden SET TBLPROPERTIES ('gc.enabled' = 'false')")
    refused = workshop.finish(job)
    assert (refused.state, refused.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)
    assert refused.failure_message == "the table has gc.enabled=false since this was planned"
    assert stray.exists()


def test_guard_5_a_list_does_not_outlive_its_table(workshop: Workshop) -> None:
    table = make(workshop, "replaced")
    place = place_of(workshop, table)
    stray = litter(place / "data" / "stray.parquet")
    orphans = look(workshop, table)
    approve_list(workshop.ports, table, orphans.list_id, "ada")
    _, job = request_run(workshop.ports, table, (RULE,), "person")
    assert job is not None
    workshop.sql(
        "DROP TABLE lake.db.replaced",
        f"CREATE TABLE lake.db.replaced ({COLUMNS}) USING iceberg LOCATION '{place}'",
    )
    refused = workshop.finish(job)
    assert (refused.state, refused.failure_reason) == (JobState.FAILED, FailureReason.TABLE_CHANGED)
    assert refused.failure_message.startswith("the table was replaced: its UUID was ")
    assert stray.exists()


def test_guard_1_a_table_within_another_is_not_looked_around(workshop: Workshop) -> None:
    outer = workshop.create("outer", COLUMNS, rows=("SELECT id, 1 FROM range(5)",))
    place = workshop.look(outer).location
    inner = workshop.create(
        "inner", COLUMNS, f"LOCATION '{place}/inner'", rows=("SELECT id, 1 FROM range(5)",)
    )
    for table in (outer, inner):
        workshop.grow_old(table, timedelta(days=10))
    for table, other in ((outer, inner), (inner, outer)):
        plan, job = request_run(workshop.ports, table, (RULE,), "person")
        assert job is None
        assert f"of table {other}" in plan.skipped[0].reason
