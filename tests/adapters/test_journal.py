from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from maintainer.adapters.journal import Journal
from maintainer.domain.action import RewriteManifests
from maintainer.domain.health import Band, Grade
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.plan import Estimate, Plan, PlannedAction, RuleVerdict, SkipCode, SkippedRule
from maintainer.domain.policy import Mode, RuleName
from maintainer.domain.scan_cost import SlowRead
from tests.fakes.adapters.telemetry import FakeTelemetry
from tests.samples import NOW, TABLE, UUID, health_of_partitions, job_of_manifests

JOB = job_of_manifests()


def test_events_are_one_line_each_and_all_are_handed_on(caplog: pytest.LogCaptureFixture) -> None:
    inner = FakeTelemetry()
    journal = Journal(inner)
    planned = PlannedAction(
        RuleName.REWRITE_MANIFESTS, RewriteManifests(0), (), Estimate(2, 1, 1, 0), "too many"
    )
    skipped = SkippedRule(RuleName.EXPIRE_SNAPSHOTS, SkipCode.BELOW_THRESHOLD, "few")
    plan = Plan(TABLE, UUID, 1, "m", "v", Mode.ENFORCE, 50, NOW, (planned,), (skipped,))
    failed = replace(
        JOB,
        state=JobState.FAILED,
        failure_reason=FailureReason.CONFLICT,
        failure_message="a writer won",
    )
    with caplog.at_level(logging.DEBUG, "maintainer"):
        journal.table_measured(health_of_partitions({"a": [1000]}), Grade(Band.WATCH))
        journal.table_measured(health_of_partitions({}), Grade(Band.HEALTHY))
        journal.table_gone(TABLE)
        journal.scan_finished(1.5, 20, 3, 1)
        journal.plan_made(plan)
        journal.job_finished(failed, None)
        journal.step_finished("scan", 0.1, is_ok=True)
    assert [record.getMessage() for record in caplog.records] == [
        "table.measured table=lake.sales.orders band=watch data_files=1 average_file_size='1000 B'",
        "table.measured table=lake.sales.orders band=healthy data_files=0 average_file_size='none'",
        "table.gone table=lake.sales.orders",
        "scan.finished tables=3 faults=1 manifest_entries_read=20 duration_seconds=1.50",
        "action.planned table=lake.sales.orders rule=rewrite_manifests reason='too many'",
        (
            "action.skipped table=lake.sales.orders rule=expire_snapshots code=below_threshold "
            "reason='few'"
        ),
        (
            "job.failed job=m-1 table=lake.sales.orders rule=rewrite_manifests reason=conflict "
            "duration_seconds=None message='a writer won'"
        ),
    ]
    assert (len(inner.measured), inner.gone, inner.scans) == (2, [TABLE], [(1.5, 20, 3, 1)])
    assert (inner.plans, inner.jobs, inner.steps) == ([plan], [(failed, None)], [("scan", True)])


def test_verdicts_of_admission_are_one_line_for_each_kind(caplog: pytest.LogCaptureFixture) -> None:
    inner = FakeTelemetry()
    verdicts = [
        RuleVerdict(RuleName.REWRITE_MANIFESTS, code, "", "", NOW)
        for code in ("over_budget", "planned", "over_budget")
    ]
    with caplog.at_level(logging.INFO, "maintainer"):
        Journal(inner).verdicts_changed(verdicts)
    assert [record.getMessage() for record in caplog.records] == [
        "verdicts.changed code=over_budget actions=2",
        "verdicts.changed code=planned actions=1",
    ]
    assert inner.verdicts == verdicts


def test_slow_readings_are_warned_of_once_for_each_reason(caplog: pytest.LogCaptureFixture) -> None:
    inner = FakeTelemetry()
    journal = Journal(inner)
    reported = [(SlowRead.SCHEMA, 3), (SlowRead.SCHEMA, 2), (SlowRead.CONTENTS, 1)]
    with caplog.at_level(logging.WARNING, "maintainer"):
        for reason, manifests in reported:
            journal.manifests_read_slowly(reason, manifests)
    assert [record.getMessage() for record in caplog.records] == [
        "manifests.read_slowly reason=schema manifests=3",
        "manifests.read_slowly reason=contents manifests=1",
    ]
    assert inner.slow == reported
