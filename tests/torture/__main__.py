"""`make torture MINUTES=30`: prints the figures, writes them as JSON, and ends with 1 when anything
was lost or too little happened.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType

from tests.torture.run import RUNNERS, Options, run
from tests.torture.schedule import REMOTE_TROUBLES, USUAL_TROUBLES, Trouble


def main() -> int:
    """0: nothing was lost; 1: something was, or too little happened to say so."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument(
        "--minutes",
        type=float,
        default=30.0,
        help="of chaos; the whole run takes about half as long again",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--commits-per-second",
        type=float,
        default=1.0,
        help="of all writers together, as far as the machine can",
    )
    parser.add_argument(
        "--troubles",
        help="only these, separated by commas; none: a quiet run; without it the usual ones, and "
        "those of the link where drivers poll",
    )
    parser.add_argument(
        "--runner", choices=RUNNERS, default="socket", help="what the daemon's drivers run on"
    )
    parser.add_argument("--json", type=Path, help="where the figures go as JSON")
    parser.add_argument(
        "--directory",
        type=Path,
        help="a new directory that is kept; without it a temporary one, which goes",
    )
    given = parser.parse_args()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    signal.signal(signal.SIGTERM, _end)
    usual = USUAL_TROUBLES if given.runner == "socket" else USUAL_TROUBLES + REMOTE_TROUBLES
    troubles = (
        usual
        if given.troubles is None
        else tuple(Trouble(name) for name in given.troubles.split(",") if name)
    )
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as temporary:
        directory = given.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        report = run(
            Options(
                directory.absolute(),
                given.minutes,
                given.seed,
                given.commits_per_second,
                troubles,
                given.runner,
            )
        )
    if given.json is not None:
        given.json.write_text(json.dumps(report.as_document(), indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(report.as_text() + "\n")
    return report.exit_code


# A signal handler's signature.
def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Everything that was started is ended on the way out."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
