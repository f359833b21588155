"""A real job's log in a real browser while it runs, and afterwards from another process."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import TABLE, configure, find_ended, find_running, find_store
from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.prerequisites import find_chromium
from tests.web.test_page import FLAGS

pytestmark = [
    pytest.mark.spark,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(400),
]

# A tenth of its rewrite is over while a browser looks at the log.
FILES, PARTITIONS = 240, 120
SECRET = "planted-secret-4711"  # noqa: S105 - of this test
SPARK = f"""\
  driver_memory: 640m
  ui_url: 'https://history.example/history/{{application_id}}'
  conf:
    spark.hadoop.fs.s3a.secret.key: {SECRET}
"""


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser.new_page(viewport={"width": 1280, "height": 1400})
        browser.close()


@pytest.fixture
def lake(empty_lake: Lake) -> Lake:
    empty_lake.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    return empty_lake


def see_lines(page: Page, daemon: Daemon, job_id: str) -> None:
    """While the job runs."""
    page.goto(f"{daemon.url}/jobs/{job_id}")
    log = page.get_by_role("log", name="Driver log")
    expect(log).to_contain_text(f"--- job {job_id} begins ---", timeout=60_000)
    expect(log).to_contain_text(" WARN ")
    expect(page.get_by_text("Running", exact=True).first).to_be_visible()
    page.get_by_role("heading", name="Details").click()
    link = page.get_by_role("link", name="Open in a new tab")
    expect(link).to_have_attribute("href", re.compile("^https://history.example/history/local-"))
    expect(page.get_by_text(re.compile(r"^Spark \d.*, Iceberg \d.*, Java \d"))).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused", exact=True)).to_be_visible()
    page.get_by_role("button", name="Follow").click()


def test_the_page_shows_the_log_of_a_job_while_it_runs_and_the_next_daemon_has_it(
    lake: Lake, page: Page
) -> None:
    configure(lake, SPARK)
    with serving(lake.root) as first:
        job, _ = wait_for(
            lambda: find_running(find_store(lake)), 180, f"a job; said:\n{first.said()}"
        )
        see_lines(page, first, job.job_id)
        wait_for(lambda: find_ended(first, job.job_id), 200, f"its end; said:\n{first.said()}")
        panel = page.get_by_role("region", name="Driver log")
        expect(panel.get_by_text("complete", exact=True)).to_be_visible(timeout=60_000)
        expect(panel.get_by_role("log")).to_contain_text(f"--- job {job.job_id} has ended ---")
        log = first.get(f"/api/v1/jobs/{job.job_id}/log")
    assert log.endswith(f"--- job {job.job_id} has ended ---\n")
    assert SECRET not in log
    with serving(lake.root) as second:
        assert second.get(f"/api/v1/jobs/{job.job_id}/log") == log
