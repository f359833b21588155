from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.decide.notices import entries_of_observed
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.orphan import OrphanListState
from maintainer.domain.plan import RuleHistory, Unenforced
from maintainer.domain.policy import PolicyProblem, RuleName
from maintainer.ports.store.tables import Pause
from maintainer.requests.inbox import find_inbox
from maintainer.steps.scan import scan
from tests.adapters.store.test_store_orphans import make_list
from tests.adapters.store.test_store_story import observe
from tests.samples import NOW
from tests.steps.world import World

HOUR = timedelta(hours=1)


def find(world: World) -> list[tuple[InboxKind, str]]:
    return [(entry.kind, entry.subject) for entry in find_inbox(world.ports)]


def only(world: World) -> InboxEntry:
    (entry,) = find_inbox(world.ports)
    return entry


def measured(world: World, *names: str) -> list[TableIdentifier]:
    tables = [world.put(name) for name in names]
    scan(world.ports)
    return tables


def test_a_healthy_fleet_needs_nobody() -> None:
    world = World()
    measured(world, "orders", "events")
    assert find(world) == []


def test_a_table_that_the_daemon_paused_needs_somebody_and_a_persons_pause_does_not() -> None:
    world = World()
    orders, events = measured(world, "orders", "events")
    world.store.set_pause(orders, Pause(BY_PROOF, NOW, "rows differ"))
    world.store.set_pause(events, Pause("person ann", NOW, "a migration"))
    assert only(world) == InboxEntry(InboxKind.PAUSED, str(orders), "rows differ", NOW, orders)


def test_unreadable_tables_and_catalogs_are_listed_with_their_reason() -> None:
    world = World()
    table = TableIdentifier("lake", ("sales",), "broken")
    world.store.record_fault(TableFault(table, FaultKind.METADATA_MISSING, "no metadata", NOW))
    world.store.record_catalog_faults(
        "lake", [CatalogFault("lake", (), "refused", NOW), CatalogFault("lake", ("a",), "no", NOW)]
    )
    assert find(world) == [
        (InboxKind.UNREADABLE, str(table)),
        (InboxKind.CATALOG, "lake"),
        (InboxKind.CATALOG, "lake"),
    ]
    assert [entry.sentence for entry in find_inbox(world.ports)] == [
        "no metadata",
        "namespace a: no",
        "refused",
    ]


def test_a_rule_that_failed_three_times_in_a_row_is_listed() -> None:
    world = World()
    (orders,) = measured(world, "orders")
    history = RuleHistory(
        RuleName.REWRITE_DATA_FILES, last_failure_at=NOW, last_failure_reason="conflict"
    )
    uuid = world.look(orders).table_uuid
    for failures in (2, 3):
        world.store._rule_histories[uuid, history.rule] = replace(
            history, consecutive_failures=failures
        )
        assert len(find(world)) == failures - 2
    entry = only(world)
    assert (entry.kind, entry.since) == (InboxKind.FAILING, NOW)
    assert entry.sentence == "rewrite_data_files failed 3 times in a row, now with conflict"


def test_what_keeps_spark_from_running_is_listed_once_however_many_tables_there_are() -> None:
    world = World()
    measured(world, "orders", "items", "customers")
    world.runner.broken = {"default": "Spark jars: jar x is missing"}
    world.ports = replace(world.ports, no_runner={"lake": "it has no counterpart"})
    assert [
        (entry.kind, entry.subject, entry.sentence)
        for entry in find_inbox(world.ports)
        if entry.kind is InboxKind.RUNNER
    ] == [
        (
            InboxKind.RUNNER,
            "catalog lake",
            "it has no counterpart; its tables are measured, and no job runs",
        ),
        (
            InboxKind.RUNNER,
            "pool default",
            "Spark jars: jar x is missing; its tables are measured, and no job runs",
        ),
    ]


def test_a_mistake_in_a_policy_is_listed_and_a_note_is_not() -> None:
    world = World()
    world.policies.problems = (
        PolicyProblem("cold.yaml:12", "rules.rewrite is not a rule"),
        PolicyProblem("polaris", "left out on purpose", is_note=True),
    )
    assert only(world) == InboxEntry(
        InboxKind.POLICY, "cold.yaml:12", "rules.rewrite is not a rule"
    )


def test_a_list_of_orphans_is_listed_while_it_waits_for_approval() -> None:
    world = World()
    waiting = make_list("m-1")
    world.store.add_orphan_list(waiting, [])
    entry = only(world)
    assert (entry.kind, entry.reference, entry.table) == (
        InboxKind.APPROVAL,
        "m-1",
        waiting.table,
    )
    assert "wait for approval" in entry.sentence
    rejected = replace(waiting, state=OrphanListState.REJECTED)
    assert world.store.update_orphan_list(rejected, waiting)
    assert find(world) == []


def test_a_table_with_two_names_is_one_entry() -> None:
    world = World()
    first, second = world.put("a"), world.put("b")
    same = replace(world.look(second), table_uuid=world.look(first).table_uuid)
    world.replace(same)
    scan(world.ports)
    entry = only(world)
    assert (entry.kind, entry.table) == (InboxKind.SHARED, first)
    assert f"registered as {second} too" in entry.sentence


def test_what_observe_mode_holds_back_is_one_entry_with_what_it_would_save() -> None:
    world = World()
    (orders,) = measured(world, "orders")
    record = world.store.table(orders)
    assert record is not None
    assert record.health is not None
    observe(world.store, orders, record.health.table_uuid, RuleName.REWRITE_DATA_FILES)
    assert only(world) == InboxEntry(
        InboxKind.OBSERVED,
        "observe mode",
        "1 table would be maintained if its policy were in mode enforce: about 9 data files fewer "
        "for 0.5 "
        "GB-hours",
    )
    (both,) = entries_of_observed(Unenforced(2, 9000, 1.25, is_whole=False))
    assert both.sentence == (
        "2 tables would be maintained if their policy were in mode enforce: at least 9,000 data "
        "files "
        "fewer for 1.2 GB-hours"
    )
