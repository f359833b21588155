"""The program of a decoding process.

It reads batches from its standard input and writes digests to its standard output, until one of
them ends.
"""

from __future__ import annotations

import os
import signal
import sys

from maintainer.adapters.catalog.manifests.decoding import serve_batches
from maintainer.adapters.garbage import collect_rarely


def main() -> None:
    """Use the standard output only for answers; the parent process handles Ctrl-C."""
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink,
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as source,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve_batches(source, sink)
        os._exit(0)  # all answers are written, so the time of a normal exit can be saved


if __name__ == "__main__":
    main()
