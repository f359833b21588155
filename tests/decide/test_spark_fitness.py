"""What a driver reports about its Spark switches rules off, or all rules of a catalog."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.decide.spark_fitness import (
    CATALOG_TRUST,
    VERSION_TRUST,
    find_fault,
    find_unfit,
    list_restrictions,
)
from maintainer.domain.driver import SparkFacts, write_version
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import Mode, Policy, Rule, RuleName
from maintainer.domain.rules import (
    ComputePartitionStatsRule,
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
)
from maintainer.procedures.registry import CHAPTERS
from tests.project.repository import read_text
from tests.samples import NOW, health_of_partitions

FITTING = SparkFacts(NOW, "s", "4.1.4", "2.13.17", "21.0.8", "1.12.0", {"lake": ""})
PLAIN = replace(health_of_partitions({"day=1": [1000] * 60}), branches=1, tags=0, format_version=2)
TAGGED = replace(PLAIN, tags=1)
BRANCHED = replace(PLAIN, branches=2)
NEWEST = replace(PLAIN, format_version=3)
UPSERTED = replace(PLAIN, equality_delete_files=1)
DROPPING = RewriteDataFilesRule(options=(("remove-dangling-deletes", "true"),))


def specs(*names: list[str]) -> TableHealth:
    """A table whose partition specs had these fields, the oldest spec first."""
    fields = [tuple(PartitionField(name, "identity") for name in spec) for spec in names]
    written = [PartitionSpec(number, each) for number, each in enumerate(fields)]
    return replace(PLAIN, specs=tuple(reversed(written)))


POLICY = Policy(mode=Mode.ENFORCE, rules=(ExpireSnapshotsRule(), RewriteDataFilesRule()))


def reported(**changes: object) -> SparkFacts:
    return replace(FITTING, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "reason", "trust"),
    [
        (None, None, None),
        (FITTING, None, None),
        (reported(spark="", iceberg="", catalogs={}), None, None),
        (reported(spark="3.5.0", iceberg="1.7.0"), None, None),
        (reported(iceberg="unspecified"), None, None),
        (
            reported(spark="3.4.3"),
            "Spark's driver runs Spark 3.4.3; jobs need 3.5 or newer",
            VERSION_TRUST,
        ),
        (
            reported(iceberg="1.6.1"),
            "Spark's driver runs Iceberg 1.6.1; jobs need 1.7 or newer",
            VERSION_TRUST,
        ),
        (
            reported(catalogs={"lake": "Connection refused"}),
            "Spark could not load catalog lake: Connection refused",
            CATALOG_TRUST,
        ),
        (reported(catalogs={"lake": "", "other": "Connection refused"}), None, None),
    ],
)
def test_a_spark_that_does_not_fit_runs_nothing_of_the_catalog_for_a_while(
    facts: SparkFacts | None, reason: str | None, trust: timedelta | None
) -> None:
    found = find_unfit(facts, "lake", NOW)
    plan = decide(PLAIN, POLICY, Circumstances(NOW, facts=facts))
    if reason is None or trust is None:
        assert found is None
        assert not [one for one in plan.skipped if one.code is SkipCode.NO_RUNNER]
        return
    assert found is not None
    assert (found.reason, found.until) == (reason, NOW + trust)
    assert [(one.code, one.reason, one.next_at) for one in plan.skipped] == [
        (SkipCode.NO_RUNNER, reason, NOW + trust)
    ] * 2
    later = NOW + trust
    assert find_unfit(facts, "lake", later) is None, "then a job may try again"


@pytest.mark.parametrize("catalogs", [{}, {"lake": "gone"}])
def test_a_version_counts_before_a_catalog(catalogs: dict[str, str]) -> None:
    found = find_unfit(reported(spark="3.3.0", catalogs=catalogs), "lake", NOW)
    assert found is not None
    assert "3.3.0" in found.reason


CASES = [
    ("1.9.2", ExpireSnapshotsRule(), TAGGED, "several branches or tags"),
    ("1.9.2", ExpireSnapshotsRule(), BRANCHED, "several branches or tags"),
    ("1.9.2", ExpireSnapshotsRule(), PLAIN, None),
    ("1.10.0", ExpireSnapshotsRule(), TAGGED, None),
    ("1.9.2", RewriteDataFilesRule(), NEWEST, "row lineage"),
    ("1.9.2", RewriteDataFilesRule(), PLAIN, None),
    ("1.11.0", DROPPING, UPSERTED, "drops equality deletes that files of another partition spec"),
    ("1.11.0", DROPPING, PLAIN, None),
    ("1.11.0", RewriteDataFilesRule(), UPSERTED, None),
    ("1.12.0", DROPPING, UPSERTED, None),
    ("1.10.1", RewriteDataFilesRule(), NEWEST, None),
    ("1.9.2", ComputePartitionStatsRule(), PLAIN, "no procedure compute_partition_stats"),
    ("1.10.0", ComputePartitionStatsRule(), PLAIN, None),
    ("1.10.2", RemoveOrphanFilesRule(), PLAIN, "stream_results"),
    ("1.11.0", RemoveOrphanFilesRule(), PLAIN, None),
    ("1.11.0", RewriteManifestsRule(), NEWEST, "new row ids"),
    ("1.11.1", RewriteManifestsRule(), NEWEST, None),
    ("1.9.2", RewriteManifestsRule(), PLAIN, None),
    ("1.12.0", ComputePartitionStatsRule(), specs(["a", "b"], ["b"]), "was dropped or replaced"),
    ("1.12.0", ComputePartitionStatsRule(), specs(["day"], ["hour"]), "was dropped or replaced"),
    ("1.12.0", ComputePartitionStatsRule(), specs(["a", "b"], ["a"], ["a", "b", "c"]), None),
    ("1.12.0", ComputePartitionStatsRule(), specs(["a"], []), None),
    ("", ExpireSnapshotsRule(), TAGGED, None),
]


@pytest.mark.parametrize(("iceberg", "rule", "health", "expected"), CASES)
def test_a_known_fault_forbids_its_rule_on_the_tables_that_it_concerns(
    iceberg: str, rule: Rule, health: TableHealth, expected: str | None
) -> None:
    found = find_fault(reported(iceberg=iceberg), rule, health)
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert expected in found
    assert found.endswith(f"; Spark runs Iceberg {iceberg}") or found.startswith("in every version")


def test_a_fault_of_every_version_counts_before_a_version_is_known() -> None:
    found = find_fault(None, ComputePartitionStatsRule(), specs(["a", "b"], ["b"]))
    assert found == (
        "in every version of Iceberg so far partition statistics are wrong after a partition "
        "field was dropped or replaced"
    )


def test_every_known_fault_is_among_the_cases() -> None:
    assert {chapter.name for chapter in CHAPTERS.values() if chapter.faults} == {
        rule.name for _, rule, _, expected in CASES if expected is not None
    }


def test_the_documentation_lists_every_known_fault() -> None:
    text = read_text("docs/spark.md")
    for name, chapter in CHAPTERS.items():
        for fault in chapter.faults:
            versions = "every" if fault.until is None else f"before {write_version(fault.until)}"
            assert f"| {versions} | `{name}` |" in text


def skipped(plan: Plan, rule: RuleName) -> tuple[SkipCode, str]:
    return next((one.code, one.reason) for one in plan.skipped if one.rule is rule)


def test_a_rule_with_a_known_fault_is_unsupported_even_on_request_and_the_others_run() -> None:
    circumstances = Circumstances(NOW, facts=reported(iceberg="1.9.2"))
    plan = decide(TAGGED, POLICY, circumstances)
    code, reason = skipped(plan, RuleName.EXPIRE_SNAPSHOTS)
    assert code is SkipCode.UNSUPPORTED
    assert reason == (
        "before Iceberg 1.10 expiry may delete files that are still needed if the table has "
        "several branches or tags; Spark runs Iceberg 1.9.2"
    )
    assert [one.rule for one in plan.planned] == [RuleName.REWRITE_DATA_FILES]
    asked = on_request(POLICY, (RuleName.EXPIRE_SNAPSHOTS,))
    again = decide(TAGGED, asked, replace(circumstances, is_requested=True))
    assert skipped(again, RuleName.EXPIRE_SNAPSHOTS)[0] is SkipCode.UNSUPPORTED


def test_what_fits_restricts_nothing() -> None:
    assert list_restrictions(None) == list_restrictions(FITTING) == ()
    assert list_restrictions(reported(spark="", iceberg="")) == ()
    assert len(list_restrictions(reported(spark="3.4.0", catalogs={"lake": "gone"}))) == 2
    (last,) = list_restrictions(reported(iceberg="1.11.1"))
    assert last.startswith("before Iceberg 1.12 remove-dangling-deletes drops equality deletes")
