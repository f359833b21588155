"""What surrounds a rewrite, to the letter."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from maintainer.adapters.spark.statements import statements_of
from maintainer.domain.action import Action, ComputeTableStats, ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.effect import Measurement
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Baseline, Job
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.domain.rollback import Repair, RollBack
from maintainer.domain.safeguards import Canary, Checksum, Safeguards

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ORDERS = TableIdentifier("lake", ("sales",), "or`ders")
NAME = "`lake`.`sales`.`or``ders`"
MEASURED = Measurement(7, NOW, 1, 1, 1.0, 0, 1, 1, 1, 1)
BASELINE = Baseline(7, 3, NOW, "m.json", MEASURED, snapshot_at=NOW - timedelta(days=2))
TAG = f"ALTER TABLE {NAME} CREATE TAG IF NOT EXISTS `maintainer-before-m-1` AS OF VERSION 7 RETAIN 4320 MINUTES"


def job_of(action: Action, guards: Safeguards, baseline: Baseline | None = BASELINE) -> Job:
    rule = RuleName(action.procedure.value)
    made = Job("m-1", ORDERS, "uuid", rule, action, (), Estimate(1, 1, 0, 0), "", "v", 50, "policy", NOW, submitted_at=NOW, application="ours")
    return replace(made, safeguards=guards, baseline=baseline)


def test_guard_26_a_tag_is_set_before_a_rewrite_and_outlives_the_snapshots_own_age() -> None:
    written = statements_of(job_of(RewriteManifests(0), Safeguards(rollback_for=timedelta(days=1))))
    assert written.every[0] == TAG, "two days that the snapshot is old, and one more"
    assert (written.main, len(written.every)) == (1, 2)
    assert written.work.startswith("CALL `lake`.system.rewrite_manifests(")


def test_tags_whose_time_is_over_are_dropped_first() -> None:
    old = replace(BASELINE, lapsed_tags=("maintainer-before-m-0",))
    written = statements_of(job_of(RewriteManifests(0), Safeguards(rollback_for=timedelta(days=1)), old))
    assert written.every[:2] == (f"ALTER TABLE {NAME} DROP TAG IF EXISTS `maintainer-before-m-0`", TAG)


def test_without_safeguards_there_is_the_call_alone() -> None:
    written = statements_of(job_of(RewriteManifests(0), Safeguards()))
    assert (written.main, len(written.every)) == (0, 1)


@pytest.mark.parametrize("action", [ExpireSnapshots(NOW - timedelta(days=5), 10), ComputeTableStats(7)])
def test_what_rewrites_nothing_is_not_surrounded(action: Action) -> None:
    everything = Safeguards(timedelta(days=1), Canary.SAMPLE, Checksum.FULL)
    assert len(statements_of(job_of(action, everything)).every) == 1


@pytest.mark.parametrize("baseline", [None, replace(BASELINE, snapshot_id=None)])
def test_a_table_without_a_snapshot_has_no_tag(baseline: Baseline | None) -> None:
    assert len(statements_of(job_of(RewriteManifests(0), Safeguards(rollback_for=timedelta(days=1)), baseline)).every) == 1


def test_the_canary_reads_a_few_rows_where_the_rewrite_worked_and_tells_none_of_them() -> None:
    written = statements_of(job_of(RewriteDataFiles(where="day = DATE '2026-01-01'"), Safeguards(canary=Canary.SAMPLE)))
    assert written.main == 0
    reading = "SELECT length(to_json(struct(*))) AS canary_characters FROM `lake`.`sales`.`or``ders` WHERE day = DATE '2026-01-01' LIMIT 100"
    assert written.every[1:] == (reading,)


def test_checksums_are_tried_before_and_taken_on_both_sides_of_our_commits_after() -> None:
    written = statements_of(job_of(RewriteDataFiles(where="part = 'it''s'"), Safeguards(checksum=Checksum.FULL)))
    assert written.main == 2
    assert written.every[0] == "SET spark.sql.legacy.allowHashOnMapType = true"
    assert "VERSION AS OF 7 WHERE part = 'it''s' LIMIT 0" in written.every[1]
    assert written.every[3].startswith("DECLARE OR REPLACE VARIABLE ")
    assert "summary['app-name'] = 'ours'" in written.every[4]
    assert written.every[5].startswith("EXECUTE IMMEDIATE ")


def test_a_sample_of_the_checksums_is_of_the_rows_that_the_job_names() -> None:
    guards = Safeguards(checksum=Checksum.SAMPLE, checksum_where="part = 1")
    written = statements_of(job_of(RewriteDataFiles(where="part < 9"), guards))
    assert "WHERE part = 1 LIMIT 0" in written.every[1]


def test_a_rollback_fails_where_main_has_moved_on() -> None:
    action = RollBack(7, "m-0", 9)
    job = Job("m-1", ORDERS, "uuid", Repair.ROLL_BACK, action, (), Estimate(0, 0, 0, 0), "", "", 100, "ada", NOW)
    standing = "(SELECT snapshot_id FROM `lake`.`sales`.`or``ders`.refs WHERE name = 'main')"
    moved = f"SELECT assert_true({standing} = 9, 'main has moved on from snapshot 9') AS is_unmoved"  # noqa: S608 - names are ours
    call = "CALL `lake`.system.rollback_to_snapshot(table => '`lake`.`sales`.`or``ders`', snapshot_id => 7L)"
    assert (statements_of(job).every, statements_of(job).work) == ((moved, call), call)
