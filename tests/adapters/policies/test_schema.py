from __future__ import annotations

import json
from pathlib import Path
from re import search

import pytest

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.model import PolicyModel, policy_schema, write_policy_schema
from maintainer.adapters.policies.validation import inner_model
from maintainer.domain.metric import Metric
from maintainer.domain.option import REWRITE_DATA_FILES_OPTIONS
from maintainer.domain.policy import RuleName

_ROOT = Path(__file__).parents[3]
_EXAMPLES = sorted((_ROOT / "policies").glob("*.yaml"))


def test_the_committed_schema_is_the_models() -> None:
    assert (_ROOT / "policies" / "schema.json").read_text("utf-8") == write_policy_schema(), (
        "write it anew with `maintainer policies schema`"
    )


def test_the_examples_are_all_there_and_valid() -> None:
    assert [path.name for path in _EXAMPLES] == [
        "append-only.yaml",
        "cdc-merge.yaml",
        "cold.yaml",
        "default.yaml",
        "streaming.yaml",
    ]
    current = PolicyDirectory(_ROOT / "policies").current()
    assert current.problems == ()
    assert len(current.layers) == len(_EXAMPLES)


@pytest.mark.parametrize("path", _EXAMPLES, ids=lambda path: path.name)
def test_an_example_names_its_schema_for_editors(path: Path) -> None:
    assert path.read_text("utf-8").splitlines()[0] == "# yaml-language-server: $schema=schema.json"


def test_every_rule_and_every_threshold_of_the_domain_has_its_key() -> None:
    rules = inner_model(PolicyModel.model_fields["rules"].annotation)
    assert rules is not None
    assert list(rules.model_fields) == [str(name) for name in RuleName]
    models = [
        model
        for field in rules.model_fields.values()
        if (model := inner_model(field.annotation)) is not None
    ]
    whens = [
        when
        for model in models
        if "when" in model.model_fields
        and (when := inner_model(model.model_fields["when"].annotation)) is not None
    ]
    assert {key for when in whens for key in when.model_fields} == {metric.key for metric in Metric}


def test_every_key_is_described_and_no_object_is_open() -> None:
    schema = policy_schema()
    for name, definition in {"policy": schema, **schema["$defs"]}.items():
        if definition["type"] == "object":
            assert definition["additionalProperties"] is False, name
            assert search(r"\w{3}", definition["description"]), name
            for key, field in definition["properties"].items():
                assert "description" in field or "$ref" in field, f"{name}.{key}"
    assert set(schema["$defs"]["RewriteDataFilesOptions"]["properties"]) == set(
        REWRITE_DATA_FILES_OPTIONS
    )


def test_the_schema_never_allows_null() -> None:
    assert "null" not in json.dumps(policy_schema())
