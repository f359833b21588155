from __future__ import annotations

from datetime import timedelta

from maintainer.domain.health import Band
from maintainer.domain.units import MIB
from maintainer.steps.scan import scan
from tests.samples import manifest, share
from tests.steps.world import World


def test_a_band_is_remembered_from_scan_to_scan() -> None:
    world = World()
    table = world.put("orders", small_files=20)
    bands = []
    for size in (3 * MIB, int(4.2 * MIB), 5 * MIB, int(4.2 * MIB)):
        world.commit(
            table,
            manifests=(
                manifest(
                    f"m-{world.clock.now():%H}", [share([size] * 20, "day=1")], sizes=[size] * 20
                ),
            ),
        )
        scan(world.ports)
        record = world.store.table(table)
        assert record is not None
        assert record.grade is not None
        bands.append((record.grade.band, record.grade.came_from, record.grade.entered_at))
        world.clock.advance(timedelta(hours=1))
    first, third = (world.clock.now() - timedelta(hours=hours) for hours in (4, 2))
    assert bands == [
        (Band.CRITICAL, None, first),
        (Band.CRITICAL, None, first),
        (Band.DEGRADED, Band.CRITICAL, third),
        (Band.DEGRADED, Band.CRITICAL, third),
    ]
