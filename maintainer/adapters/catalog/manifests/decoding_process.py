"""The program of a decoding process.

It reads batches on its standard input and writes digests on its standard output until either ends.
"""

from __future__ import annotations

import os
import signal
import sys

from maintainer.adapters.catalog.manifests.decoding import serve_batches
from maintainer.adapters.garbage import collect_rarely


def main() -> None:
    """Reserve the standard output for answers; Ctrl-C in a terminal is left to the parent."""
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink,
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as source,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve_batches(source, sink)
        os._exit(0)  # everything is written; skip the time of an orderly exit


if __name__ == "__main__":
    main()
