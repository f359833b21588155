"""A table's own properties restrict what the operator's policies allow; they allow nothing by
themselves.
"""

from __future__ import annotations

import pytest

from maintainer.adapters.policies.reading import parse_policy, read_table_properties
from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy, PolicyLayer, PolicySet, RuleName
from maintainer.domain.rule_field import Direction, fields_of
from maintainer.domain.rules import RULES, RewriteDataFilesRule
from maintainer.policy.effective import effective
from maintainer.policy.writing import describe
from tests.samples import NOW, health_of_partitions

ORDERS = TableIdentifier.parse("lake.sales.orders")
ENFORCE = {"maintainer.mode": "enforce"}


def policy_of(properties: dict[str, str], **files: str) -> Policy:
    layers = tuple(parse_policy(text, f"{name}.yaml") for name, text in files.items())
    assert all(isinstance(layer, PolicyLayer) for layer in layers), layers
    # Asserted above.
    return effective(PolicySet(layers, read_properties=read_table_properties), ORDERS, properties)  # type: ignore[arg-type]


def note_on_mode(policy: Policy) -> str:
    return next(
        source
        for path, text, source in describe(policy)
        if (path, text) == ("maintainer.mode", "ignored")
    )


def test_without_any_file_no_property_has_a_table_enforced() -> None:
    policy = policy_of(ENFORCE)
    assert policy.mode is Mode.OBSERVE
    assert note_on_mode(policy) == (
        "table property maintainer.mode (ignored: the mode is the operator's (built-in default): "
        "only a policy file with properties: may_enforce lets a property enforce)"
    )


@pytest.mark.parametrize("tables", ["*", "lake.sales.*", "lake.sales.orders"])
def test_an_operators_observe_stands_however_wide_the_file_is(tables: str) -> None:
    policy = policy_of(ENFORCE, a=f"tables: '{tables}'\nmode: observe\n")
    assert policy.mode is Mode.OBSERVE
    assert "(a.yaml:2)" in note_on_mode(policy)


def test_a_property_enforces_where_an_operators_file_says_that_it_may() -> None:
    policy = policy_of(ENFORCE, default="mode: observe\nproperties: may_enforce\n")
    assert (policy.mode, policy.sources["mode"]) == (Mode.ENFORCE, "table property maintainer.mode")
    assert ("properties", "may_enforce", "default.yaml:2") in describe(policy)
    narrower = policy_of(
        ENFORCE,
        default="properties: may_enforce\n",
        sales="tables: lake.sales.*\nproperties: may_restrict\n",
    )
    assert narrower.mode is Mode.OBSERVE


def test_no_property_gives_properties_more_rights() -> None:
    policy = policy_of({**ENFORCE, "maintainer.properties": "may_enforce"})
    assert policy.mode is Mode.OBSERVE
    ignored = {path: source for path, text, source in describe(policy) if text == "ignored"}
    assert ignored["maintainer.properties"].endswith(
        "(ignored: only a policy file can set what properties may do)"
    )


def test_a_property_may_always_restrict() -> None:
    assert (
        policy_of({"maintainer.mode": "observe"}, a="tables: '*'\nmode: enforce\n").mode
        is Mode.OBSERVE
    )
    enforced = policy_of(ENFORCE, a="tables: '*'\nmode: enforce\n")
    assert (enforced.mode, [path for path, text, _ in describe(enforced) if text == "ignored"]) == (
        Mode.ENFORCE,
        [],
    )


def test_what_files_dispute_a_property_settles_by_observing_only() -> None:
    wide = "tables: '*'\nmode: enforce\n"
    disputed = {"a": "tables: lake.*\nmode: observe\n", "b": "tables: lake.*\nmode: enforce\n"}
    settled = policy_of({"maintainer.mode": "observe"}, wide=wide, **disputed)
    assert (settled.mode, settled.ambiguities) == (Mode.OBSERVE, ())
    still = policy_of(ENFORCE, wide=wide, **disputed)
    assert [ambiguity.path for ambiguity in still.ambiguities] == ["mode"]
    assert "(a.yaml:2)" in note_on_mode(still)


@pytest.mark.parametrize(
    "rules", [(), (RuleName.REWRITE_DATA_FILES,), (RuleName.REMOVE_ORPHAN_FILES,)]
)
def test_a_table_that_is_switched_off_gets_nothing_even_when_a_person_names_the_action(
    rules: tuple[RuleName, ...],
) -> None:
    rotten = health_of_partitions({"a": [1000] * 600})
    own = policy_of({"maintainer.enabled": "false"}, a="tables: '*'\nmode: enforce\n")
    circumstances = Circumstances(NOW, is_requested=True)
    plan = decide(rotten, on_request(own, rules), circumstances)
    assert plan.planned == ()
    assert {skipped.code for skipped in plan.skipped} == {SkipCode.DISABLED}
    assert (
        plan.skipped[0].reason
        == "table property maintainer.enabled=false switches every rule off, also on request"
    )
    on = decide(
        rotten,
        on_request(policy_of({}, a="tables: '*'\nmode: enforce\n"), (RuleName.REWRITE_DATA_FILES,)),
        circumstances,
    )
    assert on.planned


FALLING = {
    "expire_snapshots.max_age": ("90d", "1d", "120d"),
    "expire_snapshots.keep": ("500", "2", "600"),
    "expire_snapshots.staged_max_age": ("90d", "1d", "120d"),
    "remove_orphan_files.older_than": ("30d", "3d", "60d"),
    "remove_orphan_files.quarantine": ("14d", "off", "30d"),
}


def test_every_value_that_keeps_data_longer_may_only_be_raised_by_a_property() -> None:
    """A new field that keeps data must be named here and declared."""
    declared = {
        f"{name}.{field.key}"
        for name, rule in RULES.items()
        for field in fields_of(rule)
        if field.direction is Direction.UP
    }
    assert declared == set(FALLING)


@pytest.mark.parametrize("name", FALLING)
def test_a_property_cannot_cut_what_a_file_keeps(name: str) -> None:
    rule, field = name.split(".")
    kept, less, more = FALLING[name]
    file = f"rules: {{{rule}: {{{field}: {kept}}}}}\n"
    values = {path: text for path, text, _ in describe(policy_of({}, default=file))}
    cut = policy_of({f"maintainer.{name}": less}, default=file)
    read = {path: (text, source) for path, text, source in describe(cut)}
    assert read[f"rules.{name}"][0] == values[f"rules.{name}"]
    assert "a property may only raise it" in read[f"maintainer.{name}"][1]
    raised = policy_of({f"maintainer.{name}": more}, default=file)
    assert {path: text for path, text, _ in describe(raised)}[f"rules.{name}"] == more
    same = {path for path, _, _ in describe(policy_of({f"maintainer.{name}": kept}, default=file))}
    assert f"maintainer.{name}" not in same, "what cuts nothing is not ignored"


@pytest.mark.parametrize(("name", "less"), [(name, less) for name, (_, less, _) in FALLING.items()])
def test_a_property_cannot_cut_the_built_in_default_either(name: str, less: str) -> None:
    rule = name.split(".", maxsplit=1)[0]
    policy = policy_of({f"maintainer.{name}": less}, default=f"rules: {{{rule}: {{}}}}\n")
    notes = {path: source for path, _, source in describe(policy)}
    assert "may only raise it" in notes[f"maintainer.{name}"]


def test_a_property_does_not_settle_a_disagreement_of_files() -> None:
    files = {
        "a": "tables: lake.*\npriority: 1\n",
        "b": "tables: lake.*\npriority: 2\n",
    }
    policy = policy_of({"maintainer.priority": "3"}, **files)
    assert [ambiguity.path for ambiguity in policy.ambiguities] == ["priority"]
    note = {path: source for path, _, source in describe(policy)}["maintainer.priority"]
    assert "a.yaml:2 and b.yaml:2 disagree, which only the operator can settle" in note


def test_a_property_adds_no_rule_that_no_policy_names() -> None:
    policy = policy_of({"maintainer.compute_table_stats.every": "7d"}, default="mode: observe\n")
    notes = {path: source for path, _, source in describe(policy)}
    assert (
        "no policy names the rule compute_table_stats"
        in notes["maintainer.compute_table_stats.every"]
    )


def test_a_property_tunes_the_priority() -> None:
    policy = policy_of({"maintainer.priority": "3"}, default="priority: 9\n")
    assert (policy.priority, policy.sources["priority"]) == (
        3,
        "table property maintainer.priority",
    )


@pytest.mark.parametrize("order", ["id DOWN", "upper(name)", "zorder(a", "a; b"])
def test_a_sort_order_that_no_job_can_use_is_ignored_as_a_property_and_an_error_in_a_file(
    order: str,
) -> None:
    file = "rules: {rewrite_data_files: {strategy: sort, sort_order: id}}\n"
    policy = policy_of({"maintainer.rewrite_data_files.sort_order": order}, default=file)
    notes = {path: source for path, _, source in describe(policy)}
    assert (
        f"has the sort_order {order!r}, which is none"
        in (notes["maintainer.rewrite_data_files.sort_order"])
    )
    rule = policy.rule(RewriteDataFilesRule)
    assert rule is not None
    assert rule.sort_order == "id"
    (problem,) = parse_policy(
        f"rules: {{rewrite_data_files: {{sort_order: '{order}'}}}}\n", "default.yaml"
    )  # type: ignore[misc]
    assert f"has the sort_order {order!r}, which is none" in problem.message


def test_a_property_tunes_the_threshold_of_a_rule_that_a_policy_has() -> None:
    policy = policy_of(
        {"maintainer.expire_snapshots.when.snapshot_count_above": "50"},
        default="rules: {expire_snapshots: {}}\n",
    )
    read = {path: (text, source) for path, text, source in describe(policy)}
    assert read["rules.expire_snapshots.when.snapshot_count_above"] == (
        "50",
        "table property maintainer.expire_snapshots.when.snapshot_count_above",
    )
