"""What each policy's tables are like, summed up from the store."""

from __future__ import annotations

import pytest

from maintainer.domain.health import Band
from maintainer.domain.policy import PolicyLayer
from maintainer.domain.policy_version import PolicyStatus
from maintainer.ports.store.pages import Page
from maintainer.ports.store.tables import TableQuery, TableRecord
from maintainer.requests.policy_status import find_statuses
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from tests.steps.world import World, layer

SALES = "tables: lake.sales.*\nmode: enforce\n"


def statuses(world: World, *layers: PolicyLayer) -> list[PolicyStatus]:
    world.policies.layers = layers
    found = find_statuses(world.ports, layers)
    return [found[layer.name] for layer in layers]


def test_the_worst_band_the_mean_size_the_last_job_and_the_next_check() -> None:
    world = World()
    world.policies.layers = (layer(SALES, "sales"),)
    world.put("orders")
    world.put("rested", small_files=1)
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    [job] = world.store.unfinished_jobs()
    records = {record.table.name: record for record in world.store.tables(TableQuery()).items}
    sales, rested, hr = statuses(
        world,
        layer(SALES, "sales"),
        layer("tables: lake.sales.rested\n", "rested"),
        layer("tables: lake.hr.*\n", "hr"),
    )
    assert sales.tables == 2
    assert sales.last_job == job
    bands = [record.grade.band for record in records.values() if record.grade]
    assert sales.band == max(bands, key=list(Band).index) != rested.band
    healths = [record.health for record in records.values() if record.health]
    data_bytes = sum(health.data_bytes or 0 for health in healths)
    assert sales.average_file_size_bytes == data_bytes / sum(h.data_files or 0 for h in healths)
    checks = [record.next_plan_at for record in records.values() if record.next_plan_at]
    assert sales.next_check_at == min(checks)
    assert (rested.tables, rested.last_job) == (1, None)
    assert rested.next_check_at == records["rested"].next_plan_at is not None
    assert hr == PolicyStatus()


def test_a_dispute_is_a_problem_of_both_policies() -> None:
    first, second = statuses(
        World(), layer(SALES, "a.yaml"), layer("tables: lake.sales.*\nmode: observe\n", "b.yaml")
    )
    assert "b.yaml:2" in first.problems[0]
    assert second.problems[0].startswith("a.yaml:2: mode is enforce here and observe at b.yaml:2")


def test_without_policies_nothing_is_read() -> None:
    world = World()
    world.store.broken = "the disk is full"
    assert find_statuses(world.ports, ()) == {}


@pytest.mark.parametrize(
    ("patterns", "prefixes"),
    [
        (["lake.sales.*", "lake.sales.orders", "lake.hr.p*"], ("lake.hr.", "lake.sales.")),
        (["lake.*", "lake.sales.*"], ("lake.",)),
        (["lake.sales.*", "*.orders"], None),
        ([f"lake.team{number}.*" for number in range(101)], None),
    ],
)
def test_only_tables_that_may_be_named_are_read(
    monkeypatch: pytest.MonkeyPatch, patterns: list[str], prefixes: tuple[str, ...] | None
) -> None:
    world = World()
    asked: list[TableQuery] = []
    tables = world.store.tables

    def note(query: TableQuery) -> Page[TableRecord]:
        asked.append(query)
        return tables(query)

    monkeypatch.setattr(world.store, "tables", note)
    statuses(world, *(layer(f"tables: {text!r}\n", text) for text in patterns))
    assert [query.within for query in asked] == [prefixes]
