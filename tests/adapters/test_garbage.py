from __future__ import annotations

import subprocess
import sys

import pytest

from maintainer.adapters.garbage import GARBAGE_THRESHOLD


@pytest.mark.parametrize(
    ("module", "work"),
    [
        ("maintainer.adapters.catalog.manifests.decoding_process", "serve"),
        ("maintainer.cli", "commands.main"),
    ],
)
def test_a_process_of_ours_looks_for_garbage_rarely(module: str, work: str) -> None:
    program = (
        "import gc, sys; from unittest.mock import patch; "
        f"import {module} as module; "
        f"say = lambda *_: sys.stderr.write(str(gc.get_threshold()[0]) + '\\n'); "
        f"patch('{module}.{work}', say).start(); module.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(2**30)],  # the memory of a decoding process
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
    )
    assert ran.stderr.split()[-1] == str(GARBAGE_THRESHOLD)
