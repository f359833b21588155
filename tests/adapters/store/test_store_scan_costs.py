from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.scan_cost import MAX_SCAN_COSTS, ScanCost
from maintainer.ports.store import Store
from tests.adapters.store.values import NOW

COST = ScanCost(
    catalog="lake",
    started_at=NOW,
    seconds=1.5,
    measured=3,
    unchanged=97,
    faults=1,
    manifests_read=12,
    manifests_reused=400,
    bytes_read=96_000,
    is_complete=True,
)


def test_the_last_scans_of_each_catalog_are_kept_newest_first(store: Store) -> None:
    assert store.scan_costs() == {}
    every = [
        replace(COST, started_at=NOW + timedelta(minutes=n)) for n in range(MAX_SCAN_COSTS + 2)
    ]
    for cost in every:
        store.record_scan_cost(cost)
    other = replace(COST, catalog="archive", is_complete=False)
    store.record_scan_cost(other)
    assert store.scan_costs() == {
        "archive": (other,),
        "lake": tuple(reversed(every))[:MAX_SCAN_COSTS],
    }
