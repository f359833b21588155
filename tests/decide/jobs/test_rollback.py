from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.decide.jobs.rollback import judge_rollback, refuse_rollback
from maintainer.domain.action import (
    Action,
    ExpireSnapshots,
    Repair,
    RewriteDataFiles,
    RollBack,
    Safeguards,
)
from maintainer.domain.effect import Effect, RowProof
from maintainer.domain.inventory import Snapshot, TableInventory
from maintainer.domain.job import Baseline, Job, JobState
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.measure.health import measure, summarise
from tests.samples import NOW, TABLE, UUID, inventory, snapshot

MEASURED = summarise(measure(inventory()))
EFFECT = Effect(
    MEASURED, MEASURED, 1, 0, 9, 0, 0, 0, 100, 1.0, RowProof.EQUAL, own_snapshot_ids=(2,)
)
BASELINE = Baseline(1, 1, NOW, "m.json", MEASURED)


def job_of(action: Action | None = None, own: tuple[int, ...] = (2,)) -> Job:
    chosen = action or RewriteDataFiles()
    made = Job(
        "m-1",
        TABLE,
        UUID,
        RuleName(chosen.procedure.value),
        chosen,
        (),
        Estimate(1, 1, 0, 0),
        "",
        "v",
        50,
        "policy",
        NOW,
        application="ours",
    )
    return replace(
        made,
        state=JobState.SUCCEEDED,
        baseline=BASELINE,
        effect=replace(EFFECT, own_snapshot_ids=own),
    )


def ours(snapshot_id: int, parent_id: int) -> Snapshot:
    return snapshot(
        snapshot_id, parent_id=parent_id, operation="replace", summary={"app-name": "ours"}
    )


def other(
    snapshot_id: int, parent_id: int, operation: str = "append", name: str = "etl"
) -> Snapshot:
    return snapshot(
        snapshot_id,
        parent_id=parent_id,
        operation=operation,
        summary={"app-name": name} if name else {},
    )


def table_of(*snapshots: Snapshot, current: int | None = None) -> TableInventory:
    found = inventory(snapshots=snapshots)
    return found if current is None else replace(found, current_snapshot_id=current)


def test_all_commits_of_a_job_are_undone_and_later_rewrites_of_ours_with_them() -> None:
    assert judge_rollback(
        job_of(own=(2, 3)), table_of(snapshot(1), ours(2, 1), ours(3, 2), ours(4, 3))
    ) == RollBack(1, "m-1", 4)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (
            replace(job_of(), state=JobState.RUNNING),
            "job m-1 is running; it can be rolled back when it has ended",
        ),
        (
            job_of(ExpireSnapshots(NOW, 10)),
            "job m-1 ran expire_snapshots, and only rewrites can be rolled back",
        ),
        (
            replace(job_of(), rule=Repair.ROLL_BACK, action=RollBack(1, "m-0", 2)),
            "ran roll_back, and only rewrites can be rolled back",
        ),
        (job_of(own=()), "job m-1 has committed nothing: there is nothing to roll back"),
        (replace(job_of(), effect=None), "has committed nothing"),
        (replace(job_of(), baseline=None), "has committed nothing"),
        (replace(job_of(), baseline=replace(BASELINE, snapshot_id=None)), "has committed nothing"),
        (
            replace(job_of(), table_uuid="another"),
            "the table was replaced: its UUID was another when job m-1 ran and is " + UUID,
        ),
    ],
)
def test_what_cannot_be_rolled_back_is_refused_by_name(job: Job, words: str) -> None:
    said = judge_rollback(job, table_of(snapshot(1), ours(2, 1)))
    assert isinstance(said, str)
    assert words in said


def test_a_snapshot_that_is_gone_cannot_be_gone_back_to() -> None:
    gone = table_of(ours(2, 1))
    assert (
        judge_rollback(job_of(), gone)
        == "snapshot 1, the one before job m-1, no longer exists; it had no tag"
    )
    tagged = replace(job_of(), safeguards=Safeguards(rollback_for=NOW - NOW.replace(hour=1)))
    assert str(judge_rollback(tagged, gone)).endswith(
        "no longer exists; tag maintainer-before-m-1 kept it until the tag expired"
    )


def test_commits_of_others_are_reported_by_name_and_number() -> None:
    one = judge_rollback(job_of(), table_of(snapshot(1), ours(2, 1), other(3, 2)))
    assert (
        one == "1 commit of others, 3 (append by etl), would be lost: it is newer than snapshot 1"
    )
    between = judge_rollback(
        job_of(own=(2, 4)), table_of(snapshot(1), ours(2, 1), other(3, 2, "", ""), ours(4, 3))
    )
    assert (
        between
        == "1 commit of others, 3 (unknown by unnamed), would be lost: it is newer than snapshot 1"
    )
    many = judge_rollback(
        job_of(), table_of(snapshot(1), ours(2, 1), *(other(n, n - 1) for n in range(3, 10)))
    )
    assert str(many).startswith("7 commits of others, 9 (append by etl), 8 (append by etl), ")
    assert str(many).endswith(" and 2 more, would be lost: they are newer than snapshot 1")


def test_what_others_committed_before_the_jobs_first_commit_stays() -> None:
    assert judge_rollback(
        job_of(own=(3, 4)), table_of(snapshot(1), other(2, 1), ours(3, 2), ours(4, 3))
    ) == RollBack(2, "m-1", 4)


def test_a_rewrite_that_somebody_else_calls_a_replacement_is_not_ours() -> None:
    assert "would be lost" in str(
        judge_rollback(job_of(), table_of(snapshot(1), ours(2, 1), other(3, 2, "replace")))
    )
    assert "would be lost" in str(
        judge_rollback(
            job_of(), table_of(snapshot(1), ours(2, 1), replace(ours(3, 2), operation="append"))
        )
    )


def test_a_table_that_stands_elsewhere_is_left_alone() -> None:
    line = (snapshot(1), ours(2, 1))
    assert (
        judge_rollback(job_of(), table_of(*line, current=1))
        == "main is already at snapshot 1, as before job m-1"
    )
    aside = table_of(*line, other(3, 0), current=3)
    assert judge_rollback(job_of(), aside) == (
        "snapshot 1 is not an ancestor of snapshot 3, where main is now: main was set to another "
        "snapshot since"
    )
    undone = table_of(*line, ours(3, 1), current=3)
    assert judge_rollback(job_of(), undone) == "the commits of job m-1 are no longer part of main"
    circle = table_of(snapshot(1), ours(2, 3), ours(3, 2))
    assert "not an ancestor" in str(judge_rollback(job_of(), circle))


def test_main_must_stand_where_it_stood_when_the_rollback_was_asked_for() -> None:
    assert refuse_rollback(RollBack(1, "m-1", 2), 2) is None
    assert refuse_rollback(RollBack(1, "m-1", 2), 3) == (
        "main has changed from snapshot 2 to 3 since the rollback was requested: that commit "
        "would be lost"
    )
