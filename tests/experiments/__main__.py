"""Run the experiments: `make experiments`. Each prints its section; at full size, the section takes
its place in docs/experiments.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.experiments import file_sizes, listings, merges, name_node, rewrites
from tests.experiments.section import Section

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"
EXPERIMENTS: Mapping[str, Callable[[Path, float], Section]] = {
    "file_sizes": file_sizes.run,
    "merges": merges.run,
    "rewrites": rewrites.run,
    "name_node": name_node.run,
    "listings": listings.run,
}


FULL = 1.0
_MARK, _END = "<!-- experiment: ", " -->"
INTRODUCTION = """
# The published experiments, repeated

<!-- Written by `make experiments`. Do not edit. -->

Others have published measurements of small files on large clusters. This page repeats their
experiments on one machine with two cores, with maintenance by the daemon, and compares the figures.
Absolute times cannot agree, because hardware, engine and amount of data differ. The factors can.

No other program worked on the machine. The storages are servers on the same machine, so requests
use no network. `make experiments` repeats all experiments; `ONLY=merges` repeats one; `SCALE=0.1`
uses less data, and only prints the sections.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="The published experiments, repeated.")
    parser.add_argument("--scale", type=float, default=FULL, help="1 is the full size")
    parser.add_argument("--only", default="", help=f"names with commas: {', '.join(EXPERIMENTS)}")
    asked = parser.parse_args(arguments)
    names = [name for name in asked.only.split(",") if name] or [*EXPERIMENTS]
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        parser.error(
            f"there is no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}"
        )
    for name in names:
        sys.stderr.write(f"experiments: {name} at scale {asked.scale:g}\n")
        started = time.monotonic()
        with TemporaryDirectory(prefix=f"experiment-{name}-") as scratch:
            section = EXPERIMENTS[name](Path(scratch), asked.scale)
        minutes = (time.monotonic() - started) / 60
        text = section.render(f"Ran on {datetime.now(UTC).date()} in {minutes:.0f} minutes.")
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        if asked.scale == FULL:
            write_page({**read_page(), name: text})
    return 0


def read_page() -> dict[str, str]:
    """The sections of the page by their experiments."""
    if not PAGE.exists():
        return {}
    _, *parts = PAGE.read_text(encoding="utf-8").split(_MARK)
    return {name: text.strip() + "\n" for name, text in (part.split(_END, 1) for part in parts)}


def write_page(sections: Mapping[str, str]) -> None:
    """Write the page with these sections, in the order of the experiments."""
    found = [f"{_MARK}{name}{_END}\n\n{sections[name]}" for name in EXPERIMENTS if name in sections]
    PAGE.write_text("\n".join([INTRODUCTION.lstrip(), *found]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
