"""One person's day on the page of a real daemon, with a real Spark behind it; and a viewer's.

The shorter journeys, each on its own, are in `tests/web/test_journeys.py`.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from maintainer.domain.identifier import TableIdentifier
from tests.adapters.spark.lakes import SCHEMA, Lake, WallClock
from tests.end_to_end.outliving import find_free_port
from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.oidc import CLIENT, CLIENT_SECRET, Provider, provider
from tests.prerequisites import find_chromium
from tests.web.test_page import FLAGS

pytestmark = [
    pytest.mark.spark,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(400),
]
SOON_MILLISECONDS = 60_000
SPARK_MILLISECONDS = 200_000
TABLE = "/tables/lake/db/events"
LITTERED = "/tables/lake/yard/visits"
OLD = timedelta(days=30)
REMOVAL = """\
tables: lake.yard.visits
mode: enforce
rules: {remove_orphan_files: {older_than: 3d}}
"""
DRAFT = """\
tables: lake.db.events
mode: enforce
rules:
  rewrite_data_files: {when: {small_file_count_above: 10}, hot_partition_age: 0s}
"""


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(SOON_MILLISECONDS)
        expect.set_options(timeout=SOON_MILLISECONDS)
        yield page
        browser.close()


@pytest.fixture
def daemon(empty_lake: Lake) -> Iterator[Daemon]:
    """A daemon that observes two neglected tables in two namespaces, and an orderly one."""
    empty_lake.create("events", files=60)
    empty_lake.create("clicks", "raw", files=20)
    create_littered(empty_lake)
    policies = empty_lake.root / "policies"
    policies.mkdir()
    (policies / "default.yaml").write_text(
        'tables: "*"\nmode: observe\nrules:\n'
        "  rewrite_data_files: {when: {small_file_count_above: 10}, hot_partition_age: 0s}\n"
    )
    (empty_lake.root / "maintainer.yaml").write_text(
        f"catalogs: {json.dumps({'lake': empty_lake.properties})}\n"
        "scan: {interval: 1s}\nplan: {interval: 1s}\nsubmit: {interval: 1s}\n"
        "review: {interval: 1s}\nspark: {driver_memory: 640m}\n"
    )
    with serving(empty_lake.root) as running:
        wait_for(
            lambda: running.get("/api/v1/overview")["measured_tables"] == 3,
            120,
            f"three measured tables; said:\n{running.said()}",
        )
        wait_for(lambda: outlook_of(running, TABLE) != "unknown", 60, "a plan")
        yield running
        assert running.stop() == 0, running.said()  # else its idle Spark would outlive the test


def create_littered(lake: Lake) -> Path:
    """A table whose files all lie in its location, with one file that a writer left there."""
    lake.catalog.create_namespace("yard")
    table = lake.catalog.create_table("yard.visits", SCHEMA)
    rows = pa.table({"id": range(1000), "part": [0] * 1000, "text": ["x"] * 1000})
    for _ in range(4):
        table.append(rows.cast(table.schema().as_arrow()))
    stray = stray_of(lake)
    stray.write_bytes(b"left over by a writer that failed")
    moment = (WallClock().now() - OLD).timestamp()
    os.utime(stray, (moment, moment))
    return stray


def stray_of(lake: Lake) -> Path:
    location = lake.catalog.load_table("yard.visits").location()
    return Path(location.removeprefix("file://")) / "data" / "stray.parquet"


def grow_old(lake: Lake) -> None:
    """The daemon has known the tables for a month: younger ones have no orphan scan."""
    with closing(sqlite3.connect(lake.root / "maintainer.db")) as store, store:
        store.execute(
            "UPDATE tables SET first_seen_at = first_seen_at - ?",
            (OLD // timedelta(microseconds=1),),
        )


def outlook_of(daemon: Daemon, path: str) -> str:
    kind: str = daemon.get(f"/api/v1{path}")["outlook"]["kind"]
    return kind


def pause_the_namespace(page: Page, daemon: Daemon) -> None:
    """The tables of the namespace are paused, those of another are not, until it is resumed."""
    page.goto(f"{daemon.url}/namespaces")
    page.get_by_role("button", name="Pause… lake.db").click()
    dialog = page.get_by_role("dialog", name="Pause lake.db")
    dialog.get_by_label("Reason").fill("the month is closed")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("group", name="Pauses in force")).to_contain_text("lake.db")
    page.goto(daemon.url + TABLE)
    expect(page.get_by_text("the month is closed").first).to_be_visible()
    assert outlook_of(daemon, TABLE) == "paused"
    assert outlook_of(daemon, "/tables/lake/raw/clicks") != "paused"
    page.goto(f"{daemon.url}/namespaces")
    page.get_by_role("button", name="Resume lake.db").click()
    expect(page.get_by_text("Nothing is paused.")).to_be_visible()
    assert outlook_of(daemon, TABLE) != "paused"


def draft_a_policy(page: Page, daemon: Daemon) -> None:
    """The trial names the tables whose verdicts the draft would change, and changes nothing."""
    page.goto(f"{daemon.url}/policies?tab=draft")
    page.get_by_label("Policy as YAML").fill(DRAFT)
    page.get_by_role("button", name="Try out on the fleet").click()
    changed = page.get_by_role("group", name="Changed verdicts")
    expect(changed).to_contain_text("lake.db.events")
    assert daemon.get("/api/v1/jobs")["items"] == []


def read_an_error(page: Page, daemon: Daemon, lake: Lake) -> None:
    """A mistyped policy is in the inbox with its file, its line and the nearest key."""
    mistyped = lake.root / "policies" / "mistyped.yaml"
    mistyped.write_text('tables: "*"\nmode: observe\nrulez: {}\n')
    page.goto(f"{daemon.url}/inbox")
    expect(page.get_by_text(re.compile(r"mistyped\.yaml")).first).to_be_visible()
    expect(page.get_by_text(re.compile("did you mean 'rules'")).first).to_be_visible()
    mistyped.unlink()
    wait_for(lambda: "rulez" not in json.dumps(daemon.get("/api/v1/inbox")), 60, "it to be gone")
    page.reload()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    expect(page.get_by_text(re.compile("did you mean 'rules'"))).to_have_count(0)


def run_and_watch(page: Page, daemon: Daemon) -> None:
    """From the dry run to the proof; the page follows the job by itself."""
    page.goto(f"{daemon.url}{TABLE}?tab=jobs")
    page.get_by_role("button", name="Plan again").click()
    page.get_by_role("button", name="Run now…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(".system.rewrite_data_files(")).to_be_visible()
    chosen = dialog.get_by_role("checkbox", name="Compact data files")
    if not chosen.is_checked():  # in observe mode nothing is chosen for a person
        chosen.check()
    dialog.get_by_role("button", name="Run now").click()
    dialog.get_by_role("link", name="Compact data files").click()
    expect(page).to_have_url(re.compile("/jobs/"))
    expect(page.get_by_text("Succeeded", exact=True).first).to_be_visible(
        timeout=SPARK_MILLISECONDS
    )
    page.get_by_role("heading", name="Before and after").click()
    expect(page.get_by_role("row", name=re.compile("^Data files 60 1"))).to_be_visible()


def roll_back(page: Page) -> None:
    """The job page leads to the rollback job, which ends too."""
    page.get_by_role("button", name="Roll back…").click()
    page.get_by_role("button", name="Roll the job back").click()
    page.get_by_role("link", name="Open the rollback job").click()
    expect(page.get_by_text("Succeeded", exact=True).first).to_be_visible(
        timeout=SPARK_MILLISECONDS
    )


def reload_when(page: Page, daemon: Daemon, state: str) -> None:
    """Show the orphan list once the daemon has brought it there: the page asks again in 15 s only,
    and has done so by itself before.
    """

    def has_come() -> bool:
        return [one["state"] for one in daemon.get(f"/api/v1{LITTERED}/orphans")["items"]] == [
            state
        ]

    wait_for(has_come, SPARK_MILLISECONDS / 1000, f"a list that is {state}")
    page.reload()


def approve_orphans(page: Page, daemon: Daemon, lake: Lake) -> None:
    """The file that Spark found goes into quarantine when it is approved, and comes back."""
    stray = stray_of(lake)
    grow_old(lake)
    (lake.root / "policies" / "yard.yaml").write_text(REMOVAL)
    page.goto(f"{daemon.url}{LITTERED}?tab=files")
    lists = page.get_by_role("group", name="Orphan files, lists")
    expect(lists).to_contain_text("Waiting for approval", timeout=SPARK_MILLISECONDS)
    lists.get_by_role("button", name="Files").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(stray.name)).to_be_visible()
    expect(dialog.get_by_text("moved to quarantine by the next job")).to_be_visible()
    assert stray.exists()
    dialog.get_by_label("Your name").fill("ada")
    dialog.get_by_role("button", name="Approve").click()
    reload_when(page, daemon, "quarantined")
    expect(lists).to_contain_text("In quarantine")
    expect(lists).to_contain_text("by ada")
    assert not stray.exists()
    lists.get_by_role("button", name="Files").click()
    expect(dialog.get_by_text("the next job on the table moves them back")).to_be_visible()
    dialog.get_by_label("Your name").fill("ada")
    dialog.get_by_role("button", name="Restore").click()
    reload_when(page, daemon, "restored")
    expect(lists).to_contain_text("Restored")
    assert stray.read_bytes() == b"left over by a writer that failed"


def test_a_neglected_table_is_found_paused_maintained_and_rolled_back(
    page: Page, daemon: Daemon, empty_lake: Lake
) -> None:
    page.goto(daemon.url)
    now = page.get_by_role("region", name="Now", exact=True)
    expect(now.get_by_role("link", name="lake.db.events")).to_be_visible()
    expect(now.get_by_text(re.compile("small files 60, threshold"))).to_be_visible()
    pause_the_namespace(page, daemon)
    draft_a_policy(page, daemon)
    read_an_error(page, daemon, empty_lake)
    page.goto(f"{daemon.url}/reports?table=lake.db.events")
    rescue = page.get_by_role("region", name="Rescue plan")
    expect(rescue.get_by_text(re.compile("^Healthy after 1 job"))).to_be_visible()
    run_and_watch(page, daemon)
    events = TableIdentifier("lake", ("db",), "events")
    assert empty_lake.data_files(events) == 1
    roll_back(page)
    assert empty_lake.data_files(events) == 60
    approve_orphans(page, daemon, empty_lake)


@pytest.fixture
def people() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def guarded(empty_lake: Lake, people: Provider) -> Iterator[Daemon]:
    """A daemon with one table, to which the provider signs in everybody as a viewer."""
    empty_lake.create("events", files=12)
    (empty_lake.root / "policies").mkdir()
    port = find_free_port()  # the provider must know the page before the daemon listens
    auth = {
        "session_key": "a-session-key-of-this-test-alone",
        "oidc": {
            "issuer": people.issuer,
            "client_id": CLIENT,
            "client_secret": CLIENT_SECRET,
            "page": f"http://127.0.0.1:{port}",
            "roles": [
                {"role": "viewer"},
                {"claim": "groups", "value": "night", "role": "operator"},
            ],
        },
    }
    (empty_lake.root / "maintainer.yaml").write_text(
        f"catalogs: {json.dumps({'lake': empty_lake.properties})}\nauth: {json.dumps(auth)}\n"
        "scan: {interval: 1s}\nplan: {interval: 1s}\n"
    )
    with serving(empty_lake.root, MAINTAINER_SERVER__PORT=str(port)) as running:
        yield running
        assert running.stop() == 0, running.said()


def test_a_viewer_signs_in_and_is_refused_what_an_operator_may_do(
    page: Page, guarded: Daemon, people: Provider
) -> None:
    people.claims["groups"] = []
    page.goto(guarded.url + TABLE)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", name="events")).to_be_visible()
    run = page.get_by_role("button", name="Run now…")
    expect(run).to_have_attribute("aria-disabled", "true")
    expect(run).to_have_attribute("title", "This needs the role operator; you have viewer here")
    refused = page.request.post(
        f"{guarded.url}/api/v1{TABLE}/run",
        data={"rules": ["rewrite_data_files"]},
        headers={"Origin": guarded.url},
    )
    assert refused.status == 403, refused.text()
    assert "needs the role operator" in refused.json()["detail"]
    people.claims["groups"] = ["night"]
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").click()
    expect(run).not_to_have_attribute("aria-disabled", "true")
