"""The fast tests, in two shares at the same time: ``python -m tests.shares [arguments]``.

The arguments are those of pytest. Each process collects only its share. The first has the tests of
the pure folders, whose branches must all be covered, and is the only one with a tracer, which makes
Python several times slower.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[1]
PURE = (
    "admit",
    "compare",
    "decide",
    "domain",
    "estimate",
    "measure",
    "policy",
    "procedures",
)
FIRST, SECOND = "first", "second"
# With the pure folders' tests, about half of the time.
FIRST_SHARE = tuple(f"tests/{folder}" for folder in (*PURE, "adapters/store", "api"))
LEFT_OUT = ("spark", "postgres", "browser", "prometheus", "slow")
COVERAGE = (
    *(f"--cov=maintainer/{folder}" for folder in PURE),
    "--cov-branch",
    "--cov-report=term-missing:skip-covered",
    "--cov-fail-under=100",
)
# The tests of the second share wait for servers, processes and clocks half of their time.
PROCESSES = {FIRST: ("-n", "0"), SECOND: ("-n", "2", "--dist", "loadfile")}
NOTHING_COLLECTED = 5
NO_CACHE = "no:cacheprovider"


def belongs(path: Path, share: str) -> bool:
    """Say if a share has the test file with this path from the root, or any file of the folder."""
    is_first = any(path.is_relative_to(folder) for folder in FIRST_SHARE)
    is_above_first = any(Path(folder).is_relative_to(path) for folder in FIRST_SHARE)
    return is_first or is_above_first if share == FIRST else not is_first


def command_of(share: str, arguments: Sequence[str], *, is_colored: bool = False) -> list[str]:
    """The pytest of one share. Each remembers its own failures, for ``--last-failed``."""
    return [
        sys.executable,
        *("-m", "pytest", "--share", share, *PROCESSES[share]),
        *("-m", " and ".join(f"not {mark}" for mark in LEFT_OUT)),
        *("--hypothesis-profile", "fast"),
        *(() if NO_CACHE in arguments else ("-o", f"cache_dir=.pytest_cache/{share}")),
        *("--color", "yes" if is_colored else "no"),
        *(COVERAGE if share == FIRST else ()),
        *arguments,
    ]


def judge(codes: Sequence[int]) -> int:
    """The exit status of both: a share without a test that was asked for is no failure."""
    failed = [code for code in codes if code not in {0, NOTHING_COLLECTED}]
    return next(iter(failed), min(codes))


def run(commands: Sequence[Sequence[str]]) -> list[int]:
    """Run both at once. The output of the second follows when both are done."""
    with TemporaryFile() as output:
        running = (
            subprocess.Popen(commands[0], cwd=ROOT),
            subprocess.Popen(commands[1], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT),
        )
        try:
            codes = [process.wait() for process in running]
        except KeyboardInterrupt:  # of the terminal: both processes have it too
            codes = [process.wait() for process in running]
        output.seek(0)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
    return codes


def main() -> int:
    is_colored = sys.stdout.isatty()
    return judge(
        run([command_of(share, sys.argv[1:], is_colored=is_colored) for share in (FIRST, SECOND)])
    )


if __name__ == "__main__":
    sys.exit(main())
