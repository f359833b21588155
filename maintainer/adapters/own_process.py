"""Processes of this package's own programs, for work that must be possible to end."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import maintainer


def start_program(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a module of this package as a program with pipes; OSError if that is impossible."""
    root = str(Path(maintainer.__file__).parents[1])
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(  # noqa: S603 - a program of this package
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )


def bound_memory(most: int) -> None:
    """Limit the address space to what the process has now and `most` bytes more."""
    with suppress(OSError, ValueError, IndexError):  # a system without /proc has no such limit
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + most
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
