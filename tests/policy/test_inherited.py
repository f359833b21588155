"""Iceberg's own table properties, wherever no policy speaks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.policies.reading import read_table_properties
from maintainer.domain.policy import Mode, Policy, PolicySet, RuleName
from maintainer.domain.rules import (
    MIN_EXPIRE_AGE,
    MIN_SNAPSHOTS_KEPT,
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
)
from maintainer.domain.units import MIB
from maintainer.estimate.floors import is_gc_disabled
from maintainer.policy import inherited
from maintainer.policy.effective import effective
from maintainer.policy.writing import describe
from tests.policy.test_effective import EXPIRE, MANIFESTS, ORDERS, layer
from tests.samples import health_of_partitions

DAY_MS = 86_400_000


def explain(policy: Policy) -> dict[str, tuple[str, str]]:
    return {path: (value, source) for path, value, source in describe(policy)}


def expiry_of(policy: Policy) -> ExpireSnapshotsRule:
    rule = policy.rule(ExpireSnapshotsRule)
    assert rule is not None
    return rule


def test_the_tables_own_expiry_stands_before_our_default_and_behind_every_file() -> None:
    own = {
        "history.expire.max-snapshot-age-ms": str(30 * DAY_MS),
        "history.expire.min-snapshots-to-keep": "50",
    }
    policy = effective((layer("a.yaml", "*", **{f"{EXPIRE}.keep": 5}),), ORDERS, own)
    assert (expiry_of(policy).max_age, expiry_of(policy).keep) == (timedelta(days=30), 5)
    assert explain(policy)[f"{EXPIRE}.max_age"] == (
        "30d",
        "table property history.expire.max-snapshot-age-ms",
    )
    assert explain(policy)[f"{EXPIRE}.keep"] == ("5", "policies/a.yaml:1")


def test_a_property_below_a_floor_is_raised_to_it() -> None:
    policy = effective(
        (),
        ORDERS,
        {
            "history.expire.max-snapshot-age-ms": "3600000",
            "history.expire.min-snapshots-to-keep": "1",
        },
    )
    assert (expiry_of(policy).max_age, expiry_of(policy).keep) == (
        MIN_EXPIRE_AGE,
        MIN_SNAPSHOTS_KEPT,
    )
    assert explain(policy)[f"{EXPIRE}.max_age"] == (
        "1d",
        "table property history.expire.max-snapshot-age-ms, raised to the floor",
    )
    assert explain(policy)[f"{EXPIRE}.keep"] == (
        "2",
        "table property history.expire.min-snapshots-to-keep, raised to the floor",
    )


def test_an_age_that_means_never_is_the_longest_that_a_policy_can_say() -> None:
    own = {
        "history.expire.max-snapshot-age-ms": str(2**63 - 1),
        "history.expire.max-ref-age-ms": str(2**63 - 1),
    }
    policy = effective((), ORDERS, own)
    assert expiry_of(policy).max_age == timedelta(days=36500)
    assert explain(policy)["history.expire.max-ref-age-ms"] == (
        "36500d",
        "table property history.expire.max-ref-age-ms",
    )


def test_manifests_are_many_from_the_number_at_which_the_tables_writers_merge_them() -> None:
    policy = effective((), ORDERS, {"commit.manifest.min-count-to-merge": "300"})
    assert explain(policy)[f"{MANIFESTS}.when.manifest_count_above"] == (
        "300",
        "table property commit.manifest.min-count-to-merge",
    )
    filed = effective(
        (layer("a.yaml", "*", **{f"{MANIFESTS}.when.manifest_count_above": 70.0}),),
        ORDERS,
        {"commit.manifest.min-count-to-merge": "300"},
    )
    assert explain(filed)[f"{MANIFESTS}.when.manifest_count_above"] == ("70", "policies/a.yaml:1")


def test_where_writers_do_not_merge_manifests_their_number_for_it_says_nothing() -> None:
    policy = effective(
        (),
        ORDERS,
        {"commit.manifest.min-count-to-merge": "300", "commit.manifest-merge.enabled": "false"},
    )
    assert explain(policy)[f"{MANIFESTS}.when.manifest_count_above"] == ("100", "built-in default")
    assert explain(policy)["commit.manifest-merge.enabled"] == (
        "false",
        "table property commit.manifest-merge.enabled",
    )


def test_sizes_and_switches_that_no_policy_sets_are_shown_as_the_tables() -> None:
    own = {
        "write.target-file-size-bytes": str(256 * MIB),
        "write.delete.target-file-size-bytes": str(32 * MIB),
        "commit.manifest.target-size-bytes": str(4 * MIB),
        "gc.enabled": "false",
    }
    reported = explain(effective((), ORDERS, own))
    assert reported["target_file_size"] == ("256MiB", "table property write.target-file-size-bytes")
    assert reported["write.delete.target-file-size-bytes"] == (
        "32MiB",
        "table property write.delete.target-file-size-bytes",
    )
    assert reported["commit.manifest.target-size-bytes"] == (
        "4MiB",
        "table property commit.manifest.target-size-bytes",
    )
    assert reported["gc.enabled"] == ("false", "table property gc.enabled")
    assert explain(effective((), ORDERS, {}))["target_file_size"] == ("512MiB", "Iceberg's default")


@pytest.mark.parametrize(
    ("text", "forbids"),
    [("true", False), ("TRUE", False), ("false", True), ("no", True), (" true", True), ("", True)],
)
def test_files_are_deleted_only_where_iceberg_itself_would_read_true(
    text: str, forbids: bool
) -> None:
    assert is_gc_disabled(health_of_partitions({}, properties={"gc.enabled": text})) == forbids
    assert explain(effective((), ORDERS, {"gc.enabled": text}))["gc.enabled"][0] == (
        "false" if forbids else "true"
    )


def test_a_policys_target_hides_the_tables() -> None:
    policy = effective(
        (layer("a.yaml", "*", target_file_size_bytes=64 * MIB),),
        ORDERS,
        {"write.target-file-size-bytes": "1"},
    )
    assert explain(policy)["target_file_size"] == ("64MiB", "policies/a.yaml:1")
    assert policy.target_file_size_bytes == 64 * MIB


@pytest.mark.parametrize("text", ["", "-5", "5d", "1e9", "0x10", "9" * 30])
def test_a_malformed_number_is_ignored_and_named(text: str) -> None:
    policy = effective((), ORDERS, {"history.expire.max-snapshot-age-ms": text})
    assert expiry_of(policy).max_age == timedelta(days=5)
    assert explain(policy)["history.expire.max-snapshot-age-ms"] == (
        "ignored",
        (
            f"table property history.expire.max-snapshot-age-ms (ignored: {text!r} is not a whole "
            f"number)"
        ),
    )


def test_a_rule_that_no_policy_names_is_not_brought_in_by_a_property() -> None:
    policies = PolicySet((), read_properties=read_table_properties)
    policy = effective(policies, ORDERS, {"maintainer.remove_orphan_files.every": "30d"})
    assert policy.rule(RemoveOrphanFilesRule) is None
    assert explain(policy)["maintainer.remove_orphan_files.every"] == (
        "ignored",
        (
            "table property maintainer.remove_orphan_files.every (ignored: no policy names the "
            "rule "
            "remove_orphan_files for this table)"
        ),
    )


def test_a_property_switches_off_what_a_file_switches_on_and_never_the_reverse() -> None:
    off = PolicySet(
        (layer("a.yaml", "*", **{f"{EXPIRE}.enabled": False}),),
        read_properties=read_table_properties,
    )
    policy = effective(off, ORDERS, {"maintainer.expire_snapshots.enabled": "true"})
    assert not expiry_of(policy).is_enabled
    assert explain(policy)["maintainer.expire_snapshots.enabled"][1] == (
        "table property maintainer.expire_snapshots.enabled (ignored: policies/a.yaml:1 switches "
        "expire_snapshots off, which a property cannot undo)"
    )
    on = PolicySet(
        (layer("a.yaml", "*", **{f"{EXPIRE}.enabled": True}),),
        read_properties=read_table_properties,
    )
    policy = effective(on, ORDERS, {"maintainer.expire_snapshots.enabled": "False"})
    assert not expiry_of(policy).is_enabled


def test_opting_out_wins_over_every_other_property() -> None:
    own = {"maintainer.enabled": "false", "maintainer.mode": "enforce"} | {
        f"maintainer.{name}.enabled": "true" for name in RuleName
    }
    policy = effective(PolicySet((), read_properties=read_table_properties), ORDERS, own)
    assert (policy.mode, policy.is_enabled) == (Mode.OBSERVE, False)
    assert not any(rule.is_enabled for rule in policy.rules)


_NUMBERS = st.integers(-(2**70), 2**70).map(str) | st.sampled_from(
    ["", "x", "1.5", "true", "false", "1d", "2", "24h"]
)
_NAMES = [
    value
    for name, value in vars(inherited).items()
    if isinstance(value, str) and name.isupper() and "." in value
]


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *_NAMES,
                *(
                    f"maintainer.{EXPIRE.removeprefix('rules.')}.{field}"
                    for field in ("keep", "max_age")
                ),
            ]
        ),
        _NUMBERS,
    )
)
def test_no_property_gets_below_a_floor(own: dict[str, str]) -> None:
    rule = expiry_of(effective(PolicySet((), read_properties=read_table_properties), ORDERS, own))
    assert rule.max_age is not None
    assert rule.keep is not None
    assert (rule.max_age >= MIN_EXPIRE_AGE, rule.keep >= MIN_SNAPSHOTS_KEPT) == (True, True)
