"""docs/spark-kubernetes.md names the Roles that the launcher needs, and every option."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from maintainer.adapters.spark.launcher.kubernetes.kinds import role
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions, Operator
from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER, EXECUTOR_CONTAINER
from maintainer.app.options import kubernetes_options
from maintainer.domain.errors import ConfigurationError
from maintainer.settings import load_settings
from maintainer.settings.spark.clusters import KubernetesSettings
from tests.project.repository import read_text

PAGE = read_text("docs/spark-kubernetes.md")


BLOCKS = re.findall(r"^```yaml\n(.+?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def documents() -> list[dict[str, Any]]:
    """The objects of Kubernetes that are shown."""
    found = [document for block in BLOCKS for document in yaml.safe_load_all(block)]
    return [document for document in found if "kind" in document]


@pytest.mark.parametrize("operator", Operator)
def test_the_role_of_each_operator_is_shown(operator: Operator) -> None:
    options = KubernetesOptions(namespace="spark-jobs", image="x", operator=operator)
    assert role(options, "maintainer") in documents()


def test_every_binding_binds_a_role_that_is_shown() -> None:
    shown = {document["metadata"]["name"] for document in documents() if document["kind"] == "Role"}
    bound = [document for document in documents() if document["kind"] == "RoleBinding"]
    assert {document["roleRef"]["name"] for document in bound} == shown


def test_the_configuration_that_is_shown_becomes_the_launchers_options(tmp_path: Path) -> None:
    [configuration] = [block for block in BLOCKS if "\n  runner: kubernetes" in block]
    file = tmp_path / "maintainer.yaml"
    file.write_text(configuration)
    spark = load_settings(file, {"STORE_PASSWORD": "secret"}).spark
    assert spark.kubernetes is not None
    assert kubernetes_options(spark.kubernetes) == KubernetesOptions(
        namespace="spark-jobs",
        image="registry.example/maintainer:0.1.0",
        image_pull_secrets=("registry",),
        tolerations=({"key": "spot", "operator": "Exists", "effect": "NoSchedule"},),
        pod_template={"spec": {"volumes": [{"name": "work", "emptyDir": {"sizeLimit": "50Gi"}}]}},
    )


def test_the_pool_that_is_shown_has_a_place_of_its_own(tmp_path: Path) -> None:
    [configuration] = [block for block in BLOCKS if "pools:" in block]
    file = tmp_path / "maintainer.yaml"
    file.write_text(configuration)
    spark = load_settings(file, {}).spark
    assert (spark.runner, spark.link) == ("process", None)
    big = spark.pools["big"].kubernetes
    assert big is not None
    assert (big.node_selector, big.priority_class) == ({"disk": "nvme"}, "maintenance")


def test_every_setting_is_in_the_table() -> None:
    table = PAGE.partition("## Settings")[2].partition("\n## ")[0]
    assert set(KubernetesSettings.model_fields) == {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }


def test_defaults_are_those_of_the_options() -> None:
    options = KubernetesOptions(namespace="x", image="x")
    for name in ("run_as_user", "service_account", "operator"):
        assert f"| `{name}` | `{getattr(options, name)}` |" in PAGE
    for name in ("driver_cores", "driver_overhead", "executor_overhead"):
        assert f"| `{name}` | {getattr(options, name)} |" in PAGE


def test_the_containers_are_named_as_in_the_pods() -> None:
    assert f"`{DRIVER_CONTAINER}`" in PAGE.replace("\n", " ")
    assert f"`{EXECUTOR_CONTAINER}`" in PAGE.replace("\n", " ")


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        next(block for block in BLOCKS if "runner: kubernetes" in block).replace(
            "image_pull_secrets: [registry]", "image_pull_secrets: registry"
        )
    )
    with pytest.raises(ConfigurationError, match="image_pull_secrets must be a list"):
        load_settings(file, {"STORE_PASSWORD": "secret"})


@pytest.mark.parametrize(("written", "user"), [("cluster", None), ("1000", 1000)])
def test_the_cluster_may_choose_the_user(tmp_path: Path, written: str, user: int | None) -> None:
    [configuration] = [block for block in BLOCKS if "runner: kubernetes" in block][:1]
    file = tmp_path / "maintainer.yaml"
    file.write_text(f"{configuration.rstrip()}\n    run_as_user: {written}\n")
    spark = load_settings(file, {"STORE_PASSWORD": "secret"}).spark
    assert spark.kubernetes is not None
    assert spark.kubernetes.run_as_user == user
