"""The built page under the daemon's own Content-Security-Policy, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from maintainer.api.guard import CONTENT_SECURITY_POLICY
from maintainer.api.page import PAGE_DIRECTORY
from tests.api.listening import listening
from tests.api.nouns import GRADE, HEALTH, PLAN, finish_job, make_job, run_job
from tests.api.serving import Client
from tests.web.test_page import PAGES, address, browser, settle

__all__ = ["address", "browser"]  # fixtures
pytestmark = [pytest.mark.browser, pytest.mark.slow]

RECORD = """
window.violations = [];
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
  window.violations.push(`${violatedDirective}: ${blockedURI} ${sample}`));
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.add_init_script(RECORD)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module", params=["", "/data/maintainer"])
def daemon(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the daemon's own server with the built page, a table and two jobs; it may lie
    below a prefix.
    """
    client = Client(page=PAGE_DIRECTORY)
    client.daemon.prefix = request.param
    store = client.daemon.store
    store.record_health(HEALTH, GRADE)
    store.record_plan(PLAN)
    for job in (finish_job(run_job(make_job("job-1"))), run_job(make_job("job-2"))):
        assert store.add_job(job)
    with listening(client.api, client.daemon.stopping) as served:
        yield served.address + request.param


def find_violations(page: Page) -> list[str]:
    found: list[str] = page.evaluate("window.violations")
    return found


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/tables/lake/sales/orders",
        "/jobs",
        "/jobs/job-1",
        "/jobs/job-2",
        "/policies",
        "/nowhere",
        "/docs",
    ],
)
def test_the_daemons_pages_do_nothing_that_their_policy_forbids(
    page: Page, daemon: str, path: str
) -> None:
    response = page.goto(daemon + path)
    assert response is not None
    assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    settle(page)
    assert find_violations(page) == []


def test_links_stay_below_the_prefix(page: Page, daemon: str) -> None:
    page.goto(f"{daemon}/tables")
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page).to_have_url(f"{daemon}/tables/lake/sales/orders")
    expect(page).to_have_title(re.compile("^orders"))
    page.reload()
    expect(page).to_have_title(re.compile("^orders"))


def test_no_page_with_all_its_parts_does_what_the_policy_forbids(page: Page, address: str) -> None:
    page.route("**/*", lay_policy)
    found: dict[str, list[str]] = {}
    for name, path in PAGES.items():
        page.goto(address + path)
        settle(page)
        found[name] = find_violations(page)
    page.goto(address + PAGES["table"])
    expect(page.locator(".chart svg")).to_have_count(2)
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    found["dialog"] = find_violations(page)
    assert {name: violations for name, violations in found.items() if violations} == {}


def lay_policy(route: Route) -> None:
    """The fixtures' answer under the daemon's policy; a stream of events goes on as it is."""
    if route.request.resource_type != "document":
        route.continue_()
        return
    answer = route.fetch()
    route.fulfill(
        response=answer,
        headers={**answer.headers, "content-security-policy": CONTENT_SECURITY_POLICY},
    )


def test_what_the_policy_forbids_does_not_happen(page: Page, daemon: str) -> None:
    page.goto(daemon)
    settle(page)
    page.evaluate(
        "const script = document.createElement('script'); script.textContent = "
        "'window.injected = true'; document.body.append(script)"
    )
    page.evaluate("fetch('https://elsewhere.test/').catch(() => {})")
    page.evaluate(
        "const image = new Image(); image.src = 'https://elsewhere.test/x.png'; "
        "document.body.append(image)"
    )
    page.wait_for_function("window.violations.length >= 3")
    assert {violation.split(":")[0] for violation in find_violations(page)} >= {
        "script-src-elem",
        "connect-src",
        "img-src",
    }
    assert page.evaluate("window.injected") is None
