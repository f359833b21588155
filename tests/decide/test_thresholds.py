from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.decide.thresholds import assess
from maintainer.domain.health import TableHealth
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import KIB
from tests.samples import NOW, health_of_partitions, with_history


def files_of(size: int, count: int = 20) -> TableHealth:
    return health_of_partitions({"a": [size] * count})


def test_every_metric_can_be_observed() -> None:
    health = with_history(files_of(40 * KIB), [timedelta(days=2), timedelta(days=1)])
    observed = {metric: metric.observe(health, NOW) for metric in Metric}
    assert observed == {
        Metric.AVERAGE_FILE_SIZE_BYTES: 40 * KIB,
        Metric.SMALL_FILE_COUNT: 20,
        Metric.SMALL_FILE_RATIO: 1.0,
        Metric.MANIFEST_COUNT: 1,
        Metric.SNAPSHOT_COUNT: 2,
        Metric.OLDEST_SNAPSHOT_AGE_SECONDS: 2 * 86400.0,
        Metric.POSITION_DELETE_FILE_COUNT: 0,
        Metric.EQUALITY_DELETE_FILE_COUNT: 0,
        Metric.DELETION_VECTOR_COUNT: 0,
        Metric.DELETE_RATIO: 0.0,
        Metric.DELETE_FILE_RATIO: 0.0,
        Metric.DANGLING_DELETE_FILE_COUNT: 0,
        Metric.MANIFEST_EXCESS: 0,
        Metric.LIVE_FILE_RATIO: None,
        Metric.METADATA_SIZE_BYTES: 4000,
    }


def test_the_share_of_deleted_records_is_unknown_without_records() -> None:
    half = replace(files_of(40 * KIB), delete_records=50, records=100)
    assert Metric.DELETE_RATIO.observe(half, NOW) == 0.5
    assert Metric.DELETE_RATIO.observe(replace(half, records=0), NOW) is None
    assert Metric.DELETE_RATIO.observe(replace(half, delete_records=None), NOW) is None


def test_thresholds_are_strict_in_both_directions_and_written_with_units() -> None:
    health = files_of(40 * KIB)
    ratio = Threshold(Metric.SMALL_FILE_RATIO, 0.5)
    rule = RewriteDataFilesRule(
        when=(
            Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, 40 * KIB),
            Threshold(Metric.SMALL_FILE_COUNT, 20),
            ratio,
        ),
    )
    assessment = assess(rule, health, NOW)
    assert assessment.unmet == (
        "average file size 40 KiB, threshold below 40 KiB",
        "small files 20, threshold above 20",
    )
    assert [finding.sentence for finding in assessment.findings] == [
        "share of small files 100%, threshold above 50%"
    ]
