"""docs/spark-yarn.md shows a configuration that works, and every option."""

from __future__ import annotations

import re
from pathlib import Path

from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.launcher.yarn.submission import submit_settings
from maintainer.adapters.spark.options import Executors
from maintainer.app.options import runner_options, yarn_options
from maintainer.domain.pool import JobSize
from maintainer.settings import Settings, load_settings
from maintainer.settings.spark.clusters import YarnSettings
from tests.adapters.spark.launcher.yarn.test_launcher import spec_of
from tests.project.repository import read_text

PAGE = read_text("docs/spark-yarn.md")
[BLOCK] = re.findall(r"^```yaml\n(.+?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def load(directory: Path) -> Settings:
    file = directory / "maintainer.yaml"
    file.write_text(BLOCK)
    return load_settings(file, {"STORE_PASSWORD": "secret"})


def test_the_configuration_that_is_shown_becomes_the_launchers_options(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.spark.yarn is not None
    assert yarn_options(settings.spark.yarn) == YarnOptions(
        resource_managers=("http://rm1.example:8088", "http://rm2.example:8088"),
        hadoop_conf_dir=Path("/etc/hadoop/conf"),
        queue="maintenance",
        user="maintainer",
    )
    options = runner_options(settings)
    assert options.driver_of(JobSize.LARGE).executors == Executors(16, "16384m", 4)
    submitted = submit_settings(spec_of("spark-1"), options, YarnOptions(("http://rm:8088",)), [])
    assert submitted["spark.yarn.archive"] == "hdfs:///spark/spark-4.1-jars.zip"
    assert submitted["spark.authenticate"] == "true"


def test_every_setting_is_in_the_table() -> None:
    table = PAGE.partition("## Settings")[2].partition("\n## ")[0]
    assert set(YarnSettings.model_fields) == {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }


def test_defaults_are_those_of_the_options() -> None:
    options = YarnOptions(("http://rm:8088",))
    for name in ("queue", "python"):
        assert f"| `{name}` | `{getattr(options, name)}` |" in PAGE
    for name in ("driver_cores", "driver_overhead", "executor_overhead"):
        assert f"| `{name}` | {getattr(options, name)} |" in PAGE
