"""What a decoding process runs: batches on its standard input, digests on its standard output,
until either ends.
"""

from __future__ import annotations

import os
import signal
import sys

from maintainer.adapters.catalog.manifests.decoding import serve_batches


def main() -> None:
    """Keep the standard output for answers; Ctrl-C in a terminal is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink,
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as source,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve_batches(source, sink)
        os._exit(0)  # nothing is left to be written: not even the time that an orderly end takes


if __name__ == "__main__":
    main()
