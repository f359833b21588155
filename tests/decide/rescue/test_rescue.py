"""The rescue plan repeats the real decision on predicted states."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.decide.rescue import plan as rescue
from maintainer.decide.rescue.plan import RescuePlan, plan_rescue
from maintainer.decide.rescue.state import KEPT, UNKNOWN, predict_health
from maintainer.domain.action import ComputePartitionStats, RewritePositionDeleteFiles, Safeguards
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.file_sizes import DeletedFiles
from maintainer.domain.health import Band, ManifestGroup, TableHealth
from maintainer.domain.inventory import ManifestContent, Ref
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.plan import Estimate, PlannedAction
from maintainer.domain.policy import Budget, Mode, Policy, RuleName
from maintainer.domain.rules import (
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
)
from maintainer.domain.units import MIB
from tests.samples import NOW, health_of_partitions, with_history

DAY = timedelta(days=1)
FILES = RewriteDataFilesRule(when=(Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, 32 * MIB),))
MANIFESTS = RewriteManifestsRule(when=(Threshold(Metric.MANIFEST_COUNT, 100),))
EXPIRY = ExpireSnapshotsRule(
    when=(Threshold(Metric.SNAPSHOT_COUNT, 100),), max_age=5 * DAY, keep=10
)
POLICY = Policy(mode=Mode.OBSERVE, rules=(FILES, MANIFESTS, EXPIRY), version="v1")
NEGLECTED = replace(
    with_history(
        health_of_partitions({f"hour={hour}": [2 * MIB] * 60 for hour in range(10)}),
        [timedelta(hours=1500 - i) for i in range(1400)],
    ),
    manifests=900,
    manifest_groups=(
        ManifestGroup(0, ManifestContent.DATA, 600, 2_400_000),
        ManifestGroup(1, ManifestContent.DATA, 300, 2_400_000),
    ),
)


def rescue_of(
    health: TableHealth = NEGLECTED,
    policy: Policy = POLICY,
    circumstances: Circumstances | None = None,
) -> RescuePlan:
    return plan_rescue(health, policy, circumstances or Circumstances(NOW, paused_by="ann"))


def test_a_neglected_table_becomes_healthy_by_the_rules_of_its_policy() -> None:
    found = rescue_of()
    assert found.band is Band.CRITICAL
    assert [step.rule for step in found.steps][:2] == [
        RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_MANIFESTS,
    ]
    assert found.is_healthy
    assert found.rest == ""
    last = found.steps[-1]
    assert (last.band, last.data_files) == (Band.HEALTHY, 10)
    assert last.manifests is not None
    assert last.manifests < 10
    assert last.snapshots < 150
    assert found.sentence.startswith(f"Healthy after {len(found.steps)} jobs, ")


def test_the_first_step_is_what_the_real_decision_plans() -> None:
    planned = decide(NEGLECTED, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    first = rescue_of().steps[0]
    assert planned.cost is not None
    assert (first.rule, first.gb_hours, first.reason) == (
        planned.rule,
        planned.cost.gb_hours,
        planned.reason,
    )
    assert first.ends_at == NOW + planned.cost.duration


def test_a_healthy_table_needs_no_steps() -> None:
    found = rescue_of(health_of_partitions({"day=1": [500 * MIB]}))
    assert (found.steps, found.is_healthy, found.days, found.gb_hours) == ((), True, 0.0, 0)
    assert found.sentence == "The table is healthy: nothing needs to be done."


def test_a_daily_budget_makes_days_of_it() -> None:
    fleet = Budget(bytes_per_day=1200 * MIB, gb_hours_per_day=1000.0, name="the fleet")
    rules = AdmissionRules(fleet=fleet)
    eager = replace(FILES, cooldown=timedelta(0))
    policy = replace(POLICY, rules=(eager, MANIFESTS, EXPIRY))
    found = rescue_of(policy=policy, circumstances=Circumstances(NOW, admission=rules))
    assert found.is_healthy
    assert found.ends_at.date() > NOW.date()
    assert "the budget of the day is used up" in {step.waited_for for step in found.steps}
    rewrites = [step for step in found.steps if step.rule is RuleName.REWRITE_DATA_FILES]
    assert len(rewrites) > 2


def test_a_cooldown_is_waited_for() -> None:
    few = (("max-files-to-rewrite", "200"),)
    slow = replace(FILES, options=few, cooldown=timedelta(hours=6))
    found = rescue_of(policy=replace(POLICY, rules=(slow, MANIFESTS, EXPIRY)))
    assert found.is_healthy
    rewrites = [step for step in found.steps if step.rule is RuleName.REWRITE_DATA_FILES]
    assert len(rewrites) > 1
    assert rewrites[1].starts_at - rewrites[0].ends_at >= timedelta(hours=6)
    assert rewrites[1].waited_for


def test_a_policy_without_a_rule_for_it_says_what_is_left() -> None:
    found = rescue_of(policy=replace(POLICY, rules=(MANIFESTS, RemoveOrphanFilesRule())))
    assert not found.is_healthy
    assert RuleName.REMOVE_ORPHAN_FILES not in {step.rule for step in found.steps}
    assert "no rule of the policy improves it further. average file size 2 MiB" in found.sentence
    assert found.sentence.startswith("After 2 jobs, ")
    assert rescue_of(policy=replace(POLICY, rules=())).sentence.startswith("no rule of the policy")


def test_the_bounds_on_steps_and_decisions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescue, "MAX_STEPS", 1)
    assert rescue_of().rest == "it needs more than 1 jobs or 400 days"
    monkeypatch.setattr(rescue, "MAX_DECISIONS", 1)
    assert rescue_of().rest == "the plan was not complete after 1 decisions"


def planned_with(action: object, removed: int = 0) -> PlannedAction:
    estimate = Estimate(removed, 0, removed, 0)
    rule = RuleName.REWRITE_POSITION_DELETE_FILES
    return PlannedAction(rule, action, (), estimate, "")  # type: ignore[arg-type]


def test_position_deletes_that_are_removed_are_gone() -> None:
    table = replace(NEGLECTED, position_delete_files=50, dangling_delete_files=20)
    after = predict_health(table, planned_with(RewritePositionDeleteFiles(), 30), POLICY, NOW)
    assert (after.position_delete_files, after.dangling_delete_files) == (20, 0)
    assert after.snapshots == table.snapshots + 1


def test_statistics_change_no_figure() -> None:
    action = ComputePartitionStats(NEGLECTED.snapshot_id or 0)
    assert predict_health(NEGLECTED, planned_with(action), POLICY, NOW) is NEGLECTED


def test_a_rewrite_applies_the_deletes_of_its_partitions() -> None:
    first, *others = NEGLECTED.partitions
    deleted = DeletedFiles(10, 20 * MIB, 2 * MIB, 2 * MIB, 0.5, 0.5, 1)
    table = replace(
        NEGLECTED,
        partitions=(
            replace(first, delete_files=10, position_delete_files=10, deleted=(deleted,)),
            *others,
        ),
        position_delete_files=10,
        equality_delete_files=None,
        delete_records=500,
    )
    planned = decide(table, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(table, planned, POLICY, NOW)
    assert (after.position_delete_files, after.delete_records) == (0, 0)
    assert after.equality_delete_files is None
    assert after.data_files == 10


def test_a_rollback_tag_keeps_the_snapshot_before_the_job() -> None:
    policy = replace(POLICY, safeguards=Safeguards(rollback_for=7 * DAY))
    planned = decide(NEGLECTED, replace(policy, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(NEGLECTED, planned, policy, NOW)
    tag = after.refs[-1]
    assert (tag.snapshot_id, tag.max_ref_age_ms) == (NEGLECTED.snapshot_id, 604_800_000)
    assert after.refs[0].snapshot_id == after.snapshot_id != NEGLECTED.snapshot_id


def test_outputs_below_the_small_file_limit_stay_small() -> None:
    table = health_of_partitions({f"day={day}": [MIB] * 20 for day in range(30)})
    planned = decide(table, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(table, planned, POLICY, NOW)
    assert (after.data_files, after.small_files) == (30, 30)
    assert after.small_file_bytes == table.data_bytes


def test_outputs_above_the_small_file_limit_are_no_small_files() -> None:
    table = health_of_partitions({"": [20 * MIB] * 100})
    planned = decide(table, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(table, planned, POLICY, NOW)
    assert after.data_files == planned.estimate.items_after
    assert after.small_files == 0


def test_files_that_are_mostly_overhead_become_less_bytes() -> None:
    """1,620 of 2,000 bytes are no rows: of 40 files, 39 times those go."""
    table = replace(health_of_partitions({"day=1": [2_000] * 40, "day=2": [2_000] * 40}), columns=6)
    planned = decide(table, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(table, planned, POLICY, NOW)
    rows = 40 * 380 + 1_620
    assert (after.data_files, after.data_bytes) == (2, 2 * rows)
    assert after.average_file_size_bytes == rows
    assert after.small_file_bytes == 2 * rows
    assert [partition.data_bytes for partition in after.partitions] == [rows, rows]


def test_a_rewrite_adds_its_manifest_and_leaves_the_others() -> None:
    """As real Spark does: 20 manifests of appends were 21 after the rewrite of all files."""
    planned = decide(NEGLECTED, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(NEGLECTED, planned, POLICY, NOW)
    counts = [(group.spec_id, group.count) for group in after.manifest_groups]
    assert counts == [(0, 601), (1, 300)]


def test_a_rewrite_of_whole_partitions_leaves_no_delete_for_them() -> None:
    first, *others = NEGLECTED.partitions
    table = replace(
        NEGLECTED,
        partitions=(replace(first, delete_files=10, position_delete_files=10), *others),
        position_delete_files=10,
    )
    planned = decide(table, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    assert predict_health(table, planned, POLICY, NOW).position_delete_files == 0


def test_a_rewrite_for_deletes_applies_them_beside_files_that_stay() -> None:
    table = health_of_partitions({"": [2 * MIB] * 60 + [500 * MIB] * 2})
    deleted = DeletedFiles(1, 500 * MIB, 500 * MIB, 500 * MIB, 0.5, 0.5, 1)
    (partition,) = table.partitions
    table = replace(
        table,
        partitions=(
            replace(partition, delete_files=1, position_delete_files=1, deleted=(deleted,)),
        ),
        position_delete_files=1,
    )
    planned = decide(
        table,
        replace(POLICY, mode=Mode.ENFORCE, rules=(replace(FILES, when=()),)),
        Circumstances(NOW),
    ).planned[0]
    assert planned.estimate.files_with_deletes == 1
    after = predict_health(table, planned, POLICY, NOW)
    assert after.position_delete_files == 0
    assert after.data_files == 1 + planned.estimate.items_after


def test_expired_snapshots_and_tags_are_gone() -> None:
    old = NEGLECTED.history[0].snapshot_id
    tag = Ref("old", old, is_branch=False, max_ref_age_ms=1)
    table = replace(NEGLECTED, refs=(*NEGLECTED.refs, tag))
    planned = decide(
        table, replace(POLICY, mode=Mode.ENFORCE, rules=(EXPIRY,)), Circumstances(NOW)
    ).planned[0]
    after = predict_health(table, planned, POLICY, NOW)
    assert after.snapshots == len(after.history) == 1400 - planned.estimate.items_removed
    assert tag not in after.refs
    assert table.oldest_snapshot_at is not None
    assert after.oldest_snapshot_at is not None
    assert after.oldest_snapshot_at > table.oldest_snapshot_at


PREDICTED = {
    "snapshot_id", "measured_at", "data_files", "data_bytes", "average_file_size_bytes",
    "small_files", "small_file_ratio", "small_file_bytes", "position_delete_files",
    "equality_delete_files", "deletion_vectors", "delete_bytes", "delete_records", "manifests",
    "snapshots", "oldest_snapshot_at", "newest_snapshot_at", "partitions", "manifest_groups",
    "history", "refs", "delete_file_ratio", "manifest_excess", "dangling_delete_files",
}  # fmt: skip


def test_each_figure_of_a_health_is_predicted_kept_or_unknown_after_a_job() -> None:
    named = [*PREDICTED, *KEPT, *UNKNOWN]
    assert sorted(named) == sorted(field.name for field in fields(TableHealth))


def test_only_what_is_predicted_changes_and_what_is_unknown_is_not_kept() -> None:
    full = replace(
        NEGLECTED,
        **dict.fromkeys(UNKNOWN, 7) | {"histogram": (7,), "ref_retention": ()},  # type: ignore[arg-type]
    )
    plan = decide(full, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW))
    changed = set()
    for planned in plan.planned:
        after = predict_health(full, planned, POLICY, NOW + DAY)
        assert {name: getattr(after, name) for name in UNKNOWN} == UNKNOWN
        changed |= {
            field.name
            for field in fields(TableHealth)
            if getattr(after, field.name) != getattr(full, field.name)
        }
    assert len(plan.planned) == 3
    assert changed & KEPT == set()


def test_the_ratio_of_deletes_follows_the_files() -> None:
    deleted = replace(
        NEGLECTED, position_delete_files=300, equality_delete_files=0, deletion_vectors=0
    )
    action = RewritePositionDeleteFiles()
    planned = PlannedAction(
        RuleName.REWRITE_POSITION_DELETE_FILES, action, (), Estimate(300, 0, 300, 10), ""
    )
    assert predict_health(deleted, planned, POLICY, NOW).delete_file_ratio == 0
    unknown = replace(deleted, deletion_vectors=None)
    assert predict_health(unknown, planned, POLICY, NOW).delete_file_ratio is None
    files = decide(deleted, replace(POLICY, mode=Mode.ENFORCE), Circumstances(NOW)).planned[0]
    after = predict_health(deleted, files, POLICY, NOW)
    assert after.data_files is not None
    assert after.delete_file_ratio == (after.position_delete_files or 0) / after.data_files
