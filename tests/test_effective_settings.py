"""The settings as a list for people: what is set, what is a default, and no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from maintainer.app.api import list_settings
from maintainer.settings import load_settings
from tests.secretive import SECRET, SECRETIVE_SETTINGS

LAKE = "catalogs: {lake: {type: rest, uri: 'https://catalog.example/'}}\n"


def write(tmp_path: Path, text: str, **environ: str) -> dict[str, tuple[str | None, bool]]:
    file = tmp_path / "maintainer.yaml"
    file.write_text(text)
    found = list_settings(load_settings(file, environ))
    assert len({each.name for each in found}) == len(found)
    return {each.name: (each.value, each.is_default) for each in found}


def test_a_setting_is_a_default_until_the_file_or_the_environment_sets_it(tmp_path: Path) -> None:
    text = f"{LAKE}scan: {{workers: 8}}\nserver: {{hosts: [a.test, b.test]}}\n"
    found = write(tmp_path, text, MAINTAINER_PLAN__INTERVAL="7s")
    assert found["catalogs.lake.uri"] == ("https://catalog.example/", False)
    assert found["scan.workers"] == ("8", False)  # set, though to the same value
    assert found["plan.interval"] == ("7s", False)
    assert found["server.hosts"] == ("a.test, b.test", False)
    assert found["auth.open_metrics"] == ("false", True)
    assert found["scan.interval"] == ("5m", True)
    assert found["tracing"] == (None, True)


def test_a_path_that_is_resolved_is_still_a_default(tmp_path: Path) -> None:
    found = write(tmp_path, LAKE, STATE_DIRECTORY=str(tmp_path / "state"))
    assert found["store"] == (f"sqlite:///{tmp_path}/state/maintainer.db", True)
    assert found["policies"] == (f"{tmp_path}/policies", True)
    assert found["spark.run_dir"] == (f"{tmp_path}/state/run", True)
    assert write(tmp_path, f"{LAKE}policies: rules\n")["policies"] == (f"{tmp_path}/rules", False)


def test_no_field_shows_its_secret(tmp_path: Path) -> None:
    found = write(tmp_path, SECRETIVE_SETTINGS)
    assert not {name: value for name, (value, _) in found.items() if SECRET in (value or "")}
    assert found["store"] == ("postgresql://user:***@host/db", False)
    assert found["tracing.headers.X-Plain"] == ("***", False)
    assert found["spark.conf.spark.driver.extraJavaOptions"] == ("-DtrustPassword=*** -Da=b", False)


@pytest.mark.parametrize("name", ["catalogs.lake.uri", "tracing.headers.X-Plain", "store"])
def test_a_hidden_value_keeps_its_name(tmp_path: Path, name: str) -> None:
    assert "***" in (write(tmp_path, SECRETIVE_SETTINGS)[name][0] or "")
