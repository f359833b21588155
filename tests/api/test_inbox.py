from __future__ import annotations

from dataclasses import replace

from maintainer.domain.access import Role
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.ports.store.tables import Pause
from tests.api.nouns import NOW, ORDERS
from tests.api.people import let_in
from tests.api.serving import Client

URL = "/api/v1/inbox"


def trouble(client: Client) -> None:
    """A table paused by a proof, one that cannot be read, and a catalog that is away."""
    store = client.daemon.store
    store.set_pause(ORDERS, Pause(BY_PROOF, NOW, "rows differ"))
    broken = replace(ORDERS, namespace=("hr",), name="salaries")
    store.record_fault(TableFault(broken, FaultKind.METADATA_MISSING, "no metadata", NOW))
    store.record_catalog_faults("ice", [CatalogFault("ice", (), "connection refused", NOW)])


def test_the_inbox_lists_what_needs_a_person_the_most_pressing_first(client: Client) -> None:
    (mistake,) = client.get(URL).json()["items"]
    assert (mistake["kind"], mistake["table"], mistake["since"]) == ("policy", None, None)
    trouble(client)
    body = client.get(URL).json()
    assert [(item["kind"], item["subject"], item["table"]) for item in body["items"]] == [
        ("paused", "lake.sales.orders", "lake.sales.orders"),
        ("unreadable", "lake.hr.salaries", "lake.hr.salaries"),
        ("catalog", "ice", None),
        ("policy", mistake["subject"], None),
    ]
    assert body["items"][0]["sentence"] == "rows differ"

    shorter = client.get(f"{URL}?limit=1").json()
    assert (len(shorter["items"]), shorter["total"]) == (1, 4)


def test_a_person_finds_only_the_tables_that_they_may_see(client: Client) -> None:
    trouble(client)
    seller = let_in(client, "seller", Role.VIEWER, "lake.sales.")
    body = client.get(URL, seller).json()
    assert [item["subject"] for item in body["items"]] == ["lake.sales.orders"]
    assert body["total"] == 1

    everybody = let_in(client, "watch", Role.VIEWER)
    assert client.get(URL, everybody).json()["total"] == 4
