"""What needs a person, and in which sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.decide.notices import (
    command_of,
    describe_list,
    entries_of_names,
    entries_of_observed,
    entry_of_catalog,
    entry_of_failures,
    entry_of_fault,
    entry_of_list,
    entry_of_pause,
    entry_of_problem,
)
from maintainer.domain.audit import BY_PROOF, BY_WAIT
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.plan import FailureStreak, RuleHistory, Unenforced
from maintainer.domain.policy import PolicyProblem, RuleName
from tests.decide.test_notices import ORPHANS
from tests.samples import NOW, TABLE

HISTORY = RuleHistory(
    RuleName.REWRITE_MANIFESTS,
    consecutive_failures=4,
    last_failure_at=NOW,
    last_failure_reason="conflict",
)


@pytest.mark.parametrize(("by", "is_listed"), [(BY_PROOF, True), (BY_WAIT, True), ("ada", False)])
def test_a_pause_by_the_daemon_needs_a_person_and_a_persons_own_does_not(
    by: str, is_listed: bool
) -> None:
    entry = entry_of_pause(TABLE, by, "rows differ", NOW)
    listed = InboxEntry(InboxKind.PAUSED, str(TABLE), "rows differ", NOW, TABLE)
    assert entry == (listed if is_listed else None)


def test_a_pause_by_the_daemon_leads_to_the_job_that_can_be_undone() -> None:
    reason = "the rows before and after job m-17 differ; check the job before you resume"
    entry = entry_of_pause(TABLE, BY_PROOF, reason, NOW)
    assert entry is not None
    assert entry.reference == "m-17"
    assert command_of(entry) == "maintainer jobs show m-17"
    unnamed = entry_of_pause(TABLE, BY_PROOF, "rows differ", NOW)
    assert unnamed is not None
    assert command_of(unnamed) == f"maintainer why {TABLE}"


def test_a_table_that_cannot_be_measured_has_its_reason() -> None:
    fault = TableFault(TABLE, FaultKind.METADATA_MISSING, "no metadata", NOW)
    assert entry_of_fault(fault) == InboxEntry(
        InboxKind.UNREADABLE, str(TABLE), "no metadata", NOW, TABLE
    )


def test_a_catalog_that_cannot_be_listed_names_the_namespace_where_it_is_one() -> None:
    whole = CatalogFault("lake", (), "refused", NOW)
    assert entry_of_catalog(whole) == InboxEntry(InboxKind.CATALOG, "lake", "refused", NOW)
    assert entry_of_catalog(replace(whole, namespace=("a", "b"))).sentence == (
        "namespace a.b: refused"
    )


def test_a_rule_that_keeps_failing_refers_to_its_last_job_where_that_is_known() -> None:
    known = replace(HISTORY, streak=FailureStreak("conflict", 4, NOW, "job-9"))
    entry = entry_of_failures(TABLE, known)
    assert entry.sentence == "rewrite_manifests failed 4 times in a row, now with conflict"
    assert (entry.kind, entry.since, entry.reference) == (InboxKind.FAILING, NOW, "job-9")
    assert entry_of_failures(TABLE, replace(HISTORY, consecutive_failures=0)).reference == ""


def test_a_mistake_in_a_policy_file_has_its_place() -> None:
    problem = PolicyProblem("cold.yaml:12", "rules.rewrite is not a rule")
    assert entry_of_problem(problem) == InboxEntry(
        InboxKind.POLICY, "cold.yaml:12", problem.message
    )


def test_a_list_of_orphans_is_described_as_in_its_notice() -> None:
    entry = entry_of_list(ORPHANS)
    assert (entry.kind, entry.reference) == (InboxKind.APPROVAL, ORPHANS.list_id)
    assert entry.sentence == describe_list(ORPHANS)


def test_a_table_with_several_names_is_one_entry_under_the_first() -> None:
    names = [TABLE, TableIdentifier("old", ("sales",), "orders")]
    (entry,) = entries_of_names(dict.fromkeys(names, names))
    assert (entry.kind, entry.table) == (InboxKind.SHARED, TABLE)
    assert entry.sentence == (
        "the same table is registered as old.sales.orders too: keep one name, or let a policy "
        "name the one to maintain"
    )


@pytest.mark.parametrize(
    ("unenforced", "sentence"),
    [
        (Unenforced(0, 0, 0.0), None),
        (
            Unenforced(1, 40, 0.5),
            (
                "1 table would be maintained if its policy were in mode enforce: about 40 data "
                "files fewer "
                "for 0.5 GB-hours"
            ),
        ),
        (
            Unenforced(1200, 1, 12.34, is_whole=False),
            (
                "1,200 tables would be maintained if their policy were in mode enforce: at least "
                "1 data file "
                "fewer for 12 GB-hours"
            ),
        ),
    ],
)
def test_tables_that_are_only_observed_are_one_entry(
    unenforced: Unenforced, sentence: str | None
) -> None:
    assert [entry.sentence for entry in entries_of_observed(unenforced)] == (
        [] if sentence is None else [sentence]
    )
