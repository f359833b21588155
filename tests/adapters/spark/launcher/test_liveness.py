from __future__ import annotations

import fcntl
import os
from pathlib import Path

from maintainer.adapters.spark.launcher.ownership import owner_lives


def test_a_process_lives_as_long_as_its_lock_is_held_and_none_knows_of_one_that_was_never_here(
    tmp_path: Path,
) -> None:
    assert owner_lives(tmp_path, "host-7-abc") is None
    held = os.open(tmp_path / "host-7-abc.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert owner_lives(tmp_path, "host-7-abc") is True
    os.close(held)
    assert owner_lives(tmp_path, "host-7-abc") is False
    assert owner_lives(tmp_path, "../host-7-abc") is None
    assert [path.name for path in tmp_path.iterdir()] == ["host-7-abc.lock"], (
        "looking leaves nothing behind"
    )
