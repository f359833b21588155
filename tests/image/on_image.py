"""The container images, run as a strict cluster runs them: no network, no capabilities, a read-only
root, as their own user and as any other.

CONTAINERS is docker or podman with its options, CONTAINER_OPTIONS more options of its `run`, and
IMAGE the name of the images, whose tags are the targets of the Dockerfile.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.end_to_end.programs import wait_for

pytestmark = pytest.mark.timeout(900)

STRICT = [
    "--network=none",
    "--read-only",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--tmpfs=/tmp:rw,exec,mode=1777",
]
USERS = {"own": [], "any": ["--user=1000730000:0"]}
CONFIGURATION = """\
catalogs:
  lake: {type: sql, uri: 'sqlite:////var/lib/maintainer/catalog.db', warehouse: '/tmp/warehouse'}
"""
COMPILED = """
import importlib.util, json, pathlib, sys
for module in ("json", *sys.argv[1:]):
    source = importlib.util.find_spec(module).origin
    assert pathlib.Path(importlib.util.cache_from_source(source)).is_file(), source
"""


@pytest.fixture
def state(tmp_path: Path) -> str:
    """The option for a volume that every user may write, as a cluster's empty volumes are."""
    directory = tmp_path / "state"
    directory.mkdir()
    directory.chmod(0o777)
    return f"--volume={directory}:/var/lib/maintainer"


def containers(*arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    command = [*shlex.split(os.environ["CONTAINERS"]), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)


def options() -> list[str]:
    return [*STRICT, *shlex.split(os.environ.get("CONTAINER_OPTIONS", ""))]


def run(
    target: str,
    *arguments: str,
    user: str = "own",
    entry: str = "",
    volume: str = "",
    seconds: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a container to its end."""
    chosen = [volume] if volume else []
    chosen += [f"--entrypoint={entry}"] if entry else []
    image = f"{os.environ['IMAGE']}:{target}"
    begin = ["run", "--rm", *options(), *USERS[user], *chosen]
    return containers(*begin, image, *arguments, seconds=seconds)


@pytest.fixture
def name() -> Iterator[str]:
    """A container's name; the container ends with the test."""
    name = f"maintainer-check-{uuid4().hex[:8]}"
    yield name
    containers("rm", "--force", name)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("target", ["full", "slim"])
def test_the_daemon_serves_and_ends_in_order(
    target: str, user: str, name: str, state: str, tmp_path: Path
) -> None:
    (tmp_path / "conf").mkdir(mode=0o755)
    (tmp_path / "conf" / "maintainer.yaml").write_text(CONFIGURATION)
    chosen = [*USERS[user], state, f"--volume={tmp_path}/conf:/etc/maintainer:ro"]
    image = f"{os.environ['IMAGE']}:{target}"
    begun = containers("run", "--detach", f"--name={name}", *options(), *chosen, image)
    assert begun.returncode == 0, begun.stderr
    inspected = containers("image", "inspect", "--format={{json .Config.Healthcheck}}", image)
    kind, *command = json.loads(inspected.stdout)["Test"]
    assert kind == "CMD"
    wait_for(
        lambda: containers("exec", name, *command).returncode == 0,
        90,
        f"the daemon; it said {containers('logs', name).stderr}",
    )
    found = containers("exec", name, "test", "-f", "/var/lib/maintainer/maintainer.db")
    assert found.returncode == 0, "the default store lies on the volume"
    assert containers("exec", name, "cat", "/proc/1/comm").stdout == "tini\n"
    assert containers("stop", "--time=60", name).returncode == 0
    ended = containers("inspect", "--format={{.State.ExitCode}}", name)
    assert ended.stdout.strip() == "0", containers("logs", name).stderr


@pytest.mark.parametrize("user", USERS)
def test_jobs_run_on_the_spark_of_the_full_image(user: str, state: str) -> None:
    done = run("full", "demo", "--once", user=user, volume=state, seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "succeeded" in done.stdout


def test_drivers_and_executors_start_by_sparks_own_arguments() -> None:
    for target in ("full", "spark"):
        executor = run(target, "executor")
        assert "Spark did not set SPARK_EXECUTOR_MEMORY" in executor.stderr, executor
        driver = run(target, "driver", "--properties-file", "/opt/spark/conf/spark.properties")
        assert driver.returncode != 0
        assert "maintainer/adapters/spark/driver" in driver.stderr, driver


def test_each_image_holds_what_it_is_for() -> None:
    wanted = {"full": (True, True), "slim": (False, True), "spark": (True, False)}
    for target, (has_spark, has_daemon) in wanted.items():
        assert (run(target, "-version", entry="java").returncode == 0) is has_spark
        assert (run(target, "-c", "import pyspark", entry="python").returncode == 0) is has_spark
        assert (run(target, "--help", entry="maintainer").returncode == 0) is has_daemon


@pytest.mark.parametrize(
    ("target", "modules"),
    [("full", ("pyspark", "fastapi")), ("slim", ("fastapi",)), ("spark", ("pyspark",))],
)
def test_nothing_is_compiled_at_run_time(target: str, modules: tuple[str, ...]) -> None:
    done = run(target, "-c", COMPILED, "maintainer", *modules, entry="python")
    assert done.returncode == 0, done.stderr
