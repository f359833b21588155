"""The definition of policies that are resources, as an API server wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from helm.generator.definition import policy_definition
from maintainer.adapters.policies.kubernetes import read_layer
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer
from tests.adapters.policies.resources import write_resource
from tests.project.repository import ROOT

# https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
# #specifying-a-structural-schema, as far as this schema uses it
ALLOWED = {
    "description", "enum", "format", "items", "maxItems", "maximum", "maxLength", "minItems",
    "minimum", "minLength", "pattern", "properties", "required", "type",
    "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
}  # fmt: skip
[VERSION] = policy_definition()["spec"]["versions"]
SCHEMA: dict[str, Any] = VERSION["schema"]["openAPIV3Schema"]
EXAMPLES = sorted(
    path for path in (ROOT / "policies").glob("*.yaml") if path.name != "default.yaml"
)


def find_faults(schema: dict[str, Any], at: str = "") -> Iterator[str]:
    """What a structural schema does not allow."""
    if ("type" in schema) is ("x-kubernetes-int-or-string" in schema):
        yield f"{at}: one of type and int-or-string"
    if schema.keys() - ALLOWED:
        yield f"{at}: {sorted(schema.keys() - ALLOWED)}"
    for name, part in schema.get("properties", {}).items():
        yield from find_faults(part, f"{at}.{name}")
    if "items" in schema:
        yield from find_faults(schema["items"], f"{at}[]")


def test_the_schema_is_structural() -> None:
    assert list(find_faults(SCHEMA)) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_of_a_file_is_a_resource_too(path: Any) -> None:
    spec = yaml.safe_load(path.read_text())
    tables = spec["tables"]
    spec["tables"] = [tables] if isinstance(tables, str) else tables
    resource = write_resource(path.stem, spec)
    assert list(Draft202012Validator(SCHEMA).iter_errors(resource)) == []
    assert isinstance(read_layer("team", resource, [TablePattern("*")]), PolicyLayer)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tables": []},
        {"mode": "enforced"},
        {"target_file_size": "large"},
        {"rollback_for": "never"},
        {"rules": {"rewrite_data_files": {"options": {"rewrite-job-order": "none-such"}}}},
    ],
)
def test_a_wrong_value_is_refused(wrong: dict[str, Any]) -> None:
    resource = write_resource("wrong", {"tables": ["lake.sales.*"]} | wrong)
    assert not Draft202012Validator(SCHEMA).is_valid(resource)
