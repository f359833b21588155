"""Measures the fleet page as the daemon serves it: `make lighthouse`.

The daemon's own server and requests answer; behind the ports are fakes, with a fleet of
TABLES tables. It ends with 1 when a category is below LEAST in the median run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from maintainer.api.page import PAGE_DIRECTORY
from tests.api.listening import listening
from tests.api.nouns import GRADE, ORDERS, PLAN, measure
from tests.api.serving import Client
from tests.fakes.adapters.clock import FakeClock
from tests.prerequisites import find_chromium

LEAST = 95
RUNS = 3  # Lighthouse's own advice: a single run varies by several points
TABLES = 200
HOURS = 100  # of the history
CATEGORIES = ("performance", "best-practices")
PROGRAM = Path(__file__).parent / "node_modules" / "lighthouse" / "cli" / "index.js"
MAX_SECONDS = 180  # of one run
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-quic --disable-background-networking"


def make_client() -> Client:
    """An API at the time of the browser, on a store with a fleet, its history and a plan."""
    client = Client(page=PAGE_DIRECTORY)
    now = datetime.now(UTC)
    client.daemon.ports = replace(client.daemon.ports, clock=FakeClock(now))
    store = client.daemon.store
    for number in range(TABLES):
        store.record_health(measure(replace(ORDERS, name=f"orders_{number:03}")), GRADE)
    store.record_health(measure(ORDERS), GRADE)
    store.record_plan(PLAN)
    for hours in range(HOURS, -1, -1):
        store.record_fleet(now - timedelta(hours=hours))
    return client


def say(line: str) -> None:
    """Write a line of the report."""
    print(line, flush=True)  # noqa: T201


def run_lighthouse(address: str, form: str, directory: Path) -> dict[str, float]:
    """The scores of one run, from 0 to 100."""
    report = directory / "report.json"
    command = [
        "node", str(PROGRAM), address, "--quiet", "--output=json", f"--output-path={report}",
        f"--only-categories={','.join(CATEGORIES)}", f"--chrome-flags={FLAGS}",
        "--no-enable-error-reporting", *(["--preset=desktop"] if form == "desktop" else []),
    ]  # fmt: skip
    subprocess.run(
        command,
        check=True,
        timeout=MAX_SECONDS,
        env={**os.environ, "CHROME_PATH": str(find_chromium())},
    )
    found = json.loads(report.read_text())
    for name, audit in found["audits"].items():
        if audit["score"] is not None and audit["score"] < 1 and audit.get("details"):
            say(f"    {name}: {audit.get('displayValue', audit['title'])}")
    return {name: round(found["categories"][name]["score"] * 100) for name in CATEGORIES}


def main() -> int:
    """Print the scores on a desktop and on a phone; only the desktop's must be LEAST."""
    client = make_client()
    bad: list[str] = []
    with (
        TemporaryDirectory() as directory,
        listening(client.api, client.daemon.stopping) as served,
    ):
        for form, runs in (("desktop", RUNS), ("phone", 1)):
            scores = [run_lighthouse(served.address, form, Path(directory)) for _ in range(runs)]
            for name in CATEGORIES:
                every = [each[name] for each in scores]
                say(f"{form}: {name} {median(every):g} (runs: {every})")
                if form == "desktop" and median(every) < LEAST:
                    bad.append(name)
    for name in bad:
        say(f"{name} is below {LEAST}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
