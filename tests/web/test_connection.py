"""The daemon goes away, or is upgraded, under an open tab: the page stays, says so within seconds,
and goes on by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.test_page import WAIT_MILLISECONDS, address, browser, page, settle

__all__ = ["address", "browser", "page"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SOON_MILLISECONDS = 6_000
DOWN = "The daemon does not answer"
OTHER_PAGES = re.compile(r"/assets/pages-[^/]+\.js$")  # all pages but the fleet
JOBS = re.compile(r"^Jobs( \d+)?$")  # with the number that run


def refuse(route: Route) -> None:
    route.abort("connectionrefused")


@pytest.fixture
def documents(page: Page) -> Iterator[list[str]]:
    """The documents that the page has loaded, by address."""
    loaded: list[str] = []

    def note(request: Any) -> None:  # noqa: ANN401 - Playwright's request
        if request.is_navigation_request():
            loaded.append(request.url)

    page.on("request", note)
    yield loaded
    page.remove_listener("request", note)


def test_a_click_while_the_daemon_is_down_opens_the_page_that_was_fetched_before(
    page: Page, documents: list[str]
) -> None:
    with page.expect_response(OTHER_PAGES):
        page.goto("/")
    settle(page)
    page.context.route("**/*", refuse)
    page.get_by_role("link", name=JOBS).click()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    expect(page.get_by_text(DOWN)).to_be_visible(timeout=SOON_MILLISECONDS)
    page.context.unroute("**/*")
    expect(page.get_by_text(DOWN)).to_have_count(0, timeout=WAIT_MILLISECONDS)
    expect(page.get_by_role("link", name="Rewrite manifests")).to_be_visible(
        timeout=WAIT_MILLISECONDS
    )
    assert len(documents) == 1


def test_a_page_that_could_not_be_fetched_leaves_the_app_and_comes_with_the_daemon(
    page: Page, documents: list[str]
) -> None:
    page.context.route(OTHER_PAGES, refuse)
    page.goto("/")
    settle(page)
    page.wait_for_load_state("networkidle")
    page.context.route("**/*", refuse)
    page.get_by_role("link", name=JOBS).click()
    expect(page.get_by_text("This part of the page is not loaded yet")).to_be_visible(
        timeout=SOON_MILLISECONDS
    )
    expect(page.get_by_role("link", name="Policies")).to_be_visible()
    expect(page).to_have_url(re.compile("/jobs$"))
    expect(page.get_by_text(DOWN)).to_be_visible(timeout=SOON_MILLISECONDS)
    page.context.unroute_all()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible(
        timeout=WAIT_MILLISECONDS
    )
    assert len(documents) == 2, "the document was loaded anew once the daemon answered"


def test_after_an_upgrade_the_old_page_loads_the_new_one_once(
    page: Page, documents: list[str]
) -> None:
    def gone(route: Route) -> None:
        if len(documents) == 1:
            route.fulfill(status=404, body="")
        else:
            route.fallback()

    page.context.route(OTHER_PAGES, gone)
    page.goto("/")
    settle(page)
    page.get_by_role("link", name=JOBS).click()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible(
        timeout=WAIT_MILLISECONDS
    )
    assert [url.rpartition("/")[2] for url in documents] == ["", "jobs"]


def test_a_part_that_is_missing_for_good_does_not_reload_for_ever(
    page: Page, documents: list[str]
) -> None:
    page.context.route(OTHER_PAGES, lambda route: route.fulfill(status=404, body=""))
    page.goto("/")
    settle(page)
    page.get_by_role("link", name=JOBS).click()
    expect(page.get_by_role("button", name="Reload the page")).to_be_visible(
        timeout=WAIT_MILLISECONDS
    )
    page.get_by_role("link", name="Fleet", exact=True).click()
    expect(page.get_by_role("heading", name="Fleet")).to_be_visible()
    page.get_by_role("link", name=JOBS).click()
    expect(page.get_by_role("button", name="Reload the page")).to_be_visible(
        timeout=WAIT_MILLISECONDS
    )
    assert len(documents) == 2


def test_a_browser_without_a_network_says_so_within_seconds(page: Page) -> None:
    page.goto("/")
    settle(page)
    page.context.set_offline(True)
    expect(page.get_by_text("This browser is offline")).to_be_visible(timeout=SOON_MILLISECONDS)
    page.context.set_offline(False)
    expect(page.get_by_text("This browser is offline")).to_have_count(0, timeout=SOON_MILLISECONDS)


def test_a_page_of_another_version_than_the_daemon_says_so(page: Page) -> None:
    page.goto("/")
    settle(page)

    def upgrade(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "version": "9.9.9"})

    page.context.route("**/api/v1/overview", upgrade)
    page.context.set_offline(True)
    expect(page.get_by_text("This browser is offline")).to_be_visible(timeout=SOON_MILLISECONDS)
    page.context.set_offline(False)  # everything is read anew then
    notice = page.get_by_text("The daemon now has version 9.9.9")
    expect(notice).to_be_visible(timeout=WAIT_MILLISECONDS)
