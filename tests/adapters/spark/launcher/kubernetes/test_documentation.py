"""docs/spark-kubernetes.md: its Roles are what the launcher needs, and its table names each option."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
import yaml

from maintainer.adapters.spark.launcher.kubernetes.kinds import role
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Operator
from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER, EXECUTOR_CONTAINER
from tests.project.repository import read_text

PAGE = read_text("docs/spark-kubernetes.md")


def documents() -> list[dict[str, Any]]:
    blocks = re.findall(r"^```yaml\n(.+?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    return [document for block in blocks for document in yaml.safe_load_all(block)]


@pytest.mark.parametrize("operator", Operator)
def test_the_role_of_each_operator_is_shown(operator: Operator) -> None:
    options = KubernetesOptions(namespace="spark-jobs", image="x", operator=operator)
    assert role(options, "maintainer") in documents()


def test_every_binding_binds_a_role_that_is_shown() -> None:
    shown = {document["metadata"]["name"] for document in documents() if document["kind"] == "Role"}
    bound = [document for document in documents() if document["kind"] == "RoleBinding"]
    assert {document["roleRef"]["name"] for document in bound} == shown


def test_every_option_is_in_the_table() -> None:
    table = PAGE.partition("## Options")[2].partition("##")[0]
    assert {field.name for field in fields(KubernetesOptions)} == {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }


def test_defaults_are_those_of_the_options() -> None:
    options = KubernetesOptions(namespace="x", image="x")
    for name in ("run_as_user", "service_account", "spark_version", "operator"):
        assert f"| `{name}` | `{getattr(options, name)}` |" in PAGE
    for name in ("driver_cores", "driver_overhead", "executor_overhead"):
        assert f"| `{name}` | {getattr(options, name)} |" in PAGE


def test_the_containers_are_named_as_in_the_pods() -> None:
    assert f"`{DRIVER_CONTAINER}`" in PAGE.replace("\n", " ")
    assert f"`{EXECUTOR_CONTAINER}`" in PAGE.replace("\n", " ")
