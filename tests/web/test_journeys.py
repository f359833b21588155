"""What people come to the page for, each as one journey through the built page.

The page talks to the daemon's own server; behind the ports are fakes, so that no Spark is needed.
`tests/end_to_end/test_journeys.py` walks from the worst table over a paused namespace, a dry run, a
run and its proof to the rollback on a real daemon with a real Spark; there a person also approves
and restores orphan files, and a viewer is refused. The journeys and their tests:

| journey | test |
|---|---|
| find the worst table, understand why | `test_the_worst_table_is_found_and_says_why` |
| dry run | `test_a_dry_run_says_what_would_run_and_starts_nothing` |
| run | `test_a_run_is_confirmed_and_leads_to_its_job` |
| watch | `test_page.py: test_a_job_begins_with_its_proof_and_unfolds_its_activity` |
| see before and after | `test_a_finished_job_shows_before_and_after` |
| pause a namespace | `test_a_paused_namespace_pauses_its_tables_until_it_is_resumed` |
| draft a policy, see what changes | `test_a_draft_says_which_verdicts_it_changes` |
| approve orphan files | `test_orphan_files_are_approved_by_name` |
| roll back | `test_a_finished_job_is_rolled_back_after_a_question` |
| read an error | `test_a_refused_rollback_says_why_in_the_daemons_words` |
| sign in as viewer and be refused | `test_sign_in.py: test_a_viewer_signs_in_is_refused_...` |
| report on small files, rescue plan | `test_the_report_leads_to_the_rescue_plan_of_a_table` |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from maintainer.api.page import PAGE_DIRECTORY
from maintainer.domain.errors import MaintainerError
from maintainer.domain.orphan import OrphanListState
from tests.api.listening import listening
from tests.api.nouns import GRADE, HEALTH, ORDERS, PLAN, finish_job, make_job, measure, run_job
from tests.api.serving import Client
from tests.api.test_orphans import FILES, WAITING
from tests.web.test_page import WAIT_MILLISECONDS, browser, settle

__all__ = ["browser"]  # a fixture
pytestmark = [pytest.mark.browser, pytest.mark.slow]
TABLE = f"/tables/{ORDERS.catalog}/{ORDERS.namespace_text}/{ORDERS.name}"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A daemon that knows a neglected table with a plan, a finished job and an orphan list."""
    client = Client(page=PAGE_DIRECTORY)
    client.daemon.stand_in(monkeypatch)
    store = client.daemon.store
    store.record_health(HEALTH, GRADE)
    store.record_health(measure(replace(ORDERS, namespace=("raw",))), GRADE)
    store.record_plan(PLAN)
    assert store.add_job(finish_job(run_job(make_job("job-1"))))
    store.add_orphan_list(WAITING, FILES)
    return client


@pytest.fixture
def page(browser: Browser, client: Client) -> Iterator[Page]:
    with listening(client.api, client.daemon.stopping) as served:
        context = browser.new_context(
            base_url=served.address, viewport={"width": 1280, "height": 900}
        )
        context.set_default_timeout(WAIT_MILLISECONDS)
        yield context.new_page()
        context.close()


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    settle(page)


def test_the_worst_table_is_found_and_says_why(page: Page) -> None:
    open_page(page, "/")
    now = page.get_by_role("region", name="Now", exact=True)
    now.get_by_role("link", name="lake.sales.orders", exact=True).first.click()
    expect(page.get_by_role("heading", name=ORDERS.name)).to_be_visible()
    expect(page.get_by_text("Files are small").first).to_be_visible()


def test_a_dry_run_says_what_would_run_and_starts_nothing(page: Page, client: Client) -> None:
    open_page(page, f"{TABLE}?tab=jobs")
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_role("button", name="Plan again").click()
    plan = page.get_by_role("region", name="Plan", exact=True)
    expect(plan.get_by_text("Would run").first).to_be_visible()
    assert client.daemon.previews == [(ORDERS, None)]
    assert client.daemon.runs == []


def test_a_run_is_confirmed_and_leads_to_its_job(page: Page, client: Client) -> None:
    open_page(page, TABLE)
    page.get_by_role("button", name="Run now…").click()
    dialog = page.get_by_role("dialog")
    assert client.daemon.runs == []
    expect(dialog.get_by_text(".system.rewrite_data_files(")).to_be_visible()
    dialog.get_by_role("button", name="Run now").click()
    expect(dialog.get_by_role("link", name="Compact data files")).to_be_visible()
    assert [table for table, _, _ in client.daemon.runs] == [ORDERS]


def test_a_finished_job_shows_before_and_after(page: Page) -> None:
    open_page(page, "/jobs/job-1")
    achieved = page.get_by_role("region", name="What the job achieved")
    expect(achieved).to_contain_text("100 → 2 files")
    page.get_by_role("heading", name="Before and after").click()
    expect(page.get_by_text("98 files fewer").first).to_be_visible()
    expect(page.get_by_role("row", name="Data files 100 2")).to_be_visible()


def test_a_paused_namespace_pauses_its_tables_until_it_is_resumed(
    page: Page, client: Client
) -> None:
    open_page(page, "/namespaces")
    page.get_by_role("button", name="Pause… lake.sales").click()
    dialog = page.get_by_role("dialog", name="Pause lake.sales")
    dialog.get_by_label("Reason").fill("the month is closed")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("group", name="Pauses in force")).to_contain_text("lake.sales")
    (pause,) = client.daemon.store.scope_pauses()
    assert (pause.reason, pause.is_drain) == ("the month is closed", False)
    page.get_by_role("link", name="lake.sales", exact=True).click()
    page.get_by_role("link", name=ORDERS.name, exact=True).click()
    said = page.get_by_text("paused lake.sales").first
    expect(said).to_be_visible()
    expect(said).to_contain_text("the month is closed")
    open_page(page, TABLE.replace("/sales/", "/raw/"))
    expect(page.get_by_text("paused lake.sales")).to_have_count(0)
    open_page(page, "/namespaces")
    page.get_by_role("button", name="Resume lake.sales").click()
    expect(page.get_by_text("Nothing is paused.")).to_be_visible()
    open_page(page, TABLE)
    expect(page.get_by_text("paused lake.sales")).to_have_count(0)


def test_a_draft_says_which_verdicts_it_changes(page: Page) -> None:
    open_page(page, "/policies?tab=draft")
    page.get_by_role("button", name="Try out on the fleet").click()
    expect(page.get_by_text("1 table of 1 would change its verdict")).to_be_visible()
    changed = page.get_by_role("group", name="Changed verdicts")
    expect(changed).to_contain_text("lake.sales.orders")
    expect(changed).to_contain_text("Would run")


def test_orphan_files_are_approved_by_name(page: Page, client: Client) -> None:
    open_page(page, f"{TABLE}?tab=files")
    page.get_by_role("button", name="Files", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(FILES[0].path)).to_be_visible()
    dialog.get_by_label("Your name").fill("ada")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog).to_have_count(0)
    (listed,) = client.daemon.store.orphan_lists(ORDERS)
    assert (listed.state, listed.decided_by) == (OrphanListState.APPROVED, "ada")


def test_a_finished_job_is_rolled_back_after_a_question(page: Page, client: Client) -> None:
    open_page(page, "/jobs/job-1")
    page.get_by_role("button", name="Roll back…").click()
    assert client.daemon.rollbacks == []
    page.get_by_role("button", name="Roll the job back").click()
    expect(page.get_by_role("link", name="Open the rollback job")).to_be_visible()
    assert [job_id for job_id, _ in client.daemon.rollbacks] == ["job-1"]


def test_a_refused_rollback_says_why_in_the_daemons_words(page: Page, client: Client) -> None:
    client.daemon.refusal = MaintainerError("a writer has committed snapshot 19 since")
    open_page(page, "/jobs/job-1")
    page.get_by_role("button", name="Roll back…").click()
    page.get_by_role("button", name="Roll the job back").click()
    expect(page.get_by_role("alert")).to_contain_text("a writer has committed snapshot 19 since")


def test_the_report_leads_to_the_rescue_plan_of_a_table(page: Page) -> None:
    open_page(page, "/reports")
    page.get_by_label("Storage").select_option("hdfs")
    expect(page.get_by_text("of that with large files on HDFS")).to_be_visible()
    page.get_by_role("link", name="Rescue plan: lake.sales.orders").click()
    rescue = page.get_by_role("region", name="Rescue plan")
    expect(rescue.get_by_text("no rule of the policy improves it further")).to_be_visible()
