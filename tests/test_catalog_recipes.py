"""Every recipe of docs/catalogs.md, and each catalog of docs/spark.md, is a valid configuration
that Spark can be given too.
"""

from __future__ import annotations

from pathlib import Path
from re import DOTALL, findall

import pytest

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.settings import load_settings
from tests.project.repository import read_text

_RECIPES = [
    block
    for page in ("docs/catalogs.md", "docs/spark.md")
    for block in findall(r"```yaml\n(.*?)```", read_text(page), DOTALL)
    if block.startswith("catalogs:")
]


def test_there_is_a_recipe_for_each_kind_of_catalog() -> None:
    kinds = {kind for recipe in _RECIPES for kind in findall(r"type: (\w+)", recipe)}
    assert kinds >= {"sql", "rest", "hive", "glue", "dynamodb", "bigquery", "nessie"}


def test_there_is_a_recipe_for_each_storage() -> None:
    schemes = {scheme for recipe in _RECIPES for scheme in findall(r"warehouse: (\w+)://", recipe)}
    assert schemes >= {"file", "s3", "hdfs", "gs", "abfss", "oss"}


@pytest.mark.parametrize("recipe", _RECIPES, ids=range(len(_RECIPES)))
def test_a_recipe_can_be_loaded_and_translated_for_spark(recipe: str, tmp_path: Path) -> None:
    file = tmp_path / "maintainer.yaml"
    file.write_text(recipe, encoding="utf-8")
    environ = dict.fromkeys(findall(r"\$\{(\w+)\}", recipe), "secret")
    settings = load_settings(file, environ)
    for name, catalog in settings.catalogs.items():
        translated = spark_configuration(name, catalog.properties, catalog.spark)
        assert {
            f"spark.sql.catalog.{name}.type",
            f"spark.sql.catalog.{name}.catalog-impl",
        } & translated.keys()
