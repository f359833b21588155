"""Guard 5: nothing goes but what is on a list that somebody, or the policy, has approved for this
very table.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances, digest_state
from maintainer.decide.jobs.submission import check_before_submit
from maintainer.decide.plan import decide
from maintainer.domain.action import ApprovedList, Disposal, RemoveOrphanFiles
from maintainer.domain.orphan import (
    FoundFile,
    OrphanList,
    OrphanListState,
    Surroundings,
    hash_files,
)
from maintainer.domain.plan import Plan, RuleHistory, SkipCode, name_state
from maintainer.domain.policy import Approval, Mode, Policy, RuleName
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.domain.units import MIB
from maintainer.procedures.remove_orphan_files.approval import (
    LIST_LIFE,
    OrphanScan,
    approve,
    describe_list,
    describe_removal,
    find_disposal,
    hold_for,
    make_list,
    refuse_approval,
    refuse_rejection,
    refuse_removal,
    refuse_restoring,
    reject,
)
from maintainer.procedures.remove_orphan_files.scan import judge_orphans
from tests.samples import NOW, health_of_partitions

DAY = timedelta(days=1)
RULE = RemoveOrphanFilesRule(
    older_than=7 * DAY,
    every=7 * DAY,
    cooldown=timedelta(hours=6),
    quarantine=timedelta(0),
)
POLICY = Policy(mode=Mode.ENFORCE, rules=(RULE,), version="abc")
AUTOMATIC = replace(POLICY, rules=(replace(RULE, approval=Approval.AUTOMATIC),))
OLD = replace(
    health_of_partitions({"a": [MIB] * 100}),
    oldest_snapshot_at=NOW - 30 * DAY,
    storage_files=120,
    location="s3://lake/sales/orders",
)
FILES = [FoundFile(f"s3://lake/sales/orders/data/{n}.parquet", 1000) for n in range(3)]
ORPHAN_SCAN = OrphanScan("m-1", OLD.table, OLD.table_uuid, OLD.location, NOW - 7 * DAY)


def listed(policy: Policy = POLICY, files: list[FoundFile] = FILES) -> OrphanList:
    return make_list(ORPHAN_SCAN, judge_orphans(OLD, files, 0), policy, NOW)


def approved(now_plus: timedelta = timedelta(0)) -> OrphanList:
    return approve(listed(), "ada", NOW + now_plus)


def word_for(orphans: OrphanList, disposal: Disposal = Disposal.DELETE) -> ApprovedList:
    return ApprovedList(orphans.list_id, orphans.sha256, disposal)


def planned(
    lists: tuple[OrphanList, ...], policy: Policy = POLICY, history: RuleHistory | None = None
) -> Plan:
    surroundings = Surroundings(NOW - 30 * DAY, (), is_complete=True, lists=lists)
    return decide(
        OLD,
        policy,
        Circumstances(
            NOW, history={history.rule: history} if history else {}, surroundings=surroundings
        ),
    )


def test_a_list_waits_for_an_approval_unless_the_policy_needs_none() -> None:
    waiting = listed()
    assert (waiting.state, waiting.files, waiting.bytes, waiting.expires_at) == (
        OrphanListState.WAITING,
        3,
        3000,
        NOW + LIST_LIFE,
    )
    assert (
        describe_list(waiting)
        == f"They wait for approval until {NOW + LIST_LIFE:%Y-%m-%d %H:%M} UTC as list m-1."
    )
    assert listed(Policy()).state is OrphanListState.WAITING, "without the rule too"
    automatic = listed(AUTOMATIC)
    assert (automatic.state, automatic.decided_by, automatic.decided_at) == (
        OrphanListState.APPROVED,
        "policy abc",
        NOW,
    )
    assert "approved by policy abc as list m-1" in describe_list(automatic)


def test_guard_5_a_list_that_the_assessment_refuses_cannot_be_approved() -> None:
    refused = listed(AUTOMATIC, [FoundFile("s3://lake/sales/orders/data/x.parquet", 500 * MIB)])
    assert refused.state is OrphanListState.REFUSED
    assert "are more than 10%" in (refuse_approval(refused, NOW) or "")
    assert describe_list(refused) == ""
    assert find_disposal([refused], RULE, OLD, NOW) is None
    assert refuse_rejection(refused) == f"list m-1 of {OLD.table} is refused already"


def test_guard_5_an_approval_is_for_exactly_the_list_that_was_seen() -> None:
    waiting = listed()
    assert refuse_approval(waiting, NOW) is None
    assert refuse_approval(waiting, NOW, waiting.sha256) is None
    assert "is for another list" in (refuse_approval(waiting, NOW, "0123") or "")
    other = hash_files([*FILES[:2], replace(FILES[2], size_bytes=999)])
    assert other != waiting.sha256
    assert "the approval is for another list" in (
        refuse_removal(approved(), ApprovedList("m-1", other), OLD, NOW) or ""
    )


def test_the_hash_distinguishes_paths_sizes_times_and_order() -> None:
    texts = [
        FILES,
        FILES[::-1],
        FILES[:2],
        [replace(FILES[0], path="x"), *FILES[1:]],
        [replace(FILES[0], modified_at=NOW), *FILES[1:]],
    ]
    assert len({hash_files(files) for files in texts}) == len(texts)


def test_guard_5_without_an_approval_nothing_goes() -> None:
    assert refuse_removal(None, ApprovedList("m-1", ""), OLD, NOW) == "list m-1 is no longer known"
    for orphans in (
        listed(),
        reject(listed(), "ada", NOW),
        replace(approved(), state=OrphanListState.SUPERSEDED),
    ):
        assert (
            refuse_removal(orphans, word_for(orphans), OLD, NOW)
            == f"list m-1 of {OLD.table} is {orphans.state}, not approved"
        )
    assert refuse_removal(approved(), word_for(approved()), OLD, NOW) is None


def test_guard_5_an_approval_ends() -> None:
    late = NOW + LIST_LIFE
    assert "could be approved until" in (refuse_approval(listed(), late) or "")
    word = approved(6 * DAY)
    assert refuse_removal(word, word_for(word), OLD, NOW + 12 * DAY) is None
    assert "by ada ended at" in (refuse_removal(word, word_for(word), OLD, NOW + 13 * DAY) or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"table_uuid": "another"}, "was made for the table with UUID"),
        ({"location": "s3://lake/moved"}, "and the table is at s3://lake/moved"),
    ],
)
def test_guard_5_an_approval_is_void_when_the_table_is_another_or_elsewhere(
    change: dict[str, str], words: str
) -> None:
    reason = refuse_removal(approved(), word_for(approved()), replace(OLD, **change), NOW)  # type: ignore[arg-type]
    assert reason is not None
    assert reason.startswith("the approval is void: list m-1 of ")
    assert words in reason
    spelt = replace(OLD, location="s3a://lake/sales//orders/")
    assert refuse_removal(approved(), word_for(approved()), spelt, NOW) is None, (
        "only another spelling"
    )


def test_an_approval_can_be_withdrawn_until_it_is_carried_out() -> None:
    assert refuse_rejection(listed()) is None
    assert refuse_rejection(approved()) is None
    assert reject(approved(), "bob", NOW).decided_by == "bob"
    assert refuse_rejection(reject(listed(), "bob", NOW)) is not None
    assert "is rejected already" in (refuse_approval(reject(listed(), "bob", NOW), NOW) or "")


SCAN_ACTION = RemoveOrphanFiles(NOW - 7 * DAY, OLD.location, ())


def test_a_scan_that_found_nothing_is_repeated_on_a_table_that_nobody_changes() -> None:
    """Files become old enough, and other programs leave files, without a commit."""
    earlier = replace(SCAN_ACTION, older_than=SCAN_ACTION.older_than - 8 * DAY)
    state = name_state(digest_state(OLD), POLICY.version, earlier)
    before = NOW - 8 * DAY
    empty = RuleHistory(RuleName.REMOVE_ORPHAN_FILES, before, before, idle_at_state=state)
    assert [one.rule for one in planned((), history=empty).planned] == [
        RuleName.REMOVE_ORPHAN_FILES
    ]


def test_an_approved_list_is_carried_out_before_the_next_look() -> None:
    lately = RuleHistory(
        RuleName.REMOVE_ORPHAN_FILES,
        NOW,
        NOW - DAY,
        idle_at_state=name_state(digest_state(OLD), POLICY.version, SCAN_ACTION),
    )
    assert [skipped.code for skipped in planned((listed(),), history=lately).skipped] == [
        SkipCode.COOLING_DOWN
    ]
    (action,) = planned((approved(),), history=lately).planned
    assert action.action == RemoveOrphanFiles(NOW - 7 * DAY, OLD.location, (), word_for(approved()))
    assert action.reason == (
        "3 orphan files of 2.9 KiB on list m-1, approved by ada, would be deleted, except "
        "any that the table references by then"
    )
    assert action.estimate.items_removed == 3
    failed = replace(lately, last_failure_at=NOW, consecutive_failures=1)
    assert [skipped.code for skipped in planned((approved(),), history=failed).skipped] == [
        SkipCode.COOLING_DOWN
    ]


def test_the_oldest_approved_list_goes_first_and_observing_lets_none_go() -> None:
    older, newer = replace(approved(), list_id="m-0", made_at=NOW - DAY), approved()
    assert find_disposal([newer, older], RULE, OLD, NOW) == (older, word_for(older))
    assert [
        skipped.code for skipped in planned((newer,), replace(POLICY, mode=Mode.OBSERVE)).skipped
    ] == [SkipCode.OBSERVE_ONLY]


def test_guard_3_a_file_that_was_written_since_stays() -> None:
    young = [
        replace(FILES[0], modified_at=NOW - 7 * DAY),
        replace(FILES[1], modified_at=NOW - 8 * DAY),
        FILES[2],
    ]
    assessment = judge_orphans(OLD, young, 0, older_than=NOW - 7 * DAY)
    assert assessment.orphans == tuple(young[1:])
    assert "which is too recent" in assessment.kept[0][1]


def in_quarantine(until: timedelta = 5 * DAY) -> OrphanList:
    return replace(
        approved(), list_id="m-0", state=OrphanListState.QUARANTINED, expires_at=NOW + until
    )


def test_bringing_back_comes_before_carrying_out_and_that_before_emptying() -> None:
    wanted, due = (
        replace(in_quarantine(), state=OrphanListState.RESTORING),
        in_quarantine(timedelta(0)),
    )
    kept = RemoveOrphanFilesRule()
    assert find_disposal([due, approved(), wanted], kept, OLD, NOW) == (
        wanted,
        word_for(wanted, Disposal.RESTORE),
    )
    assert find_disposal([due, approved()], kept, OLD, NOW) == (
        approved(),
        word_for(approved(), Disposal.QUARANTINE),
    )
    assert find_disposal([due, in_quarantine()], kept, OLD, NOW) == (
        due,
        word_for(due, Disposal.EMPTY),
    )
    assert find_disposal([in_quarantine()], kept, OLD, NOW) is None


def test_an_approval_of_a_quarantine_never_becomes_a_deletion() -> None:
    """Whatever changes later, in a file, a property or a request: the approver has seen it."""
    seen = approve(listed(replace(POLICY, rules=(replace(RULE, quarantine=5 * DAY),))), "ada", NOW)
    assert find_disposal([seen], RULE, OLD, NOW) == (seen, word_for(seen, Disposal.QUARANTINE))
    assert hold_for(seen, timedelta(0)) == 5 * DAY
    assert refuse_removal(seen, word_for(seen), OLD, NOW) == (
        f"the files of list m-1 of {OLD.table} were approved for a quarantine of 5d, not for "
        f"deletion at once"
    )
    assert hold_for(seen, 9 * DAY) == 9 * DAY, "a longer time is safer than what was approved"


def test_a_list_whose_time_in_quarantine_was_not_recorded_follows_the_policy() -> None:
    old = replace(approved(), quarantine=None)
    assert find_disposal([old], RULE, OLD, NOW) == (old, word_for(old))
    assert hold_for(old, 3 * DAY) == 3 * DAY


@pytest.mark.parametrize(
    ("quarantine", "words"),
    [
        (timedelta(0), "deleted by the next job at once: they cannot be restored"),
        (
            timedelta(hours=36),
            "moved to quarantine by the next job, and deleted after 1d12h there",
        ),
        (None, "removed as the policy says at the time"),
    ],
)
def test_the_approver_reads_what_becomes_of_the_files(
    quarantine: timedelta | None, words: str
) -> None:
    assert describe_removal(replace(listed(), quarantine=quarantine)) == (
        f"Approved files are {words}, except any that the table references by then."
    )


@pytest.mark.parametrize(
    ("orphans", "words"),
    [
        (approved(), "would be moved to quarantine, except any that the table references by then"),
        (
            replace(in_quarantine(), state=OrphanListState.RESTORING),
            "3 orphan files of 2.9 KiB on list m-0 would be restored from quarantine",
        ),
        (
            in_quarantine(timedelta(0)),
            (
                "3 orphan files of 2.9 KiB on list m-0, whose time in quarantine is over, would be "
                "deleted"
            ),
        ),
    ],
)
def test_a_plan_says_what_becomes_of_a_list(orphans: OrphanList, words: str) -> None:
    (action,) = planned(
        (orphans,), replace(POLICY, rules=(replace(RULE, quarantine=5 * DAY),))
    ).planned
    assert action.reason.endswith(words)


def test_what_is_in_quarantine_stays_there_for_its_time_and_can_be_wanted_back() -> None:
    word = word_for(in_quarantine(), Disposal.EMPTY)
    assert "stay in quarantine until" in (refuse_removal(in_quarantine(), word, OLD, NOW) or "")
    assert refuse_removal(in_quarantine(timedelta(0)), word, OLD, NOW) is None
    assert refuse_restoring(in_quarantine()) is None
    assert refuse_restoring(approved()) == f"list m-1 of {OLD.table} is approved, not in quarantine"
    assert refuse_rejection(in_quarantine()) is not None


def test_files_come_back_where_nothing_may_be_taken_away() -> None:
    wanted = replace(in_quarantine(), state=OrphanListState.RESTORING)
    nobody = Surroundings(None, (), is_complete=False, lists=(wanted,))
    plan = decide(
        replace(OLD, properties={"gc.enabled": "false"}),
        POLICY,
        Circumstances(NOW, surroundings=nobody),
    )
    (action,) = plan.planned
    assert isinstance(action.action, RemoveOrphanFiles)
    assert (
        check_before_submit(
            action.action, replace(OLD, properties={"gc.enabled": "false"}), OLD.table_uuid
        )
        is None
    )
    empties = replace(action.action, approved=word_for(wanted, Disposal.EMPTY))
    assert (
        check_before_submit(
            empties, replace(OLD, properties={"gc.enabled": "false"}), OLD.table_uuid
        )
        is not None
    )
