from __future__ import annotations

import fcntl
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from maintainer.adapters.spark.launcher.ownership import KEPT_FOR, prune_leftovers

NOW = datetime.now(UTC)


def leave(run_dir: Path, name: str, age: timedelta = 2 * KEPT_FOR) -> Path:
    path = run_dir / name
    path.write_text("", encoding="utf-8")
    os.utime(path, (0, (NOW - age).timestamp()))
    return path


def names(run_dir: Path) -> set[str]:
    return {path.name for path in run_dir.iterdir()}


def test_the_files_of_a_process_that_ended_long_ago_go(tmp_path: Path) -> None:
    for name in (
        "old.lock",
        "old.processes.json",
        "old.spark.log",
        "old.spark.log.1",
        "older.lock",
    ):
        leave(tmp_path, name)
    leave(tmp_path, "new.lock", KEPT_FOR / 2)
    for name in ("unlocked.spark.log", "old.town-1.spark.log"):
        leave(tmp_path, name)
    assert prune_leftovers(tmp_path, NOW) == 2
    assert names(tmp_path) == {"new.lock", "unlocked.spark.log", "old.town-1.spark.log"}
    assert prune_leftovers(tmp_path, NOW) == 0


def test_what_a_process_that_lives_has_stays_however_old(tmp_path: Path) -> None:
    lock = leave(tmp_path, "living.lock")
    leave(tmp_path, "living.spark.log")
    held = os.open(lock, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert prune_leftovers(tmp_path, NOW) == 0
    os.close(held)
    assert prune_leftovers(tmp_path, NOW) == 1


def test_what_a_spark_that_goes_on_needs_stays(tmp_path: Path) -> None:
    leave(tmp_path, "adopted.lock")
    (tmp_path / "adopted.spark-1").mkdir()
    leave(tmp_path, "logged.lock")
    leave(tmp_path, "logged.spark.log", timedelta(0))
    assert prune_leftovers(tmp_path, NOW) == 0
    assert names(tmp_path) == {"adopted.lock", "adopted.spark-1", "logged.lock", "logged.spark.log"}


def test_a_run_directory_that_is_not_there_yet_has_nothing_to_remove(tmp_path: Path) -> None:
    assert prune_leftovers(tmp_path / "run", NOW) == 0
