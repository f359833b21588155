from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.decide.grading.bands import DISAGREEMENT, MAX_DISAGREEMENTS, NAMES, grade
from maintainer.decide.grading.findings import DELETE_RATIO
from maintainer.domain.health import Band, Disagreement, Grade, ManifestGroup, TableHealth
from maintainer.domain.identifier import Registration, TableIdentifier
from maintainer.domain.inventory import ManifestContent, Unreadable
from maintainer.domain.metric import Metric
from maintainer.domain.policy import Policy
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.domain.units import KIB, MIB
from maintainer.measure.health import measure
from tests.examples import examples
from tests.samples import NOW, health_of_partitions, inventory, with_history

POLICY = Policy()
HOUR = timedelta(hours=1)
ORDER = tuple(Band)


def files_of(size: int, count: int = 20) -> TableHealth:
    return health_of_partitions({"a": [size] * count})


@pytest.mark.parametrize(
    ("size", "band"),
    [
        (40 * KIB, Band.CRITICAL),
        (4 * MIB, Band.DEGRADED),
        (11 * MIB, Band.DEGRADED),
        (31 * MIB, Band.DEGRADED),
        (500 * MIB, Band.HEALTHY),
    ],
)
def test_bands_follow_the_published_bounds_of_the_average_file_size(size: int, band: Band) -> None:
    assert grade(files_of(size), POLICY, NOW).band is band


def test_the_average_alone_is_watched_below_32_mib() -> None:
    mixed = health_of_partitions(
        {"a": [500 * MIB] * 3, "b": [1 * MIB] * 60}, target_bytes=512 * MIB
    )
    findings = {finding.metric: finding.severity for finding in grade(mixed, POLICY, NOW).findings}
    assert findings[Metric.AVERAGE_FILE_SIZE_BYTES] is Band.WATCH


def test_small_files_that_nothing_can_change_are_noted_but_the_table_is_healthy() -> None:
    graded = grade(health_of_partitions({f"d={d}": [1000] * 4 for d in range(30)}), POLICY, NOW)
    assert graded.band is Band.HEALTHY
    assert graded.findings
    assert not any(finding.is_actionable for finding in graded.findings)
    assert graded.reason == (
        "Nothing to gain: average file size 1000 B is below 4 MiB; a rewrite would not "
        "reduce the files"
    )


def test_a_single_file_is_no_share_of_small_files() -> None:
    graded = grade(files_of(MIB, 1), POLICY, NOW)
    assert [finding.metric for finding in graded.findings] == [Metric.AVERAGE_FILE_SIZE_BYTES]
    assert graded.band is Band.HEALTHY


def test_a_gain_of_a_few_files_in_many_is_no_alarm() -> None:
    partitions = {f"d={d}": [1000] * 4 for d in range(100)} | {"hot": [1000] * 6}
    assert grade(health_of_partitions(partitions), POLICY, NOW).band is Band.WATCH


def test_worst_findings_come_first_and_give_the_reason() -> None:
    graded = grade(files_of(40 * KIB), POLICY, NOW)
    assert graded.findings[0].severity is Band.CRITICAL
    assert (
        graded.reason
        == "average file size 40 KiB is below 4 MiB; a rewrite would turn 20 files into 1"
    )


def with_manifests(*groups: ManifestGroup) -> TableHealth:
    return replace(
        files_of(500 * MIB), manifests=sum(group.count for group in groups), manifest_groups=groups
    )


@pytest.mark.parametrize(
    ("count", "band"),
    [(99, Band.HEALTHY), (100, Band.WATCH), (499, Band.WATCH), (500, Band.DEGRADED)],
)
def test_manifests_count_from_a_hundred_of_one_spec_and_content(count: int, band: Band) -> None:
    graded = grade(
        with_manifests(ManifestGroup(0, ManifestContent.DATA, count, count * 8 * KIB)), POLICY, NOW
    )
    assert graded.band is band
    assert band is Band.HEALTHY or graded.reason.startswith(
        f"{count} data manifests of spec 0, limit"
    )


def test_manifests_that_are_needed_are_noted_but_the_table_is_healthy() -> None:
    graded = grade(
        with_manifests(ManifestGroup(0, ManifestContent.DATA, 600, 600 * 8 * MIB, ideal=600)),
        POLICY,
        NOW,
    )
    assert graded.band is Band.HEALTHY
    assert graded.reason == (
        "Nothing to gain: 600 manifests, limit 500; no partition spec has that many and at least "
        "2 times the manifests that it needs"
    )


def test_manifests_of_several_specs_are_not_added_up() -> None:
    each = [
        ManifestGroup(spec, content, 60, 60 * 8 * KIB)
        for spec in (0, 1)
        for content in ManifestContent
    ]
    assert grade(with_manifests(*each), POLICY, NOW).band is Band.HEALTHY
    assert grade(
        with_manifests(*each, ManifestGroup(7, ManifestContent.DELETES, 120, 8 * KIB)), POLICY, NOW
    ).reason == ("120 deletes manifests of spec 7, limit 100; could be 1")


def test_snapshots_count_when_they_are_old_enough_to_expire() -> None:
    old = with_history(files_of(500 * MIB), [timedelta(days=9)] * 150 + [timedelta(0)] * 10)
    assert grade(old, POLICY, NOW).band is Band.WATCH
    young = with_history(files_of(500 * MIB), [timedelta(days=1)] * 150)
    assert grade(young, POLICY, NOW).band is Band.HEALTHY
    own = Policy(rules=(ExpireSnapshotsRule(max_age=timedelta(hours=24), keep=5),))
    assert (
        grade(with_history(files_of(500 * MIB), [timedelta(days=2)] * 150), own, NOW).band
        is Band.WATCH
    )


def test_position_deletes_count_by_their_number() -> None:
    assert (
        grade(replace(files_of(500 * MIB), position_delete_files=100), POLICY, NOW).band
        is Band.WATCH
    )
    assert (
        grade(replace(files_of(500 * MIB), position_delete_files=500), POLICY, NOW).band
        is Band.DEGRADED
    )
    assert (
        grade(replace(files_of(500 * MIB), position_delete_files=99), POLICY, NOW).band
        is Band.HEALTHY
    )
    assert (
        grade(replace(files_of(500 * MIB), position_delete_files=None), POLICY, NOW).band
        is Band.HEALTHY
    )


@pytest.mark.parametrize(
    ("dangling", "band"),
    [
        (None, Band.HEALTHY),
        (9, Band.HEALTHY),
        (10, Band.WATCH),
        (30, Band.WATCH),
        (500, Band.DEGRADED),
    ],
)
def test_position_deletes_that_apply_to_nothing_count_from_ten(
    dangling: int | None, band: Band
) -> None:
    health = replace(
        health_of_partitions({"day=1": [500 * MIB]}),
        position_delete_files=30,
        dangling_delete_files=dangling,
    )
    found = grade(health, Policy(), NOW)
    assert found.band is band
    if dangling == 30:
        assert (
            found.reason
            == "30 of 30 position delete files no longer apply to a data file, limit 10"
        )


def test_unreadable_metadata_is_critical() -> None:
    broken = replace(measure(inventory()), unreadable=(Unreadable("m1.avro", "truncated"),))
    graded = grade(broken, POLICY, NOW)
    assert graded.band is Band.CRITICAL
    assert graded.reason == "1 metadata files cannot be read, the first is m1.avro: truncated"


def test_an_empty_and_a_sound_table_say_so() -> None:
    assert grade(measure(inventory(snapshots=())), POLICY, NOW).reason == "The table is empty."
    assert grade(files_of(500 * MIB), POLICY, NOW).reason == "No limit is exceeded."


def test_a_disagreement_is_a_finding_that_worsens_no_band() -> None:
    found = tuple(Disagreement("data files", "snapshot summary", n, 20) for n in range(9))
    graded = grade(replace(files_of(500 * MIB), disagreements=found), POLICY, NOW)
    assert graded.band is Band.HEALTHY
    assert len(graded.findings) == MAX_DISAGREEMENTS
    assert graded.findings[0].metric == DISAGREEMENT
    assert (
        graded.findings[0].sentence
        == "the snapshot summary says 0 data files, the manifests' entries add up to 20"
    )
    assert graded.reason == "No limit is exceeded."


def with_deletes(deleted: int | None, vectors: int = 0, equality: int = 0) -> TableHealth:
    return replace(
        files_of(500 * MIB),
        records=1000,
        delete_records=deleted,
        deletion_vectors=vectors,
        equality_delete_files=equality,
    )


@pytest.mark.parametrize(
    ("deleted", "band"), [(299, Band.HEALTHY), (300, Band.WATCH), (None, Band.HEALTHY)]
)
def test_deletes_count_from_three_tenths_of_the_records(deleted: int | None, band: Band) -> None:
    assert grade(with_deletes(deleted, vectors=3), POLICY, NOW).band is band


def test_equality_deletes_alone_are_noted_because_no_threshold_of_a_rewrite_sees_them() -> None:
    graded = grade(with_deletes(500, equality=9), POLICY, NOW)
    assert graded.band is Band.HEALTHY
    assert graded.findings[0].metric == DELETE_RATIO
    assert graded.reason == (
        "Nothing to gain: 500 deletes for 1,000 records (50%, limit 30%); equality deletes, "
        "which no threshold of a rewrite counts"
    )


# -- hysteresis


def after(band_of: TableHealth, health: TableHealth) -> Grade:
    """The grade of a table that was graded before."""
    return grade(health, POLICY, NOW + HOUR, grade(band_of, POLICY, NOW))


def test_a_band_is_left_only_with_a_margin() -> None:
    before = files_of(31 * MIB)
    near = after(before, files_of(33 * MIB))
    assert near.findings[0].sentence.startswith("20 of 20 files are small")
    average = next(
        finding for finding in near.findings if finding.metric == Metric.AVERAGE_FILE_SIZE_BYTES
    )
    assert average.sentence == (
        "average file size 33 MiB is not yet 10% better than 32 MiB; a rewrite would turn 20 "
        "files into 2"
    )
    clear = {finding.metric for finding in after(before, files_of(36 * MIB)).findings}
    assert Metric.AVERAGE_FILE_SIZE_BYTES not in clear
    never_there = {finding.metric for finding in grade(files_of(33 * MIB), POLICY, NOW).findings}
    assert Metric.AVERAGE_FILE_SIZE_BYTES not in never_there


@pytest.mark.parametrize(
    ("size", "band"),
    [
        (int(4.1 * MIB), Band.CRITICAL),
        (int(4.39 * MIB), Band.CRITICAL),
        (int(4.5 * MIB), Band.DEGRADED),
        (3 * MIB, Band.CRITICAL),
    ],
)
def test_each_bound_has_a_margin_of_its_own(size: int, band: Band) -> None:
    assert after(files_of(3 * MIB), files_of(size)).band is band


@pytest.mark.parametrize(
    ("count", "band"),
    [(460, Band.DEGRADED), (450, Band.WATCH), (91, Band.WATCH), (90, Band.HEALTHY)],
)
def test_counts_have_the_margin_too(count: int, band: Band) -> None:
    sound = files_of(500 * MIB)
    assert (
        after(
            replace(sound, position_delete_files=500), replace(sound, position_delete_files=count)
        ).band
        is band
    )
    group = ManifestGroup(0, ManifestContent.DATA, 500, 8 * KIB)
    assert after(with_manifests(group), with_manifests(replace(group, count=count))).band is band


def test_nothing_to_gain_leaves_a_band_at_once() -> None:
    small = {f"d={d}": [1000] * 5 for d in range(10)}
    compacted = health_of_partitions({f"d={d}": [5000] for d in range(10)})
    assert after(health_of_partitions(small), compacted).band is Band.HEALTHY


def test_a_gain_at_its_share_of_the_files_does_not_flap() -> None:
    def partly(gain: int) -> TableHealth:
        return health_of_partitions(
            {"hot": [1000] * (gain + 1)} | {f"d={d}": [1000] * 4 for d in range((199 - gain) // 4)}
        )

    assert grade(partly(23), POLICY, NOW).band is Band.CRITICAL
    assert grade(partly(19), POLICY, NOW).band is Band.WATCH
    assert after(partly(23), partly(19)).band is Band.CRITICAL
    assert after(partly(23), partly(15)).band is Band.WATCH


def test_a_band_says_since_when_and_what_it_was_before() -> None:
    first = grade(files_of(3 * MIB), POLICY, NOW)
    assert (first.entered_at, first.came_from) == (NOW, None)
    same = grade(files_of(2 * MIB), POLICY, NOW + HOUR, first)
    assert (same.entered_at, same.came_from) == (NOW, None)
    better = grade(files_of(500 * MIB), POLICY, NOW + 2 * HOUR, same)
    assert (better.band, better.entered_at, better.came_from) == (
        Band.HEALTHY,
        NOW + 2 * HOUR,
        Band.CRITICAL,
    )


def test_a_grade_of_an_earlier_version_that_does_not_know_since_when_is_believed() -> None:
    old = replace(grade(files_of(3 * MIB), POLICY, NOW), entered_at=None)
    assert grade(files_of(3 * MIB), POLICY, NOW + HOUR, old).entered_at is None


@pytest.mark.parametrize(
    ("is_owner", "words"),
    [
        (False, "write `owner: true` in a policy"),
        (True, "a policy names this name as the owner"),
    ],
)
def test_a_table_with_two_names_is_watched_and_says_who_may_change_that(
    is_owner: bool, words: str
) -> None:
    other = Registration(TableIdentifier("old", ("sales",), "orders"), is_owner=False)
    graded = grade(
        files_of(500 * MIB), replace(POLICY, is_owner=is_owner), NOW, registrations=[other]
    )
    (finding,) = (found for found in graded.findings if found.metric == NAMES)
    assert (finding.severity, finding.observed, finding.is_actionable) == (Band.WATCH, 2, False)
    assert words in finding.sentence


SIZES = st.integers(64 * KIB, 600 * MIB)


@given(before=SIZES, now=SIZES, deletes=st.integers(0, 600), earlier_deletes=st.integers(0, 600))
@settings(max_examples=examples(60))
def test_a_memory_makes_a_grade_worse_or_leaves_it_and_repeating_a_measurement_changes_nothing(
    before: int, now: int, deletes: int, earlier_deletes: int
) -> None:
    health = replace(files_of(now), position_delete_files=deletes)
    fresh = grade(health, POLICY, NOW + HOUR)
    graded = after(replace(files_of(before), position_delete_files=earlier_deletes), health)
    assert ORDER.index(graded.band) >= ORDER.index(fresh.band)
    again = grade(health, POLICY, NOW + 2 * HOUR, graded)
    assert (again.band, again.findings, again.entered_at) == (
        graded.band,
        graded.findings,
        graded.entered_at,
    )


@given(
    bound=st.sampled_from([4, 12, 32]),
    steps=st.lists(st.floats(0.95, 1.09), min_size=2, max_size=8),
)
@settings(max_examples=examples(40))
def test_a_size_that_wavers_around_a_bound_enters_the_worse_band_at_most_once(
    bound: int, steps: list[float]
) -> None:
    graded, bands = None, []
    for step in steps:
        graded = grade(files_of(int(bound * step * MIB)), POLICY, NOW, graded)
        average = next(
            (
                finding
                for finding in graded.findings
                if finding.metric == Metric.AVERAGE_FILE_SIZE_BYTES
            ),
            None,
        )
        bands.append(ORDER.index(average.severity) if average is not None else 0)
    assert bands == sorted(bands)
