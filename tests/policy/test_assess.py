from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.health import Band, Disagreement, ManifestGroup, TableHealth
from maintainer.domain.inventory import ManifestContent, Unreadable
from maintainer.domain.policy import Metric, Policy, Rule, RuleName, Threshold
from maintainer.domain.units import KIB, MIB
from maintainer.health.measure import measure
from maintainer.policy.assess import DISAGREEMENT, MAX_DISAGREEMENTS, assess, grade, observe
from tests.samples import NOW, health_of_partitions, inventory, with_history

POLICY = Policy()


def files_of(size: int, count: int = 20) -> TableHealth:
    return health_of_partitions({"a": [size] * count})


@pytest.mark.parametrize(
    ("size", "band"),
    [(40 * KIB, Band.CRITICAL), (4 * MIB, Band.DEGRADED), (11 * MIB, Band.DEGRADED), (31 * MIB, Band.DEGRADED), (500 * MIB, Band.HEALTHY)],
)
def test_bands_follow_the_published_bounds_of_the_average_file_size(size: int, band: Band) -> None:
    assert grade(files_of(size), POLICY, NOW).band is band


def test_the_average_alone_is_watched_below_32_mib() -> None:
    mixed = health_of_partitions({"a": [500 * MIB] * 3, "b": [1 * MIB] * 60}, target_bytes=512 * MIB)
    findings = {finding.metric: finding.severity for finding in grade(mixed, POLICY, NOW).findings}
    assert findings[Metric.AVERAGE_FILE_SIZE_BYTES] is Band.WATCH


def test_small_files_that_nothing_can_change_are_noted_but_the_table_is_healthy() -> None:
    graded = grade(health_of_partitions({f"d={d}": [1000] * 4 for d in range(30)}), POLICY, NOW)
    assert graded.band is Band.HEALTHY
    assert graded.findings
    assert not any(finding.is_actionable for finding in graded.findings)
    assert graded.reason == "Nothing to gain: average file size 1000 B is below 4 MiB; a rewrite would not reduce the files"


def test_a_gain_of_a_few_files_in_many_is_no_alarm() -> None:
    partitions = {f"d={d}": [1000] * 4 for d in range(100)} | {"hot": [1000] * 6}
    assert grade(health_of_partitions(partitions), POLICY, NOW).band is Band.WATCH


def test_worst_findings_come_first_and_give_the_reason() -> None:
    graded = grade(files_of(40 * KIB), POLICY, NOW)
    assert graded.findings[0].severity is Band.CRITICAL
    assert graded.reason == "average file size 40 KiB is below 4 MiB; a rewrite would turn 20 files into 1"


def test_manifests_count_when_they_exceed_twice_what_is_needed() -> None:
    base = files_of(500 * MIB)
    many = replace(base, manifests=600, manifest_groups=(ManifestGroup(0, ManifestContent.DATA, 600, 600 * 8 * KIB),))
    assert grade(many, POLICY, NOW).band is Band.DEGRADED
    needed = replace(base, manifests=600, manifest_groups=(ManifestGroup(0, ManifestContent.DATA, 600, 600 * 8 * MIB),))
    assert grade(needed, POLICY, NOW).band is Band.HEALTHY


def test_snapshots_count_when_they_are_old_enough_to_expire() -> None:
    old = with_history(files_of(500 * MIB), [timedelta(days=9)] * 150 + [timedelta(0)] * 10)
    assert grade(old, POLICY, NOW).band is Band.WATCH
    young = with_history(files_of(500 * MIB), [timedelta(days=1)] * 150)
    assert grade(young, POLICY, NOW).band is Band.HEALTHY
    own = Policy(rules=(Rule(RuleName.EXPIRE_SNAPSHOTS, max_age=timedelta(hours=24), keep=5),))
    assert grade(with_history(files_of(500 * MIB), [timedelta(days=2)] * 150), own, NOW).band is Band.WATCH


def test_position_deletes_count_by_their_number() -> None:
    assert grade(replace(files_of(500 * MIB), position_delete_files=101), POLICY, NOW).band is Band.WATCH
    assert grade(replace(files_of(500 * MIB), position_delete_files=None), POLICY, NOW).band is Band.HEALTHY


def test_unreadable_metadata_is_critical() -> None:
    broken = replace(measure(inventory()), unreadable=(Unreadable("m1.avro", "truncated"),))
    graded = grade(broken, POLICY, NOW)
    assert graded.band is Band.CRITICAL
    assert graded.reason == "1 metadata files cannot be read, the first is m1.avro: truncated"


def test_an_empty_and_a_sound_table_say_so() -> None:
    assert grade(measure(inventory(snapshots=())), POLICY, NOW).reason == "The table is empty."
    assert grade(files_of(500 * MIB), POLICY, NOW).reason == "No bound is exceeded."


def test_every_metric_can_be_observed() -> None:
    health = with_history(files_of(40 * KIB), [timedelta(days=2), timedelta(days=1)])
    observed = {metric: observe(metric, health, NOW) for metric in Metric}
    assert observed == {
        Metric.AVERAGE_FILE_SIZE_BYTES: 40 * KIB,
        Metric.SMALL_FILE_COUNT: 20,
        Metric.SMALL_FILE_RATIO: 1.0,
        Metric.MANIFEST_COUNT: 1,
        Metric.SNAPSHOT_COUNT: 2,
        Metric.OLDEST_SNAPSHOT_AGE_SECONDS: 2 * 86400.0,
        Metric.POSITION_DELETE_FILE_COUNT: 0,
    }


def test_thresholds_are_strict_in_both_directions_and_written_with_units() -> None:
    health = files_of(40 * KIB)
    ratio = Threshold(Metric.SMALL_FILE_RATIO, "above", 0.5)
    rule = Rule(
        RuleName.REWRITE_DATA_FILES, (Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, "below", 40 * KIB), Threshold(Metric.SMALL_FILE_COUNT, "above", 20), ratio)
    )
    assessment = assess(rule, health, NOW)
    assert assessment.unmet == ("average file size 40 KiB, threshold below 40 KiB", "small files 20, threshold above 20")
    assert [finding.sentence for finding in assessment.findings] == ["share of small files 100%, threshold above 50%"]


def test_a_disagreement_is_a_finding_that_worsens_no_band() -> None:
    found = tuple(Disagreement("data files", "snapshot summary", n, 20) for n in range(9))
    graded = grade(replace(files_of(500 * MIB), disagreements=found), POLICY, NOW)
    assert graded.band is Band.HEALTHY
    assert len(graded.findings) == MAX_DISAGREEMENTS
    assert graded.findings[0].metric == DISAGREEMENT
    assert graded.findings[0].sentence == "the snapshot summary says 0 data files, the manifests' entries add up to 20"
    assert graded.reason == "No bound is exceeded."
