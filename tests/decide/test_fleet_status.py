"""The status of the fleet: one sentence, the tables by state, and what needs a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.cli.commands import PANELS, load_command
from maintainer.decide.fleet_status import find_fleet_status
from maintainer.decide.notices import command_of
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.plan import Unenforced
from maintainer.domain.status import FleetStatus, Need, TableState, TableStatus
from tests.samples import NOW

SECONDS, MINUTE, DAY = timedelta(seconds=20), timedelta(minutes=1), timedelta(days=1)
POLICY = InboxEntry(InboxKind.POLICY, "policies/a.yaml:3", "no such rule")
MAINTAINED, OBSERVED = TableState.BEING_MAINTAINED, TableState.OBSERVED


def table(number: int) -> TableIdentifier:
    return TableIdentifier("lake", ("sales",), f"t{number}")


def fleet(*states: TableState, band: Band = Band.HEALTHY, **more: object) -> list[TableStatus]:
    made = [TableStatus(table(at), one, "Why.", band=band) for at, one in enumerate(states)]
    return [replace(one, **more) for one in made]  # type: ignore[arg-type]


def find(
    statuses: Sequence[TableStatus],
    problems: Sequence[InboxEntry] = (),
) -> FleetStatus:
    return find_fleet_status(statuses, problems, NOW - SECONDS, NOW)


def say(statuses: Sequence[TableStatus], problems: Sequence[InboxEntry] = ()) -> str:
    return find(statuses, problems).sentence


def test_a_fleet_without_a_problem_is_well() -> None:
    found = find(fleet(TableState.HEALTHY, TableState.SMALL_BY_NATURE, TableState.DUE))
    assert found.sentence == "All well: 3 tables, last scan 20 s ago."
    assert (found.tables, found.needs, found.last_scan_at) == (3, (), NOW - SECONDS)
    assert list(found.states) == list(TableState)
    assert {state for state, number in found.states.items() if number == 1} == {
        TableState.HEALTHY,
        TableState.SMALL_BY_NATURE,
        TableState.DUE,
    }


def test_the_states_of_all_tables_add_up_to_their_number() -> None:
    found = find(fleet(*TableState, *TableState))
    assert sum(found.states.values()) == found.tables == 2 * len(TableState)


def test_an_empty_fleet_says_that_its_scan_found_no_table() -> None:
    assert say([]) == "No table was found: 0 tables, last scan 20 s ago."


@pytest.mark.parametrize(
    ("tables", "problems", "sentence"),
    [
        (0, [], "No scan has finished yet: 0 tables are known."),
        (1, [], "No scan has finished yet: 1 table is known."),
        (2, [POLICY], "No scan has finished yet: 2 tables are known, 1 problem needs a person."),
    ],
)
def test_nothing_is_well_before_the_first_scan(
    tables: int, problems: list[InboxEntry], sentence: str
) -> None:
    statuses = fleet(*[TableState.HEALTHY] * tables)
    found = find_fleet_status(statuses, problems, None, NOW)
    assert (found.sentence, found.is_well) == (sentence, False)
    due = find_fleet_status(fleet(TableState.DUE, band=Band.CRITICAL), (), None, NOW)
    assert due.sentence == "1 table is critical: it is due. No scan has finished yet."


def test_a_fleet_is_well_while_nothing_needs_a_person() -> None:
    assert find(fleet(TableState.DUE, band=Band.CRITICAL)).is_well
    assert not find(fleet(TableState.HEALTHY), problems=[POLICY]).is_well


def test_a_scan_in_the_future_of_this_clock_was_just_now() -> None:
    found = find_fleet_status(fleet(TableState.HEALTHY), (), NOW + MINUTE, NOW)
    assert found.sentence == "All well: 1 table, last scan 0 s ago."


def test_a_fleet_with_problems_alone_is_not_well() -> None:
    assert say(fleet(TableState.HEALTHY), [POLICY]) == (
        "No table is degraded or critical, but 1 problem needs a person: 1 table, last scan 20 s "
        "ago."
    )
    assert "but 2 problems need a person" in say(fleet(TableState.HEALTHY), [POLICY, POLICY])


def test_critical_tables_are_counted_by_what_happens_to_them() -> None:
    running = fleet(*[MAINTAINED] * 4, band=Band.CRITICAL, until=NOW + MINUTE)
    running[2] = replace(running[2], until=NOW + 5 * MINUTE)
    observed = fleet(OBSERVED, band=Band.CRITICAL)
    assert say([*running, *observed]) == (
        "5 tables are critical: 4 are being maintained, done about 12:05 UTC; 1 is only observed. "
        "Last scan 20 s ago."
    )


@pytest.mark.parametrize("until", [None, NOW - MINUTE])
def test_no_end_is_named_while_the_end_of_one_job_is_unknown(until: object) -> None:
    running = fleet(MAINTAINED, MAINTAINED, band=Band.CRITICAL, until=NOW + MINUTE)
    running[0] = replace(running[0], until=until)  # type: ignore[arg-type]
    assert say(running) == ("2 tables are critical: 2 are being maintained. Last scan 20 s ago.")


def test_a_wait_names_the_earliest_start_with_its_date_if_that_is_another_day() -> None:
    waiting = fleet(TableState.WAITING, TableState.WAITING, band=Band.DEGRADED)
    waiting[0] = replace(waiting[0], until=NOW + DAY)
    assert "2 wait, until 2026-03-05 12:00 UTC at the earliest." in say(waiting)
    assert "2 tables are degraded: 2 wait. " in say([replace(one, until=None) for one in waiting])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (TableState.DUE, "it is due"),
        (TableState.WAITING, "it waits"),
        (TableState.PAUSED, "it is paused"),
        (TableState.OBSERVED, "it is only observed"),
        (TableState.NOT_COVERED, "it has no policy"),
    ],
)
def test_one_critical_table_is_described_by_its_state(state: TableState, words: str) -> None:
    assert say(fleet(state, band=Band.CRITICAL)) == (
        f"1 table is critical: {words}. Last scan 20 s ago."
    )


def test_unreadable_and_damaged_tables_come_first_and_are_not_counted_twice() -> None:
    broken = fleet(
        TableState.UNREADABLE, TableState.DAMAGED, TableState.DAMAGED, band=Band.CRITICAL
    )
    due = fleet(TableState.DUE, band=Band.CRITICAL)
    assert say([*broken, *due]) == (
        "1 table cannot be read. 2 tables are damaged. 1 table is critical: it is due. Last scan "
        "20 s ago."
    )
    assert say(broken[1:2]).startswith("1 table is damaged. ")


def test_what_needs_a_person_is_the_inbox_with_damage_and_with_refused_compactions() -> None:
    damaged, left, healthy = fleet(
        TableState.DAMAGED, TableState.WAITING, TableState.HEALTHY, since=NOW
    )
    found = find(
        [replace(left, needs_person=True), healthy, replace(damaged, needs_person=True)],
        problems=[POLICY],
    )
    assert found.needs == (
        Need(
            InboxEntry(InboxKind.DAMAGED, "lake.sales.t0", "Why.", NOW, table(0)),
            "maintainer why lake.sales.t0",
        ),
        Need(
            InboxEntry(InboxKind.UNMAINTAINED, "lake.sales.t1", "Why.", NOW, table(1)),
            "maintainer why lake.sales.t1",
        ),
        Need(POLICY, "maintainer policies check"),
    )
    assert find([damaged, left, healthy]).needs == ()
    # A failed proof and an unreadable table are in the inbox already.
    assert find(fleet(TableState.PAUSED, TableState.UNREADABLE, needs_person=True)).needs == ()


def test_tables_that_are_only_observed_are_one_need_with_their_sums_and_the_names_of_a_few() -> (
    None
):
    gain = Unenforced(1, 8, 0.5)
    few = fleet(OBSERVED, TableState.NOT_COVERED, OBSERVED, unenforced=gain)
    (need,) = find([*few, *fleet(TableState.HEALTHY)]).needs
    assert need.entry.kind is InboxKind.OBSERVED
    assert need.entry.sentence == (
        "3 tables would be maintained if their policy were in mode enforce: about 24 data files "
        "fewer for 1.5 GB-hours"
    )
    assert need.command == "maintainer plan lake.sales.t0 lake.sales.t1 lake.sales.t2"
    (many,) = find(fleet(*[OBSERVED] * 4, unenforced=gain)).needs
    assert many.command == "maintainer plan"


@pytest.mark.parametrize("kind", list(InboxKind))
@pytest.mark.parametrize("reference", ["", "m-1"])
def test_the_command_of_a_problem_exists_and_names_its_subject(
    kind: InboxKind, reference: str
) -> None:
    command = command_of(InboxEntry(kind, "lake.`a b`.t", "Why.", reference=reference))
    program, name, *rest = command.split()
    places = {name: entry.place for entries in PANELS.values() for name, entry in entries.items()}
    assert program == "maintainer"
    found = load_command(name, places[name])
    if hasattr(found, "commands"):
        assert rest[0] in found.commands
    assert ("'lake.`a b`.t'" in command) is (
        kind not in {InboxKind.CATALOG, InboxKind.RUNNER, InboxKind.POLICY, InboxKind.OBSERVED}
        and not (kind in {InboxKind.FAILING, InboxKind.PAUSED} and reference)
    )
    if reference and kind in {InboxKind.FAILING, InboxKind.PAUSED, InboxKind.APPROVAL}:
        assert command.endswith(f" {reference}")
