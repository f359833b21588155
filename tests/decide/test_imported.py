"""Files that migrate or add_files made a table's own may still be another table's: expiry deletes
them only where the operator says so.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.adapters.policies.reading import parse_policy, read_table_properties
from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import ImportedFiles, Policy, PolicyLayer, PolicySet, RuleName
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.estimate.retained_snapshots import preview_expiry
from maintainer.policy.effective import effective
from maintainer.policy.writing import describe
from tests.samples import NOW, health_of_partitions, with_history

ORDERS = TableIdentifier.parse("lake.sales.orders")
ENFORCE = (
    "tables: '*'\nmode: enforce\nrules:\n  expire_snapshots: {when: {snapshot_count_above: 5}, "
    "max_age: 5d, keep: 2"
)
SIGNS = [
    ({"migrated": "true"}, "the property migrated=true"),
    (
        {"schema.name-mapping.default": '[{"field-id": 1, "names": ["id"]}]'},
        "a name mapping (schema.name-mapping.default), as add_files leaves",
    ),
]


def table(properties: dict[str, str]) -> TableHealth:
    health = with_history(
        health_of_partitions({"a": [1000]}), [timedelta(days=20 - n) for n in range(20)]
    )
    return replace(health, table=ORDERS, properties=properties)


def policy(own: dict[str, str], text: str = f"{ENFORCE}}}\n") -> Policy:
    layer = parse_policy(text, "all.yaml")
    assert isinstance(layer, PolicyLayer), layer
    return effective(PolicySet((layer,), read_properties=read_table_properties), ORDERS, own)


@pytest.mark.parametrize(("properties", "sign"), SIGNS)
def test_guard_2_expiry_of_a_table_that_took_files_over_is_refused_to_everybody(
    properties: dict[str, str], sign: str
) -> None:
    reason = (
        f"the table has {sign}: expiry would delete files that another table may still read; "
        f"only imported_files: delete in a policy file allows it"
    )
    for asked in (
        policy(properties),
        on_request(policy(properties), (RuleName.EXPIRE_SNAPSHOTS,)),
        on_request(Policy(), (RuleName.EXPIRE_SNAPSHOTS,)),
    ):
        plan = decide(table(properties), asked, Circumstances(NOW, is_requested=True))
        assert plan.planned == ()
        assert [
            (skipped.code, skipped.reason)
            for skipped in plan.skipped
            if skipped.rule is RuleName.EXPIRE_SNAPSHOTS
        ] == [(SkipCode.UNSAFE, reason)]
    rule = policy(properties).rule(ExpireSnapshotsRule)
    assert rule is not None
    assert preview_expiry(table(properties), rule, (), NOW).refusal == reason


@pytest.mark.parametrize(("properties", "sign"), SIGNS)
def test_an_operators_file_allows_it_and_the_plan_names_what_goes(
    properties: dict[str, str], sign: str
) -> None:
    plan = decide(
        table(properties),
        policy(properties, f"{ENFORCE}, imported_files: delete}}\n"),
        Circumstances(NOW),
    )
    (planned,) = [planned for planned in plan.planned if planned.rule is RuleName.EXPIRE_SNAPSHOTS]
    assert planned.reason.endswith(
        f"; the table has {sign}: imported files are deleted like its own"
    )


@pytest.mark.parametrize(
    "properties", [{}, {"migrated": "false"}, {"schema.name-mapping.default": " "}]
)
def test_a_table_of_its_own_files_is_expired(properties: dict[str, str]) -> None:
    (planned,) = [
        one
        for one in decide(table(properties), policy(properties), Circumstances(NOW)).planned
        if one.rule is RuleName.EXPIRE_SNAPSHOTS
    ]
    assert "took over" not in planned.reason


def test_a_property_cannot_allow_it_and_can_forbid_it() -> None:
    wanted = {"maintainer.expire_snapshots.imported_files": "delete"}
    refused = policy(wanted)
    rule = refused.rule(ExpireSnapshotsRule)
    assert rule is not None
    assert rule.imported_files is ImportedFiles.KEEP
    assert ("maintainer.expire_snapshots.imported_files", "ignored") in [
        (path, text) for path, text, _ in describe(refused)
    ]
    forbidden = policy(
        {"maintainer.expire_snapshots.imported_files": "keep"},
        f"{ENFORCE}, imported_files: delete}}\n",
    ).rule(ExpireSnapshotsRule)
    assert forbidden is not None
    assert forbidden.imported_files is ImportedFiles.KEEP
