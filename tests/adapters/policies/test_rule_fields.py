"""A field of a rule is defined once: an invented one is read, merged, explained and described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import create_model

from docs.generator.policy_reference import write_reference
from maintainer.adapters.policies import model, reading
from maintainer.adapters.policies.model import policy_schema
from maintainer.adapters.policies.reading import parse_policy, read_table_properties
from maintainer.adapters.policies.rule_models import rules_model
from maintainer.domain import rules
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Policy, PolicyLayer, PolicyProblem, PolicySet, RuleName
from maintainer.domain.rule_field import Count, FilesOnly, rule_field
from maintainer.policy import effective as merging
from maintainer.policy.writing import describe

TABLE = TableIdentifier("lake", ("sales",), "orders")
PATH = "rules.rewrite_manifests.entries_at_least"


@dataclass(frozen=True, slots=True, kw_only=True)
class InventedRule(rules.RewriteManifestsRule):
    """A rule with one field more."""

    entries_at_least: int = rule_field(
        5, Count(2), "Entries of one manifest", files_only=FilesOnly(3, "three is the operator's")
    )


@pytest.fixture(autouse=True)
def _invented(monkeypatch: pytest.MonkeyPatch) -> None:
    invented = {**rules.RULES, RuleName.REWRITE_MANIFESTS: InventedRule}
    keys: dict[str, Any] = {"rules": (rules_model(invented) | None, None)}
    document = create_model("PolicyModel", __base__=model.PolicyModel, **keys)
    for module in (rules, merging):
        monkeypatch.setattr(module, "RULES", invented)
    for reader in (reading, model):
        monkeypatch.setattr(reader, "PolicyModel", document)


def parse(tables: str, value: str) -> PolicyLayer | tuple[PolicyProblem, ...]:
    text = f"tables: '{tables}'\nrules:\n  rewrite_manifests: {{{value}}}\n"
    return parse_policy(text, f"{tables}.yaml".replace("*", "all"))


def merge(*written: tuple[str, str], **own: str) -> Policy:
    layers = [parse(tables, value) for tables, value in written]
    named = {f"maintainer.rewrite_manifests.{key}": text for key, text in own.items()}
    return merging.effective(
        PolicySet(
            tuple(layer for layer in layers if isinstance(layer, PolicyLayer)),
            read_properties=read_table_properties,
        ),
        TABLE,
        named,
    )


def explain(policy: Policy) -> dict[str, tuple[str, str]]:
    return {path: (text, source) for path, text, source in describe(policy)}


def test_the_schema_has_an_invented_field_with_its_bound_and_its_meaning() -> None:
    assert policy_schema()["$defs"]["InventedRule"]["properties"]["entries_at_least"] == {
        "type": "integer",
        "minimum": 2,
        "maximum": 2**31 - 1,
        "description": "Entries of one manifest; floor 2, default 5. A table property cannot set "
        "3.",
    }


def test_the_reference_has_a_row_for_an_invented_field() -> None:
    page = write_reference({RuleName.REWRITE_MANIFESTS: InventedRule})
    assert (
        "| `entries_at_least` | Entries of one manifest. A table property cannot set 3. | 5 | "
        "floor 2 |\n" in page
    )


def test_a_file_sets_an_invented_field_within_its_bound() -> None:
    assert parse("lake.*", "entries_at_least: 1") == (
        PolicyProblem("lake.all.yaml:3", f"{PATH} is 1, under the floor 2"),
    )
    assert parse("lake.*", "entries_at_leats: 4") == (
        PolicyProblem(
            "lake.all.yaml:3",
            "unknown key 'entries_at_leats', did you mean 'entries_at_least'?",
        ),
    )
    rule = merge(("lake.*", "entries_at_least: 4")).rule(InventedRule)
    assert rule is not None
    assert rule.entries_at_least == 4


def test_an_invented_field_is_merged_and_explained_with_its_source() -> None:
    wide, narrow = ("lake.*", "entries_at_least: 4"), ("lake.sales.*", "entries_at_least: 6")
    assert explain(merge())[PATH] == ("5", "built-in default")
    assert explain(merge(wide, narrow))[PATH] == ("6", "lake.sales.all.yaml:3")
    assert explain(merge(wide, ("lake.sales.*", "")))[PATH] == ("4", "lake.all.yaml:3")
    assert merge(wide).version != merge(narrow).version


def test_a_table_property_sets_an_invented_field_as_far_as_it_may() -> None:
    name = "maintainer.rewrite_manifests.entries_at_least"
    assert explain(merge(entries_at_least="9"))[PATH] == ("9", f"table property {name}")
    refused = explain(merge(entries_at_least="3"))
    assert refused[PATH] == ("5", "built-in default")
    assert refused[name] == (
        "ignored",
        f"table property {name} (ignored: three is the operator's)",
    )
