"""`maintainer doctor`: what it checks, what it needs, and that nothing keeps it waiting."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.spark import prerequisites
from maintainer.adapters.spark.prerequisites import Finding, find_prerequisites, refuse_missing
from maintainer.adapters.store import open_store
from maintainer.cli import commands
from maintainer.cli.setup import diagnose
from maintainer.cli.setup.diagnose import Check, run_checks
from maintainer.domain.driver import SparkFacts
from maintainer.domain.errors import MaintainerError, RunnerUnavailableError
from tests.adapters.spark.launcher.yarn.small_manager import serve_manager
from tests.adapters.store.values import NOW

LONG = 30.0  # seconds: more than any of these checks takes


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Spark and the page are there, also on a machine without them."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<html>")
    monkeypatch.setattr(diagnose, "PAGE_DIRECTORY", page)
    monkeypatch.setattr(
        diagnose, "find_prerequisites", lambda *_, **__: iter([("Java", True, "Java 21")])
    )


def examine(*words: str, home: Path) -> Result:
    configuration = home / "maintainer.yaml"
    return CliRunner().invoke(
        commands.application,
        ["doctor", "--config", str(configuration), *words],
        env={"COLUMNS": "100"},
    )


def write_configuration(home: Path, more: str = "") -> None:
    (home / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{home}/catalog.db', warehouse: "
        f"'file://{home}'}}}}\n{more}"
    )


def findings_of(result: Result) -> dict[str, tuple[bool, str]]:
    return {one["what"]: (one["is_fine"], one["finding"]) for one in json.loads(result.stdout)}


@pytest.mark.usefixtures("healthy")
def test_without_a_policies_folder_every_table_is_observed_and_that_is_fine(tmp_path: Path) -> None:
    write_configuration(tmp_path)
    is_fine, sentence = findings_of(examine("--format", "json", home=tmp_path))["policies"]
    assert (is_fine, sentence) == (
        True,
        f"no directory {tmp_path}/policies: every table is observed, and none is changed",
    )


@pytest.mark.usefixtures("healthy")
def test_a_policies_folder_that_was_named_and_is_not_there_is_not_fine(tmp_path: Path) -> None:
    write_configuration(tmp_path, "policies: ./polices\n")
    found = findings_of(examine("--format", "json", home=tmp_path))
    assert found["policy"][0] is False
    assert "polices cannot be read (No such file or directory)" in found["policy"][1]


@pytest.mark.usefixtures("healthy")
def test_without_a_configuration_it_says_so_and_checks_what_needs_none(tmp_path: Path) -> None:
    result = examine("--format", "json", home=tmp_path)
    assert result.exit_code == 1
    found = findings_of(result)
    assert set(found) == {"configuration", "Java", "web page"}
    assert found["configuration"][0] is False
    assert found["configuration"][1].startswith(
        f"there is no configuration file {tmp_path}/maintainer.yaml"
    )
    assert found["Java"] == (True, "Java 21")


@pytest.mark.usefixtures("healthy")
def test_a_broken_configuration_is_one_of_the_findings(tmp_path: Path) -> None:
    (tmp_path / "maintainer.yaml").write_text("catalog: {lake: {}}\n")
    found = findings_of(examine("--format", "json", home=tmp_path))
    assert "unknown key 'catalog', did you mean 'catalogs'?" in found["configuration"][1]
    assert found["Java"][0]


@pytest.mark.usefixtures("healthy")
def test_a_store_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    write_configuration(tmp_path)
    assert findings_of(examine("--format", "json", home=tmp_path))["store"] == (
        True,
        f"it does not exist yet; the first scan creates it in {tmp_path}",
    )
    assert not (tmp_path / "maintainer.db").exists()
    write_configuration(tmp_path, "store: sqlite:///nowhere/maintainer.db\n")
    is_fine, sentence = findings_of(examine("--format", "json", home=tmp_path))["store"]
    assert (is_fine, f"{tmp_path}/nowhere is not a directory" in sentence) == (False, True)


@pytest.mark.usefixtures("healthy")
def test_a_store_that_cannot_be_read_hides_no_other_finding(tmp_path: Path) -> None:
    write_configuration(tmp_path)
    (tmp_path / "maintainer.db").write_text(
        "this is no database, but a text that is long enough to be looked at as one"
    )
    found = findings_of(examine("--format", "json", home=tmp_path))
    assert (found["store"][0], found["policies"][0], "catalog lake" in found) == (False, True, True)


@pytest.mark.usefixtures("healthy")
def test_a_row_is_a_name_a_state_and_a_sentence_that_hangs_beside_them(tmp_path: Path) -> None:
    write_configuration(tmp_path)
    lines = examine(home=tmp_path).stdout.splitlines()
    assert "Java            ok      Java 21" in lines
    at = next(
        number
        for number, line in enumerate(lines)
        if line.startswith("catalog lake    FAILED  catalog lake cannot be reached")
    )
    assert lines[at + 1].startswith(" " * 24)


def test_a_finding_is_noted_while_other_checks_still_run() -> None:
    release, noted = Event(), []

    def wait() -> Iterator[Finding]:
        yield "slow", release.wait(LONG), "the quick one was noted first"

    def note(finding: Finding) -> None:
        noted.append(finding)
        release.set()

    run_checks([Check("slow", wait), Check("quick", lambda: [("quick", True, "here")])], LONG, note)
    assert noted == [("quick", True, "here"), ("slow", True, "the quick one was noted first")]


def test_a_check_without_an_answer_in_time_is_a_finding() -> None:
    forever, noted = Event(), list[Finding]()

    def hang() -> Iterator[Finding]:
        yield "store", True, "its first finding"
        forever.wait(LONG)

    run_checks([Check("store", hang)], 0.2, noted.append)
    forever.set()
    assert noted == [
        ("store", True, "its first finding"),
        ("store", False, "no answer within 0.2 s"),
    ]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MaintainerError("no access"), "no access"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    ],
)
def test_a_check_that_fails_hides_no_other(error: Exception, sentence: str) -> None:
    def fail() -> list[Finding]:
        raise error

    noted = list[Finding]()
    run_checks(
        [Check("bad", fail), Check("good", lambda: [("good", True, "fine")])], LONG, noted.append
    )
    assert sorted(noted) == [("bad", False, sentence), ("good", True, "fine")]


@pytest.mark.slow
def test_a_catalog_that_never_answers_does_not_keep_the_process(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (tmp_path / "maintainer.yaml").write_text(
            f"catalogs: {{lake: {{type: rest, uri: "
            f"'http://127.0.0.1:{silent.getsockname()[1]}'}}}}\n"
        )
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MAINTAINER_")
        }
        program = [
            sys.executable,
            "-c",
            "from maintainer.cli import main; main()",
            "doctor",
            "--deadline",
            "1s",
        ]
        done = subprocess.run(
            program,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    shown = " ".join(done.stdout.split())  # lines are broken at the terminal's width
    assert (
        "catalog lake FAILED no answer within 1 s to the attempt to reach the catalog. To fix: "
        "check the address of the server"
    ) in shown
    assert "Traceback" not in done.stderr


def test_everything_that_spark_lacks_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prerequisites, "find_java", refuse_java)
    found = list(find_prerequisites(None, tmp_path))
    assert [what for what, is_there, _ in found if not is_there] == ["Java", "Spark jars"]
    refuse_missing([finding for finding in found if finding[1]])
    with pytest.raises(
        RunnerUnavailableError,
        match=r"(?s)^Java: none here\nSpark jars: jar iceberg-spark-runtime.* is missing in .*; "
        r"fetch it with: ",
    ):
        refuse_missing(found)


def refuse_java(*_: object) -> None:
    message = "none here"
    raise RunnerUnavailableError(message)


@pytest.mark.usefixtures("healthy")
def test_what_the_last_driver_reported_is_named_with_what_it_forbids(
    tmp_path: Path,
) -> None:
    write_configuration(tmp_path, f"store: sqlite:///{tmp_path}/store.db\n")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    assert "Spark driver" not in findings_of(examine("--format", "json", home=tmp_path))
    facts = SparkFacts(NOW, "s", "4.1.4", "2.13.17", "21.0.8", "1.12.0", {"lake": ""})
    store.record_spark_facts(facts)
    found = findings_of(examine("--format", "json", home=tmp_path))
    versions = f"Spark 4.1.4, Scala 2.13.17, Java 21.0.8, Iceberg 1.12.0 (at {NOW:%F %T} UTC)"
    assert found["Spark driver"] == (True, versions)
    assert "catalog lake in Spark" not in found
    worse = replace(facts, spark="3.4.3", iceberg="1.9.2", catalogs={"lake": "refused"})
    store.record_spark_facts(worse)
    found = findings_of(examine("--format", "json", home=tmp_path))
    is_fine, said = found["Spark driver"]
    assert not is_fine
    assert said.endswith("Spark's driver runs Spark 3.4.3; jobs need 3.5 or newer")
    assert found["catalog lake in Spark"] == (False, "Spark could not load it: refused")
    assert found["rule expire_snapshots"][0]
    assert found["rule expire_snapshots"][1].startswith("restricted: before Iceberg 1.10 ")
    store.close()


@pytest.mark.usefixtures("healthy")
def test_with_pods_the_cluster_is_asked_and_not_this_machine(tmp_path: Path) -> None:
    write_configuration(
        tmp_path,
        "spark: {runner: kubernetes, link: {port: 8090, authority: no.pem}, kubernetes: "
        "{namespace: jobs, image: i, kubeconfig: none}}\n",
    )
    found = findings_of(examine("--format", "json", home=tmp_path))
    assert "Java" not in found
    is_fine, sentence = found["Kubernetes"]
    assert not is_fine
    assert f"{tmp_path}/none" in sentence
    assert found["link"] == (False, f"spark.link.authority {tmp_path}/no.pem cannot be read")


@pytest.mark.usefixtures("healthy")
def test_the_address_that_drivers_poll_is_named(tmp_path: Path) -> None:
    write_configuration(tmp_path, "spark: {link: {port: 8123}}\n")
    found = findings_of(examine("--format", "json", home=tmp_path))
    assert found["link"] == (True, "drivers poll http://127.0.0.1:8123")


@pytest.mark.usefixtures("healthy")
def test_on_yarn_the_resource_manager_and_the_queue_are_asked(tmp_path: Path) -> None:
    with serve_manager() as manager:
        write_configuration(
            tmp_path,
            "spark: {runner: yarn, link: {port: 8123}, yarn: {resource_manager: "
            f"'{manager.url}', queue: old, hadoop_conf_dir: none}}}}\n",
        )
        found = findings_of(examine("--format", "json", home=tmp_path))
    assert found["YARN"] == (True, "resource manager 3.4.2 answers")
    assert found["YARN queue old"] == (False, "it is stopped and accepts no applications")
    assert found["Hadoop's configuration"] == (
        False,
        f"there is no yarn-site.xml in {tmp_path}/none",
    )
