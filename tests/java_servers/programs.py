"""A server that is a program of its own: it is started, and says on which port it listens."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 180  # a busy machine; alone they take 2 to 15


@contextmanager
def run_server(command: Sequence[str], log_path: Path, listens: str) -> Iterator[int]:
    """The port of a server that ends with the context.

    ``listens``: a pattern of its log, whose first group is the port. TimeoutError has the log's
    last lines.
    """
    with (
        log_path.open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=log_path.parent
        ) as process,
    ):
        try:
            yield _wait_for_port(process, log_path, listens)
        finally:
            process.kill()


def _wait_for_port(process: subprocess.Popen[bytes], log: Path, listens: str) -> int:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        found = re.search(listens, log.read_text(errors="replace"))
        if found is not None:
            return int(found[1])
        time.sleep(0.05)
    message = f"{log.stem} did not start within {START_SECONDS} s: {log.read_text()[-2000:]}"
    raise TimeoutError(message)
