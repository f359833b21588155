"""The program of a decoding process.

It reads requests from its standard input and writes answers to its standard output, until one of
them ends. Its argument is the memory that it may take beyond what it has at its start, in bytes.
"""

from __future__ import annotations

import os
import signal
import sys

from maintainer.adapters.catalog.manifests.decoding import OUT_OF_MEMORY, serve
from maintainer.adapters.garbage import collect_rarely
from maintainer.adapters.own_process import bound_memory


def main() -> None:
    """Use the standard output only for answers; the parent process handles Ctrl-C."""
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory_bytes = int(sys.argv[1])
    bound_memory(memory_bytes)
    with (
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink,
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as source,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            serve(source, sink, memory_bytes)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        os._exit(0)  # all answers are written, so the time of a normal exit can be saved


if __name__ == "__main__":
    main()
