from __future__ import annotations

from datetime import timedelta

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import RuleName
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.samples import NOW, manifest, share
from tests.steps.world import ENFORCE, World, layer

HOUR = timedelta(hours=1)


def look(world: World) -> None:
    """One scan and one plan, and an hour passes."""
    scan(world.ports)
    plan(world.ports)
    world.clock.advance(HOUR)


def story(world: World, table: TableIdentifier) -> list[tuple[str, object, object]]:
    """What was decided on compaction, oldest first: the code, and from which to which hour."""
    reported = [
        verdict
        for verdict in world.store.verdicts(table).items
        if verdict.rule is RuleName.REWRITE_DATA_FILES
    ]
    return [
        (
            verdict.code,
            (verdict.at - NOW) // HOUR,
            None if verdict.until is None else (verdict.until - NOW) // HOUR,
        )
        for verdict in reversed(reported)
    ]


def grow(world: World, table: TableIdentifier, files: int, size: int = 1000) -> None:
    world.commit(
        table,
        manifests=(
            manifest(f"m-{files}-{size}", [share([size] * files, "day=1")], sizes=[size] * files),
        ),
    )


def test_more_of_the_same_is_no_new_verdict() -> None:
    world = World()
    table = world.put("orders", small_files=20)
    for files in (20, 30, 40):
        grow(world, table, files)
        look(world)
    assert story(world, table) == [("planned", 0, None)]
    reported = next(
        verdict
        for verdict in world.store.verdicts(table).items
        if verdict.rule is RuleName.REWRITE_DATA_FILES
    )
    assert reported.sentence.endswith("20 files in 1 group would become 1.")


def test_the_activity_tells_what_changed_and_when() -> None:
    world = World()
    table = world.put("orders", small_files=3)
    look(world)
    grow(world, table, 40)
    look(world)
    world.policies.layers = (layer(ENFORCE.replace("enforce", "observe")),)
    look(world)
    grow(world, table, 1, 200 * 1024**2)
    look(world)
    assert story(world, table) == [
        ("nothing_to_gain", 0, 1),
        ("planned", 1, 2),
        ("observe_only", 2, 3),
        ("below_threshold", 3, None),
    ]


def test_a_rule_that_is_switched_off_is_reported() -> None:
    world = World()
    table = world.put("orders", small_files=40)
    look(world)
    world.policies.layers = (
        layer(
            ENFORCE.replace(
                "rewrite_data_files: {when: {average_file_size_below: 32MiB}}",
                "rewrite_data_files: {enabled: false}",
            )
        ),
    )
    look(world)
    assert story(world, table) == [("planned", 0, 1), ("disabled", 1, None)]
