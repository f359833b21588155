"""Who may decide what: every field of a policy, from every source that can name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from maintainer.adapters.policies.kubernetes import read_layer
from maintainer.adapters.policies.model import PolicyModel
from maintainer.adapters.policies.polaris_content import Attachment, PolarisPolicy, make_layer
from maintainer.adapters.policies.reading import parse_policy, read_table_properties
from maintainer.decide.plan import on_request
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import Policy, PolicyLayer, PolicySet, RuleName
from maintainer.domain.rule_field import (
    Choice,
    Condition,
    Count,
    Direction,
    Duration,
    Flag,
    Member,
    Names,
    RuleField,
    Size,
    Text,
    fields_of,
)
from maintainer.domain.rules import RULES
from maintainer.policy.effective import effective
from maintainer.policy.writing import describe

ORDERS = TableIdentifier.parse("lake.sales.orders")
FIELDS = {
    f"{name}.{field.key}": (RuleName(name), field)
    for name, rule in RULES.items()
    for field in fields_of(rule)
}
# A field that is only valid beside another one.
BESIDE: Mapping[str, Mapping[str, object]] = {
    "rewrite_data_files.sort_order": {"strategy": "sort"},
}
# What a person's own request does not wait for.
WAIVED = {
    "cooldown",
    "every",
    "quiet_period",
    "hot_partition_age",
    "max_rewrites_per_byte",
    "enabled",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """The operator's value of a field, and another value, which gives less away or more."""

    said: object
    other: object

    def turned(self) -> Pair:
        return Pair(self.other, self.said)


def pair_of(field: RuleField) -> Pair:
    """The first value deletes least where that is a question, and the second one most."""
    match field.kind:
        case Flag():
            return Pair(said=False, other=True)
        case Duration():
            return Pair("6d", field.kind.least if field.kind.least != "6d" else "5d")
        case Size():
            return Pair("4MiB", "2MiB")
        case Count():
            return Pair(field.kind.floor + 7, field.kind.floor)
        case Choice():
            return Pair(field.kind.choices[0], field.kind.choices[-1])
        case Member():
            first, *_, last = (member.value for member in field.kind.type)
            unsafe = field.files_only.value if field.files_only is not None else last
            return Pair(last, first) if first == unsafe else Pair(first, last)
        case Text():
            return Pair("a ASC", "b DESC")
        case Condition():
            return Pair("a = 1", "a = 2")
        case Names():
            return Pair("a", "b")


def document_of(name: str, value: object) -> dict[str, object]:
    rule, key = name.split(".")
    return {"rules": {rule: {**BESIDE.get(name, {}), key: value}}}


def from_file(name: str, value: object) -> PolicyLayer:
    layer = parse_policy(str(document_of(name, value)), "default.yaml")
    assert isinstance(layer, PolicyLayer), layer
    return layer


def from_resource(name: str, value: object) -> PolicyLayer:
    spec = {"tables": ["lake.sales.*"], **document_of(name, value)}
    resource = {"metadata": {"name": "team"}, "spec": spec}
    layer = read_layer("team", resource, [TablePattern("lake.sales.*")])
    assert isinstance(layer, PolicyLayer), layer
    return layer


def settle(layer: PolicyLayer, properties: Mapping[str, str] | None = None) -> Policy:
    policies = PolicySet((layer,), read_properties=read_table_properties)
    return effective(policies, ORDERS, properties or {})


def value_of(policy: Policy, name: str) -> object:
    rule, field = FIELDS[name]
    found = policy.rule(RULES[rule])
    assert found is not None
    return getattr(found, field.name)


def note_on(policy: Policy, name: str) -> str:
    return next((source for path, _, source in describe(policy) if path == name), "")


def move(
    write: Callable[[str, object], PolicyLayer], name: str, said: object, asked: object
) -> tuple[bool, str]:
    """Whether the property moves the operator's value, and what is said of the property."""
    layer, own = write(name, said), f"maintainer.{name}"
    moved = settle(layer, {own: str(asked).lower() if isinstance(asked, bool) else str(asked)})
    return value_of(moved, name) != value_of(settle(layer), name), note_on(moved, own)


@pytest.mark.parametrize("write", [from_file, from_resource])
@pytest.mark.parametrize("name", FIELDS)
def test_a_property_moves_a_field_only_in_the_direction_that_the_field_declares(
    write: Callable[[str, object], PolicyLayer], name: str
) -> None:
    _, field = FIELDS[name]
    pair = pair_of(field)
    is_bound = field.files_only is not None or field.direction is not Direction.EITHER
    down = move(write, name, pair.said, pair.other)
    up = move(write, name, pair.other, pair.said)
    assert down[0] is not is_bound, "to the value that deletes more, or that switches on"
    assert ("ignored" in down[1]) is is_bound
    assert up == (True, ""), "to the value that deletes less, or that switches off"


@pytest.mark.parametrize("key", [key for key in PolicyModel.model_fields if key != "rules"])
def test_a_property_with_the_name_of_any_other_field_is_never_passed_over_in_silence(
    key: str,
) -> None:
    read = read_table_properties({f"maintainer.{key}": "observe" if key == "mode" else "7"})
    assert set(read.settings) | set(read.ignored) in ({key}, {f"maintainer.{key}"})
    assert bool(read.settings) is (key in {"mode", "priority"})


POLARIS = {
    "expire_snapshots.keep": ("system.snapshot-expiry", {"min_snapshots_to_keep": 500}, "2"),
    "expire_snapshots.max_age": ("system.snapshot-expiry", {"max_snapshot_age_days": 90}, "1d"),
    "remove_orphan_files.older_than": (
        "system.orphan-file-removal",
        {"max_orphan_file_age_in_days": 30},
        "3d",
    ),
}


@pytest.mark.parametrize("name", POLARIS)
def test_a_property_does_not_cut_what_a_policy_of_the_catalog_keeps(name: str) -> None:
    kind, content, less = POLARIS[name]
    policy = PolarisPolicy("keeps", kind, {"enable": True, **content})
    layer, _ = make_layer(policy, Attachment("lake", ("sales",)))
    assert layer is not None
    cut = settle(layer, {f"maintainer.{name}": less})
    assert value_of(cut, name) == value_of(settle(layer), name)
    assert "(Polaris policy keeps at lake.sales)" in note_on(cut, f"maintainer.{name}")


@pytest.mark.parametrize("name", [name for name in FIELDS if FIELDS[name][1].key not in WAIVED])
def test_a_request_runs_with_the_operators_values(name: str) -> None:
    rule, field = FIELDS[name]
    policy = settle(from_file(name, pair_of(field).said))
    for asked in (on_request(policy, ()), on_request(policy, (rule,))):
        assert value_of(asked, name) == value_of(policy, name)
