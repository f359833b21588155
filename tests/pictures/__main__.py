"""Takes the pictures in docs/images from a maintained demo lake: `make pictures`.

`python -m tests.pictures LAKE` takes them from a demo lake that is there already.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from tests.end_to_end.programs import Daemon, run, serving
from tests.prerequisites import find_chromium
from tests.web.test_page import FLAGS, WAIT_MILLISECONDS, settle

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MAX_BYTES = 200_000  # of one picture
MAX_SECONDS = 900  # to build the lake and maintain it
WIDTH = 1280
TABLE = "/tables/lake/streaming/page_views?range=1h"
STILL_MILLISECONDS = 1_500  # until the charts have drawn their last frame


def find_job(daemon: Daemon) -> str:
    """The job that compacted the table."""
    jobs = daemon.get("/api/v1/jobs?table=lake.streaming.page_views&rule=rewrite_data_files")
    return f"/jobs/{jobs['items'][0]['job_id']}"


def take(page: Page, address: str, name: str, height: int) -> None:
    """Take one picture; ValueError when it is larger than MAX_BYTES."""
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.goto(address)
    settle(page)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(STILL_MILLISECONDS)
    picture = page.screenshot(animations="disabled")
    if len(picture) > MAX_BYTES:
        message = f"{name} has {len(picture):,} bytes, over {MAX_BYTES:,}"
        raise ValueError(message)
    (IMAGES / name).write_bytes(picture)


def take_all(lake: Path) -> None:
    """Serve the lake, and take each picture."""
    with serving(lake) as daemon, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page(color_scheme="light")
        page.set_default_timeout(WAIT_MILLISECONDS)
        for name, path, height in (
            ("fleet.png", "/?range=24h", 1000),
            ("table.png", TABLE, 1000),
            ("job.png", find_job(daemon), 1300),
            ("reports.png", "/reports", 1000),
        ):
            take(page, f"{daemon.url}{path}", name, height)
        browser.close()


def main() -> None:
    """Make a lake unless one is given, and take the pictures from it."""
    if len(sys.argv) > 1:
        take_all(Path(sys.argv[1]))
        return
    with TemporaryDirectory() as directory:
        lake = Path(directory) / "demo-lake"
        done = run("demo", "--once", "--dir", str(lake), cwd=Path(directory), timeout=MAX_SECONDS)
        if done.returncode:
            sys.exit(done.stderr)
        take_all(lake)


if __name__ == "__main__":
    main()
