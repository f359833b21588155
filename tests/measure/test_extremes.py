from __future__ import annotations

import pytest

from maintainer.domain.inventory import Content
from maintainer.measure.health import measure
from maintainer.measure.impact import ImpactModel, estimate_impact
from tests.samples import inventory, manifest, predict_compaction, share

PARTITIONS = 100_000
FIVE_TERABYTES = 5 * 10**12


@pytest.mark.slow
def test_a_hundred_thousand_partitions_add_up_and_the_worst_comes_first() -> None:
    spread = [share([1000 * 1024**2], f"id={n}") for n in range(PARTITIONS - 1)]
    manifests = [manifest(f"m{n}", spread[n::20]) for n in range(20)]
    worst = manifest(
        "worst", [share([1024] * 50, "id=worst"), share([10], "id=worst", Content.POSITION_DELETES)]
    )
    health = measure(inventory((*manifests, worst)))
    assert len(health.partitions) == PARTITIONS
    assert (
        health.partitions[0].partition,
        health.partitions[0].small_files,
        health.partitions[0].delete_files,
    ) == ("id=worst", 50, 1)
    assert (health.data_files, health.data_bytes) == (
        PARTITIONS - 1 + 50,
        (PARTITIONS - 1) * 1000 * 1024**2 + 50 * 1024,
    )
    assert health.partition_skew is not None
    assert 1 < health.partition_skew < 1.001


def test_one_file_of_five_terabytes_is_a_large_file_and_nothing_to_fear() -> None:
    health = measure(
        inventory((manifest("m1", [share([FIVE_TERABYTES])], sizes=[FIVE_TERABYTES]),))
    )
    assert (health.data_bytes, health.average_file_size_bytes, health.small_files) == (
        FIVE_TERABYTES,
        FIVE_TERABYTES,
        0,
    )
    assert health.partitions[0].large_files == 1
    assert health.histogram[-1] == 1
    impact = estimate_impact(health, ImpactModel(), predict_compaction(health))
    assert impact is not None
    assert (impact.slowdown_low, impact.slowdown_high, impact.requests_at_target) == (
        1.0,
        1.0,
        impact.requests_per_scan,
    )
