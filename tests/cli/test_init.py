"""`maintainer init`: by options, by questions, and what it refuses."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.cli import commands
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Mode
from maintainer.policy.effective import effective
from maintainer.settings import load_settings
from tests.adapters.catalog.lake import Lake, rows


def init(home: Path, *words: str) -> Result:
    return CliRunner().invoke(
        commands.application, ["init", "--config", str(home / "maintainer.yaml"), *words]
    )


def init_sql(home: Path, *words: str) -> Result:
    return init(
        home,
        "--catalog",
        "lake",
        "--type",
        "sql",
        "--uri",
        "sqlite:///catalog.db",
        "--warehouse",
        "warehouse",
        *words,
    )


def test_what_options_say_is_what_is_loaded(tmp_path: Path) -> None:
    properties = (
        "--property",
        "token=${LAKE_TOKEN}",
        "--property",
        "header.x-name=a: b # c",
        "--property",
        "s3.region=true",
    )
    done = init(
        tmp_path,
        "--catalog",
        "lake",
        "--uri",
        "https://catalog.example/",
        "--warehouse",
        "main",
        *properties,
    )
    assert done.exit_code == 0, done.stderr
    assert "warning: set the environment variable LAKE_TOKEN" in done.stderr
    settings = load_settings(tmp_path / "maintainer.yaml", {"LAKE_TOKEN": "geheim"})
    assert settings.catalogs["lake"].properties == {
        "type": "rest",
        "uri": "https://catalog.example/",
        "warehouse": "main",
        "token": "geheim",
        "header.x-name": "a: b # c",
        "s3.region": "true",
    }


def test_the_first_policy_is_valid_and_only_observes(tmp_path: Path) -> None:
    assert init_sql(tmp_path).exit_code == 0
    policies = PolicyDirectory(load_settings(tmp_path / "maintainer.yaml", {}).policies).current()
    assert policies.problems == ()
    policy = effective(policies, TableIdentifier.parse("lake.sales.orders"), {})
    assert policy.mode is Mode.OBSERVE
    assert len(policies.layers) == 1


def test_a_catalog_that_answers_is_reported_and_one_that_does_not_is_a_warning(
    tmp_path: Path,
) -> None:
    missing = init_sql(tmp_path)
    assert (missing.exit_code, "warning: catalog lake cannot be reached" in missing.stderr) == (
        0,
        True,
    )
    (tmp_path / "maintainer.yaml").unlink()
    lake = Lake(tmp_path)
    lake.make_table("sales", "orders").append(rows(1))
    lake.close()
    found = init_sql(tmp_path)
    assert found.exit_code == 0
    assert "catalog lake answers, with 1 namespace at the top level." in found.stderr
    assert "kept" in found.stdout, "the policy of the first time stays"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "maintainer.yaml").write_text("mine\n")
    done = init_sql(tmp_path)
    assert (done.exit_code, f"{tmp_path}/maintainer.yaml exists already" in done.stderr) == (
        2,
        True,
    )
    assert (tmp_path / "maintainer.yaml").read_text() == "mine\n"
    assert not (tmp_path / "policies").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is no terminal for questions; give --catalog and --uri"),
        (("--catalog", "lake"), "catalog lake of type rest needs an address; give --uri"),
        (
            ("--catalog", "a.b", "--uri", "http://x"),
            "catalogs has a catalog 'a.b'; a name is 1 to 100 letters",
        ),
        (
            ("--catalog", "lake", "--uri", "http://x", "--property", "token"),
            "--property 'token' is not understood",
        ),
        (
            ("--catalog", "lake", "--uri", "http://x", "--property", "token=geheim"),
            "property token is a secret",
        ),
        (
            ("--catalog", "lake", "--uri", "postgresql://ada:geheim@db/x", "--type", "sql"),
            "property uri is a secret",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = init(tmp_path, *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "geheim" not in done.output
    assert list(tmp_path.iterdir()) == []


def ask(home: Path, answers: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a terminal in which these answers are typed."""
    ours, theirs = pty.openpty()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MAINTAINER_")
    }
    try:
        os.write(ours, answers.encode())
        return subprocess.run(
            [sys.executable, "-c", "from maintainer.cli import main; main()", "init"],
            stdin=theirs,
            capture_output=True,
            cwd=home,
            env=environment,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.slow
def test_a_wrong_answer_is_refused_at_once_and_asked_for_again(tmp_path: Path) -> None:
    done = ask(
        tmp_path,
        "my lake\nsea\npostgres\nrest\nlocalhost:8181\nhttps://ada:geheim@x/\n"
        "http://127.0.0.1:1/\nmain\neyJ-geheim.x\nSEA_TOKEN\n",
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if "Error: " in line]
    assert [line.split("Error: ")[1].split(";")[0] for line in errors] == [
        "'my lake' is no name of a catalog",
        "'postgres' is no type that this command offers",
        "'localhost:8181' is no address of a catalog of type rest",
        "property uri is a secret and must not be in the file",
        "the answer is no name of a variable",
    ]
    assert "geheim" not in done.stdout + (tmp_path / "maintainer.yaml").read_text()
    properties = load_settings(tmp_path / "maintainer.yaml", {"SEA_TOKEN": "x"}).catalogs["sea"]
    assert (properties.properties["type"], properties.properties["token"]) == ("rest", "x")


@pytest.mark.slow
def test_a_person_is_asked_for_what_the_options_leave_open(tmp_path: Path) -> None:
    done = ask(tmp_path, "sea\nrest\nhttp://127.0.0.1:1/\nmain\nSEA_TOKEN\n")
    assert done.returncode == 0, done.stderr
    assert "Name of the catalog [lake]:" in done.stderr
    settings = load_settings(tmp_path / "maintainer.yaml", {"SEA_TOKEN": "x"})
    assert settings.catalogs["sea"].properties == {
        "type": "rest",
        "uri": "http://127.0.0.1:1/",
        "warehouse": "main",
        "token": "x",
    }


def test_init_then_scan_needs_nothing_between_them(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.make_table("sales", "orders").append(rows(1))
    lake.close()
    assert init_sql(tmp_path).exit_code == 0
    done = CliRunner().invoke(
        commands.application,
        ["scan", "--config", str(tmp_path / "maintainer.yaml"), "--format", "json"],
    )
    assert done.exit_code == 0, done.stderr
    assert '"table": "lake.sales.orders"' in done.stdout
