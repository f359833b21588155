"""Find the problems that need a person."""

from __future__ import annotations

from collections.abc import Iterable

from maintainer.decide import notices
from maintainer.decide.fleet_status import entries_of_statuses
from maintainer.decide.notices import REPEATED_FAILURES
from maintainer.domain.notice import InboxEntry
from maintainer.domain.status import TableStatus
from maintainer.ports import Ports

MAX_OF_KIND = 200  # entries; more are not listed
MAX_VERDICTS = 2000  # of observe mode; more are counted, but not summed up


def find_inbox(ports: Ports, statuses: Iterable[TableStatus] = ()) -> tuple[InboxEntry, ...]:
    """The entries by kind, the most urgent first, and within a kind by name.

    `statuses` are those of the tables, of which some need a person.
    """
    observed = notices.entries_of_observed(ports.store.unenforced(MAX_VERDICTS))
    found = [*find_problems(ports), *entries_of_statuses(statuses), *observed]
    return tuple(notices.sort_entries(found))


def find_problems(ports: Ports) -> list[InboxEntry]:
    """The entries in any order, without what is only observed."""
    store = ports.store
    failing = store.failing_rules(REPEATED_FAILURES, MAX_OF_KIND)
    return [
        *_find_pauses(ports),
        *map(notices.entry_of_fault, store.faulty_tables(MAX_OF_KIND)),
        *map(notices.entry_of_catalog, store.catalog_faults()),
        *(
            notices.entry_of_obstacle(f"pool {pool}", reason)
            for pool, reason in ports.runner.obstacles.items()
        ),
        *(
            notices.entry_of_obstacle(f"catalog {catalog}", reason)
            for catalog, reason in ports.no_runner.items()
        ),
        *(notices.entry_of_failures(table, history) for table, history in failing),
        *(
            notices.entry_of_problem(problem)
            for problem in ports.policies.current().problems
            if not problem.is_note
        ),
        *map(notices.entry_of_list, store.waiting_orphan_lists()),
        *notices.entries_of_names(store.shared_tables()),
    ]


def _find_pauses(ports: Ports) -> list[InboxEntry]:
    entries = (
        notices.entry_of_pause(table, pause.by, pause.reason, pause.at)
        for table, pause in ports.store.paused_tables().items()
    )
    return [entry for entry in entries if entry is not None]
