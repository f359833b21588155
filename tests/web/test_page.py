"""The built page in a real browser, on the fixtures of web/dev: what it shows, that it can be used,
and that everybody can read it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.prerequisites import find_chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WEB = Path(__file__).parents[2] / "web"
BUILT_PAGE = WEB.parent / "maintainer" / "api" / "page" / "index.html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
WAIT_MILLISECONDS = 30_000
PAGES = {
    "fleet": "/",
    "inbox": "/inbox",
    "namespaces": "/namespaces",
    "tables": "/tables",
    "nothing found": "/tables?search=no-such-table",
    "table": "/tables/lake/streaming/page_views",
    **{
        f"{tab} of a table": f"/tables/lake/streaming/page_views?tab={tab}"
        for tab in ("activity", "jobs", "files", "snapshots", "policy")
    },
    "table with a running job": "/tables/lake/iot/sensor_readings",
    "table with a fault": "/tables/lake/legacy/clicks",
    "table never measured": "/tables/lake/legacy/empty_yet",
    "unknown table": "/tables/lake/no/such",
    "jobs": "/jobs",
    "finished job": "/jobs/rdf-page-views-7k2m",
    "running job": "/jobs/rm-sensor-readings-2x9c",
    "failed job": "/jobs/rdf-orders-cdc-1p4d",
    "policies": "/policies",
    "reports": "/reports?storage=hdfs&table=lake.streaming.page_views",
    "catalogs": "/catalogs",
    "settings": "/settings",
    "no page": "/nowhere",
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    assert BUILT_PAGE.exists(), f"{BUILT_PAGE} is missing: run make web"
    command = [
        "node",
        "node_modules/vite/bin/vite.js",
        "preview",
        "--config",
        "dev/vite.config.ts",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, cwd=WEB, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        reported: list[str] = []
        try:
            for line in server.stdout:
                reported.append(line)
                found = re.search(r"http://127\.0\.0\.1:\d+", re.sub(r"\x1b\[[0-9;]*m", "", line))
                if found:
                    yield found[0]
                    return
            pytest.fail(f"vite preview ended before it served: {''.join(reported)}")
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context.new_page()
    context.close()


def settle(page: Page) -> None:
    """Wait until the page shows what it was asked for and nothing is loading any more."""
    expect(page.locator("h1").first).to_be_visible(timeout=WAIT_MILLISECONDS)
    expect(page.get_by_text(re.compile("^Loading "))).to_have_count(0, timeout=WAIT_MILLISECONDS)


def find_violations(page: Page) -> list[str]:
    page.add_script_tag(path=AXE)
    return run_axe(page)


def run_axe(page: Page) -> list[str]:
    """The violations on a page that has the script already."""
    violations: list[dict[str, Any]] = page.evaluate(
        "axe.run().then((result) => result.violations)"
    )
    return [f"{violation['id']}: {violation['nodes'][0]['html'][:200]}" for violation in violations]


# The names of tables that an element around them cuts off, without a way to scroll there.
CUT_OFF = """() => [...document.querySelectorAll("table")].filter((table) => {
  let around = table.parentElement;
  while (around && getComputedStyle(around).overflowX === "visible") around = around.parentElement;
  if (!around || ["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false;
  return table.getBoundingClientRect().right > around.getBoundingClientRect().right + 1;
}).map((table) => table.caption?.textContent ?? table.className)"""


# Resolved when the browser has drawn the page twice, and all transitions of styles have ended.
DRAWN = """async () => {
  const drawn = () => new Promise(requestAnimationFrame);
  await drawn();
  await drawn();
  await Promise.allSettled(document.getAnimations().filter(
    (one) => one instanceof CSSTransition).map((one) => one.finished));
}"""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
NARROW, WIDE = 400, 1280
MIDDLE_WIDTHS = (768, 1024)  # where the columns of a table may be more than fit


def test_every_page_is_accessible_and_fits_its_window(page: Page) -> None:
    """Each page is opened once, in a window that then changes."""
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.add_init_script(path=AXE)
    found: dict[str, list[str]] = {}
    for name, path in PAGES.items():
        page.set_viewport_size({"width": NARROW, "height": 900})
        page.goto(path)
        settle(page)
        for width in (NARROW, *MIDDLE_WIDTHS, WIDE):
            for scheme in SCHEMES if width in {NARROW, WIDE} else SCHEMES[:1]:
                change_window(page, scheme, width)
                found[f"{name}, {scheme}, {width}"] = find_problems(page, width)
    assert {name: problems for name, problems in found.items() if problems} == {}
    assert broken == []


def find_problems(page: Page, width: int) -> list[str]:
    if width in MIDDLE_WIDTHS:
        cut_off: list[str] = page.evaluate(CUT_OFF)
        return cut_off
    problems = run_axe(page)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        problems.append(f"wider than {width} px")
    return problems


def change_window(page: Page, scheme: Literal["light", "dark"], width: int) -> None:
    """Wait until the page has the new colours and the new width, and has been drawn so."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        """([scheme, width]) => innerWidth === width
          && document.documentElement.dataset.mantineColorScheme === scheme""",
        arg=[scheme, width],
    )
    page.evaluate(DRAWN)
    settle(page)


@pytest.mark.parametrize("width", MIDDLE_WIDTHS)
def test_no_column_is_out_of_reach(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/tables")
    settle(page)
    expect(page.get_by_role("columnheader", name="Manifests")).to_be_visible()
    assert page.evaluate(CUT_OFF) == []


def test_the_page_asks_nothing_of_the_internet(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(PAGES["table"])
    expect(page.locator(".chart svg")).to_have_count(2)
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


MAX_FIRST_REQUESTS, MAX_FIRST_BYTES = 20, 250_000
OTHER_PAGES = re.compile(r"/assets/pages-[^/]+\.js$")  # fetched later, while nothing else is done


def test_the_first_screen_comes_in_few_requests_and_bytes(page: Page) -> None:
    """Neither the charts, which are below it, nor the other pages are waited for."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    asked: dict[str, str] = {}
    sizes: dict[str, float] = {}

    def note(event: dict[str, Any]) -> None:
        asked[event["requestId"]] = event["request"]["url"]

    def end(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", note)
    session.on("Network.loadingFinished", end)
    page.goto("/")
    settle(page)
    page.wait_for_load_state("networkidle")
    first = [one for one, url in asked.items() if not OTHER_PAGES.search(url)]
    assert len(first) < MAX_FIRST_REQUESTS, sorted(asked.values())
    assert sum(sizes.get(one, 0) for one in first) < MAX_FIRST_BYTES
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator(".chart svg").first).to_be_visible()


def test_filters_and_sorting_live_in_the_address(page: Page) -> None:
    page.goto("/tables")
    tables = page.locator("table.grid-cards").get_by_role("rowheader")
    page.get_by_role("searchbox", name="Search").fill("ledger")
    expect(page).to_have_url(re.compile(r"search=ledger"))
    expect(tables).to_have_count(1)
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("button", name="Manifests").click()
    expect(page).to_have_url(re.compile(r"sort=-manifests"))
    expect(tables.first).to_contain_text("sensor_readings")
    page.reload()
    expect(page.get_by_role("columnheader", name="Manifests")).to_have_attribute(
        "aria-sort", "descending"
    )


def test_the_csv_is_of_the_filtered_and_sorted_list(page: Page) -> None:
    page.goto("/tables?search=sales&sort=-name")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    assert download.value.suggested_filename == "tables.csv"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    names = page.locator("table.grid-cards").get_by_role("rowheader").get_by_role("link")
    assert [line.split(".")[-1] for line in lines[1:]] == names.all_inner_texts()
    assert len(lines) > 2


def test_chosen_columns_are_in_the_address_and_remembered(page: Page) -> None:
    page.goto("/tables")
    page.get_by_role("button", name="Columns…").click()
    dialog = page.get_by_role("dialog", name="Columns")
    dialog.get_by_role("checkbox", name="Records").check()
    dialog.get_by_role("checkbox", name="Findings").uncheck()
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Done").click()
    heads = page.get_by_role("columnheader")
    expect(heads.filter(has_text="Records")).to_be_visible()
    expect(heads.filter(has_text="Findings")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"columns=[^&]*records"))
    page.goto("/tables?search=ledger")
    expect(heads.filter(has_text="Records")).to_be_visible()
    expect(page).to_have_url(re.compile(r"search=ledger.*columns=[^&]*records"))
    page.goto("/tables?columns=snapshots")
    expect(heads).to_have_text(["Table", re.compile("^State"), "Snapshots"])


def test_a_long_list_keeps_few_rows_in_the_document_and_loads_on_scrolling(page: Page) -> None:
    page.goto("/tables?sort=name")
    expect(page.get_by_text(re.compile("^100 of 247$"))).to_be_attached()
    rows = page.locator("tbody [role=row]")
    assert rows.first.bounding_box()["height"] == 40  # type: ignore[index]
    for count in ("200 of 247", None):
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        if count is not None:
            expect(page.get_by_text(count)).to_be_attached()
    expect(page.get_by_role("button", name="Load more")).to_have_count(0)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.get_by_role("link", name="sensor_readings")).to_be_visible()
    assert rows.count() < 60


def test_a_run_is_confirmed_on_its_statement_first(page: Page) -> None:
    page.goto(PAGES["table"])
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/run"):
            asked.append(request.post_data or "")

    page.on("request", note)
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("CALL lake.system.rewrite_data_files")).to_be_visible()
    expect(dialog.get_by_role("checkbox", name="Expire snapshots")).not_to_be_checked()
    assert asked == []
    assert find_violations(page) == []
    dialog.get_by_role("button", name="Run now").click()
    expect(dialog.get_by_role("link", name="Compact data files")).to_be_visible()
    assert asked == ['{"rules":["rewrite_data_files"]}']


def test_several_tables_are_selected_and_measured_at_once(page: Page) -> None:
    page.goto("/tables")
    page.get_by_role("button", name="Select…").click()
    for name in ("lake.streaming.page_views", "lake.finance.ledger"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    bar = page.get_by_role("region", name="Selected tables")
    expect(bar).to_contain_text("2 tables selected")
    with page.expect_response("**/finance/ledger/measure"):
        bar.get_by_role("button", name="Measure now").click()
    expect(bar).to_contain_text("2 tables done.")
    assert find_violations(page) == []


def test_in_a_narrow_window_the_pages_are_a_menu(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/tables")
    pages = page.get_by_role("navigation", name="Pages")
    expect(pages.get_by_role("link")).to_have_count(0)
    pages.get_by_role("button", name="Menu").click()
    assert find_violations(page) == []
    pages.get_by_role("link", name="Settings").click()
    expect(page).to_have_url(re.compile("/settings$"))
    expect(pages.get_by_role("link")).to_have_count(0)


def test_a_job_begins_with_its_proof_and_unfolds_its_activity(page: Page) -> None:
    page.goto(PAGES["finished job"])
    achieved = page.get_by_role("region", name="What the job achieved")
    expect(achieved).to_contain_text("1,536 → 96 files")
    expect(achieved).to_contain_text("Proved")
    said = page.get_by_text("Job proved")
    expect(said).not_to_be_visible()
    for part in ("Before and after", "Activity", "Driver log"):
        page.get_by_role("heading", name=part).click()
    expect(said).to_be_visible()
    expect(page.get_by_text("complete", exact=True)).to_have_count(2)  # activity and log
    expect(page.get_by_role("row", name=re.compile("^Data files"))).to_contain_text("440")
    assert find_violations(page) == []


def test_the_chosen_colours_are_remembered(page: Page) -> None:
    page.goto("/jobs")
    page.get_by_text("Dark", exact=True).click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def test_keys_go_through_the_rows_of_a_long_list(page: Page) -> None:
    page.goto("/tables?sort=name")
    expect(page.get_by_role("link", name="events_000")).to_be_visible()
    for _ in range(60):
        page.keyboard.press("j")
    focused = page.locator("[data-row-link]:focus")
    expect(focused).to_have_text("events_227")  # the 15th of year_2013
    expect(focused).to_be_in_viewport()
    page.keyboard.press("k")
    expect(focused).to_have_text("events_211")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^events_211 "))


def test_keys_are_letters_in_a_field_and_listed_in_a_dialog(page: Page) -> None:
    page.goto("/jobs")
    expect(page.locator("[data-row-link]").first).to_be_visible()
    page.get_by_role("button", name="Search").focus()
    page.keyboard.press("/")
    field = page.get_by_role("dialog").get_by_role("searchbox")
    expect(field).to_be_focused()
    page.keyboard.type("jk?/")
    expect(field).to_have_value("jk?/")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Next table or job of a list")
    assert find_violations(page) == []
    page.keyboard.press("j")
    expect(page.locator("[data-row-link]:focus")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("j")
    expect(page.locator("[data-row-link]").first).to_be_focused()


def test_the_keyboard_alone_reaches_a_table(page: Page) -> None:
    page.goto("/tables?search=page_views")
    expect(page.locator("table.grid-cards").get_by_role("rowheader")).to_have_count(1)
    page.get_by_role("link", name="page_views").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^page_views .+ iceberg-maintainer$"))


def test_the_catalogs_show_their_last_scan_their_storage_and_their_name_services(
    page: Page,
) -> None:
    page.goto("/catalogs")
    scans = page.get_by_role("group", name="Scans of the catalogs")
    expect(scans.get_by_role("row", name="lake")).to_contain_text("incomplete")
    expect(scans.get_by_role("row", name="partner")).to_contain_text("No")
    storage = page.get_by_role("group", name="Storage of the catalogs")
    expect(storage.get_by_role("row", name="archive")).to_contain_text("HDFS")
    services = page.get_by_role("group", name="Objects and heap of the name services")
    expect(services.get_by_role("row", name="ns1")).to_contain_text("3,931,400")
