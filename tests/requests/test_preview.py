"""What other policies would change, in a simulated world."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import TablePreview
from maintainer.domain.policy import RuleName
from maintainer.policy.versions import find_affected, with_candidate
from maintainer.requests.preview import preview_tables
from maintainer.steps.scan import scan
from tests.steps.world import World, layer

HOLD = "tables: lake.sales.*\nmode: observe\n"


def previews(world: World, text: str, *, is_fresh: bool = False) -> list[TablePreview]:
    candidate = with_candidate(world.policies.current(), layer(text, "candidate.yaml"))
    tables = find_affected(world.policies.current(), candidate, world.store.table_names())
    return list(preview_tables(world.ports, candidate, tables, is_fresh=is_fresh))


def test_a_candidate_is_previewed_from_stored_health_without_asking_a_catalog() -> None:
    world = World()
    table = world.put("orders")
    world.put("rested", small_files=1)
    scan(world.ports)
    world.ports = replace(world.ports, catalogs={})  # there is none to ask
    before = world.store.table(table)
    found = {one.table.name: one for one in previews(world, HOLD)}
    (change,) = found["orders"].changes
    assert (change.rule, change.before, change.after) == (
        RuleName.REWRITE_DATA_FILES,
        "planned",
        "observe_only",
    )
    assert found["rested"].changes == ()
    assert world.store.table(table) == before, "nothing is stored"


def test_a_table_without_health_is_reported_as_unmeasured() -> None:
    world = World()
    (preview,) = preview_tables(
        world.ports, world.policies.current(), [TableIdentifier.parse("lake.sales.new")]
    )
    assert preview == TablePreview(
        TableIdentifier.parse("lake.sales.new"), unmeasured="it was not scanned yet"
    )


def test_another_target_needs_a_fresh_look() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    smaller = "tables: '*'\ntarget_file_size: 1MiB\n"
    (stored,) = previews(world, smaller)
    assert [(change.before, change.after) for change in stored.changes] == [
        ("planned", "not_measured")
    ]
    assert "measured with a target file size of" in stored.changes[0].why_after
    (fresh,) = previews(world, smaller, is_fresh=True)
    assert [(change.before, change.after) for change in fresh.changes] == [
        ("planned", "planned")
    ], "it aims at another size"


def test_a_table_that_cannot_be_read_again_is_reported_as_unmeasured() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    gone = TableIdentifier.parse("lake.sales.gone")
    (preview,) = preview_tables(world.ports, world.policies.current(), [gone], is_fresh=True)
    assert preview.unmeasured.startswith("dropped: ")
