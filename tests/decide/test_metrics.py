"""A threshold names a figure that the procedure of its rule improves; each pair is tried."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.decide.rescue.state import predict_health
from maintainer.domain.file_sizes import DeletedFiles
from maintainer.domain.health import ManifestGroup, TableHealth
from maintainer.domain.inventory import ManifestContent
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.policy import Mode, Policy, Rule
from maintainer.domain.rules import RULES
from maintainer.domain.units import MIB
from tests.samples import NOW, health_of_partitions, with_history

# They follow from the number of snapshots, and are known only after the next measurement.
BY_SNAPSHOTS = {Metric.LIVE_FILE_RATIO, Metric.METADATA_SIZE_BYTES}
PAIRS = [(rule, metric) for rule in RULES.values() for metric in rule.metrics]


def rotten() -> TableHealth:
    """A table with every trouble; its files are rewritten for their sizes and their deletes."""
    health = health_of_partitions({f"hour={hour}": [2 * MIB] * 600 for hour in range(3)})
    deleted = DeletedFiles(600, 1200 * MIB, 2 * MIB, 2 * MIB, 0.5, 0.5, 1)
    partitions = tuple(
        replace(
            partition,
            delete_files=60,
            position_delete_files=60,
            position_delete_bytes=60_000,
            dangling_delete_files=60,
            deleted=(deleted,),
        )
        for partition in health.partitions
    )
    return replace(
        with_history(health, [timedelta(hours=1500 - i) for i in range(1400)]),
        partitions=partitions,
        records=100_000,
        delete_records=500,
        position_delete_files=180,
        equality_delete_files=180,
        deletion_vectors=180,
        dangling_delete_files=180,
        delete_file_ratio=3.0,
        manifests=900,
        manifest_excess=890,
        manifest_groups=(ManifestGroup(0, ManifestContent.DATA, 900, 2_400_000),),
        live_file_ratio=0.1,
        kept_data_files=1800,
        metadata_bytes=50 * MIB,
    )


@pytest.mark.parametrize(("rule", "metric"), PAIRS)
def test_the_procedure_of_a_rule_improves_the_figure_of_each_of_its_thresholds(
    rule: type[Rule], metric: Metric
) -> None:
    before = rotten()
    value = metric.observe(before, NOW)
    assert value is not None
    bound = value * (2 if metric.direction == "below" else 0.5)
    policy = Policy(mode=Mode.ENFORCE, rules=(rule(when=(Threshold(metric, bound),)),))
    (planned,) = decide(before, policy, Circumstances(NOW)).planned
    after = predict_health(before, planned, policy, NOW)
    if metric in BY_SNAPSHOTS:
        assert after.snapshots < before.snapshots
        return
    better = metric.observe(after, NOW)
    assert better is not None
    assert better > value if metric.direction == "below" else better < value
