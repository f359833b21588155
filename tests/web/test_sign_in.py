"""Signing in on the page with a real provider, refusals for a viewer, and signing out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from maintainer.adapters.identity import OpenIdProvider, ProviderOptions
from maintainer.api.application import build_api
from maintainer.api.deps import People
from maintainer.domain.access import ClaimRule, Grant, Role
from tests.api.listening import listening
from tests.api.nouns import GRADE, HEALTH, ORDERS, PLAN
from tests.api.serving import Daemon
from tests.oidc import CLIENT, CLIENT_SECRET, Provider, provider
from tests.web.test_page import AXE, browser, run_axe  # noqa: F401 - a fixture

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TABLE = f"/tables/{ORDERS.catalog}/{ORDERS.namespace_text}/{ORDERS.name}"


@pytest.fixture
def people() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def address(people: Provider) -> Iterator[str]:
    """A daemon whose people sign in at the provider: all are viewers."""
    daemon = Daemon()
    daemon.store.record_health(HEALTH, GRADE)
    daemon.store.record_plan(PLAN)
    rules = (ClaimRule(Grant(Role.VIEWER)), ClaimRule(Grant(Role.OPERATOR), "groups", "night"))
    # The callback's port is known when the daemon listens.
    options = ProviderOptions(people.issuer, CLIENT, CLIENT, "", CLIENT_SECRET)
    daemon.people = People(OpenIdProvider(options), rules, page="http://127.0.0.1")
    api = build_api(daemon.context())
    with listening(api, daemon.stopping) as served:
        object.__setattr__(options, "callback", f"{served.address}/api/v1/session/callback")
        yield served.address


@pytest.fixture
def page(browser, address: str) -> Iterator[Page]:  # type: ignore[no-untyped-def]  # noqa: ANN001, F811
    context = browser.new_context(base_url=address)
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


def test_a_viewer_signs_in_is_refused_with_a_reason_and_signs_out(
    page: Page, people: Provider
) -> None:
    people.claims["groups"] = []
    page.goto(TABLE)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_text(ORDERS.name)).to_have_count(0)
    expect(page.get_by_role("navigation")).to_have_count(0)
    assert run_axe(page) == []
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", name=ORDERS.name)).to_be_visible()
    expect(page).to_have_url(re.compile(f"{TABLE}$"))
    run = page.get_by_role("button", name="Run now…")
    expect(run).to_have_attribute("aria-disabled", "true")
    expect(run).to_have_attribute("title", "This needs the role operator; you have viewer here")
    run.click(force=True)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    people.claims["groups"] = ["night"]
    page.get_by_role("link", name="Sign in").click()
    expect(run).not_to_have_attribute("aria-disabled", "true")
    people.is_away = True
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_text("nobody else can sign in until it answers")).to_be_visible()
