"""Requests that Schemathesis makes from the OpenAPI document, valid and not, to the daemon's own
server on a real lake and store.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from maintainer.api.application import build_api
from maintainer.app import open_app
from maintainer.app.api import make_context
from maintainer.app.loop import make_scheduler
from maintainer.domain.access import Role
from maintainer.settings import load_settings
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.adapters.catalog.lake import Lake, rows
from tests.api.listening import listening
from tests.api.people import secret_of

pytestmark = pytest.mark.slow

SCOPES = {"all": "*", "part": "lake.sales"}
NAMES = [f"{role}-{scope}" for role in Role for scope in SCOPES]
RUN_SECONDS = 200
COMMAND = (sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run")
OPTIONS = (
    *(
        "--generation-deterministic",
        "--no-shrink",
        "--no-color",
        "--warnings",
        "off",
        "--max-failures",
        "20",
        # Python before 3.11.8 fails where two threads parse at once ("AST constructor recursion
        # depth mismatch").
        "--workers",
        "1",
    ),
    *("--exclude-path-regex", "/events$"),  # streams until the job is over
    *(
        "--exclude-checks",
        "positive_data_acceptance",
    ),  # a schema cannot say which cursors, versions and policy texts there are
)
# Schemathesis' own list of refusals lacks those of the guard: a query that is too long, and a host.
CONFIG = """\
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "421", "422",
  "429", "5xx"]
"""


@contextmanager
def daemon(directory: Path, *, has_tokens: bool) -> Iterator[str]:
    """The daemon's API, with one table that is measured and planned; nothing is submitted to
    Spark.
    """
    lake = Lake(directory)
    table = lake.make_table("sales", "orders")  # as the document's examples name it
    for _ in range(3):
        table.append(rows(1))
    (directory / "policies").mkdir()
    text = (
        "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}}\nscan: "
        "{decode_processes: 0}\n"
    )
    file = directory / "maintainer.yaml"
    tokens = {
        name: {
            "token": secret_of(name),
            "role": name.split("-")[0],
            "on": [SCOPES[name.split("-")[1]]],
        }
        for name in NAMES
    }
    # A generated request may hold any credentials: they are refused, and counted.
    auth = {"tokens": tokens, "failed_sign_ins_per_minute": 10_000}
    file.write_text(text + (json.dumps({"auth": auth})[1:-1] + "\n" if has_tokens else ""))
    with open_app(load_settings(file, {})) as app:
        scan(app.ports)
        plan(app.ports)
        with listening(build_api(make_context(app, make_scheduler(app))), app.stopping) as served:
            yield served.address
    lake.close()


def send_generated(address: str, cwd: Path, *options: str) -> None:
    (cwd / "schemathesis.toml").write_text(CONFIG)
    done = subprocess.run(
        [*COMMAND, f"{address}/openapi.json", *OPTIONS, *options],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
    assert "Tested: " in done.stdout
    assert " generated" in done.stdout


def test_no_generated_request_gets_an_answer_that_the_document_does_not_have(
    tmp_path: Path,
) -> None:
    with daemon(tmp_path, has_tokens=False) as address:
        send_generated(
            address, tmp_path, "--phases", "examples,coverage,fuzzing", "--max-examples", "2"
        )


def test_nor_with_any_role_or_without_one(tmp_path: Path) -> None:
    with daemon(tmp_path, has_tokens=True) as address:
        send_generated(address, tmp_path, "--phases", "examples,fuzzing", "--max-examples", "1")
        for name in NAMES:
            header = f"Authorization: Bearer {secret_of(name)}"
            # On all tables: what a role may do there is the most that it may do.
            phases = "examples,coverage,fuzzing" if name.endswith("-all") else "examples"
            options = ("--phases", phases, "--max-examples", "1")
            send_generated(address, tmp_path, *options, "--header", header)
