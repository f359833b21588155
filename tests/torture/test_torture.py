"""The torture run in short: a real Spark for the writers, the real daemon with its own, PostgreSQL,
and every kind of trouble once.

TORTURE_MINUTES and TORTURE_SEED make it longer and another; `make torture MINUTES=30` is the long
version.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import FIGURES
from tests.end_to_end.programs import environment
from tests.project.repository import ROOT
from tests.torture.schedule import USUAL_TROUBLES, Trouble

MINUTES = float(os.environ.get("TORTURE_MINUTES", "1"))  # of chaos; the whole takes two
# In one minute, this seed cuts nothing while a daemon that was killed starts again, and delays the
# catalog for longer than the daemon rests between two scans.
SEED = os.environ.get("TORTURE_SEED", "271")
END_SECONDS = 240  # for an end in order, when it took too long
# Those that hit whatever the daemon is at; a Spark to kill and a commit to lose the answer of need
# not be there when their time comes.
SURE_TO_HIT = {
    Trouble.KILL_DAEMON,
    Trouble.CUT_CATALOG,
    Trouble.CUT_STORE,
    Trouble.DELAY_COMMITS,
    Trouble.FILL_DISK,
}
# both Sparks' starts, the end of what was begun, the checks; on a machine that does other work too
OVERHEAD_SECONDS = 480

pytestmark = [
    pytest.mark.spark,
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.timeout(MINUTES * 90 + OVERHEAD_SECONDS + END_SECONDS),
]


def test_nothing_is_lost_while_everything_around_the_daemon_breaks(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.torture",
        "--minutes",
        f"{MINUTES:g}",
        "--seed",
        SEED,
        "--commits-per-second",
        "2",
    ]
    command += ["--directory", str(tmp_path / "run"), "--json", str(tmp_path / "figures.json")]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        said, complained = process.communicate(timeout=MINUTES * 90 + OVERHEAD_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()  # it ends what it has started
        said, complained = process.communicate(timeout=END_SECONDS)
    record_property(FIGURES, said)
    assert process.returncode in {0, 1}, complained[-4000:]
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert figures["findings"] == []
    assert [minimum for minimum in figures["minima"] if not minimum["is_met"]] == []
    assert figures["commits"]["daemon"] > 0
    assert figures["checked"]["rows"] > 0
    assert set(figures["chaos"]["by_kind"]) == {trouble.value for trouble in USUAL_TROUBLES}
    assert [
        trouble.value
        for trouble in SURE_TO_HIT
        if not figures["chaos"]["by_kind"][trouble.value]["hit"]
    ] == []
