from __future__ import annotations

from pathlib import Path
from re import DOTALL, MULTILINE, findall, fullmatch, search

import pytest
from pydantic import BaseModel

from docs.generator.policy_reference import write_reference
from maintainer.adapters.policies.model import PolicyModel
from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.policies.validation import inner_model
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.policy.effective import effective
from maintainer.policy.writing import describe

_TEXT = (Path(__file__).parents[3] / "docs" / "policies.md").read_text("utf-8")
_REFERENCE = (Path(__file__).parents[3] / "docs" / "policy-reference.md").read_text("utf-8")
_BLOCKS: list[str] = findall(r"```yaml\n(.*?)```", _TEXT, DOTALL)
_RULES = inner_model(PolicyModel.model_fields["rules"].annotation)


def layer_of(block: str) -> PolicyLayer:
    named = search(r"^# (\S+\.yaml)$", block.splitlines()[0])
    parsed = parse_policy(block, named[1] if named else "example.yaml")
    assert isinstance(parsed, PolicyLayer), parsed
    return parsed


def test_there_are_examples() -> None:
    assert len(_BLOCKS) == 5


@pytest.mark.parametrize("block", _BLOCKS, ids=range(len(_BLOCKS)))
def test_every_example_is_a_valid_policy(block: str) -> None:
    assert layer_of(block).settings


def leaves(model: type[BaseModel], at: str) -> set[str]:
    found: set[str] = set()
    for name, field in model.model_fields.items():
        inner = inner_model(field.annotation)
        path = f"{at}{field.alias or name}"
        found |= leaves(inner, f"{path}.") if inner else {path}
    return found


def documented(heading: str, page: str) -> set[str]:
    section = search(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", page, DOTALL | MULTILINE)
    assert section is not None, heading
    return set(findall(r"^\| `([^`]+)` \|", section[1], MULTILINE))


def test_the_tables_of_keys_are_complete() -> None:
    assert _RULES is not None
    assert documented("Keys of a file", _TEXT) == {
        path for path in leaves(PolicyModel, "") if not path.startswith("rules.")
    } | {"rules.<rule>"}
    every = {"enabled", "cooldown", "every", "timeout"}
    assert documented("Every rule", _REFERENCE) == every
    for name, field in _RULES.model_fields.items():
        rule = inner_model(field.annotation)
        assert rule is not None
        keys = leaves(rule, "")
        options = {key for key in keys if key.startswith("options.")}
        assert documented(name, _TEXT) == {key.removeprefix("options.") for key in options}, name
        own = documented(name, _REFERENCE)
        assert own | every == keys - options, name


def test_the_page_of_keys_is_what_the_fields_generate() -> None:
    assert write_reference() == _REFERENCE, "run: make generate"


def test_the_example_of_several_files_means_what_the_text_says() -> None:
    values = {
        path: text
        for path, text, _ in describe(
            effective(
                tuple(layer_of(block) for block in _BLOCKS[2:]),
                TableIdentifier.parse("lake.sales.orders"),
                {},
            )
        )
    }
    assert values["mode"] == "enforce"
    assert values["rules.rewrite_data_files.when.average_file_size_below"] == "16MiB"
    assert values["rules.rewrite_data_files.when.small_file_count_above"] == "50"
    assert values["rules.rewrite_manifests.enabled"] == "false"
    assert values["rules.expire_snapshots.max_age"] == "5d"


def test_the_defaults_in_the_tables_are_those_in_force() -> None:
    every_rule = (
        "tables: '*'\nrules: {remove_orphan_files: {}, compute_table_stats: {}, "
        "compute_partition_stats: {}}"
    )
    in_force = {
        path: text
        for path, text, _ in describe(
            effective((layer_of(every_rule),), TableIdentifier.parse("a.b.c"), {})
        )
    }
    checked = 0
    for heading in RuleName:
        section = search(rf"^## {heading}\n(.*?)(?=^##|\Z)", _REFERENCE, DOTALL | MULTILINE)
        assert section is not None
        for key, default in findall(
            r"^\| `([a-z_.]+)` \| [^|]+ \| ([^|]*) \|", section[1], MULTILINE
        ):
            value = fullmatch(r"(\w+)( \(built in\))?", default.strip())
            if value is not None:
                assert in_force[f"rules.{heading}.{key}"] == value[1], f"{heading}.{key}"
                checked += 1
    assert checked == 23
