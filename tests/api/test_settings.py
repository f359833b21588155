"""The effective configuration over HTTP."""

from __future__ import annotations

from pathlib import Path

from maintainer import __version__
from maintainer.api.deps import EffectiveSetting
from maintainer.app.api import list_settings
from maintainer.domain.access import Role
from maintainer.settings import load_settings
from tests.api.people import let_in
from tests.api.serving import Client, expect_problem
from tests.secretive import SECRET, SECRETIVE_SETTINGS


def test_the_settings_are_listed_with_the_version(client: Client) -> None:
    client.daemon.settings = (
        EffectiveSetting("scan.workers", "3", is_default=False),
        EffectiveSetting("tracing", None, is_default=True),
    )
    assert client.get("/api/v1/settings").json() == {
        "version": __version__,
        "settings": [
            {"name": "scan.workers", "value": "3", "is_default": False},
            {"name": "tracing", "value": None, "is_default": True},
        ],
    }


def test_no_secret_is_in_the_answer(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "maintainer.yaml"
    file.write_text(SECRETIVE_SETTINGS)
    client.daemon.settings = list_settings(load_settings(file, {}))
    answer = client.get("/api/v1/settings")
    assert answer.status_code == 200
    assert "tracing.headers.Authorization" in answer.text
    assert SECRET not in answer.text


def test_only_an_admin_of_all_tables_reads_the_settings(client: Client) -> None:
    part = let_in(client, "part", Role.ADMIN, "lake.sales.")
    approver = let_in(client, "approver", Role.APPROVER)
    for refused in (part, approver):
        detail = expect_problem(client.get("/api/v1/settings", refused), 403)
        assert "needs the role admin on all tables" in detail
    assert client.get("/api/v1/settings", let_in(client, "root", Role.ADMIN)).status_code == 200


def test_a_test_message_says_which_targets_received_it(client: Client) -> None:
    assert client.post("/api/v1/notifications/test").json() == {"items": []}
    client.daemon.tried_targets = {"mail": False, "ops": True}
    assert client.post("/api/v1/notifications/test").json()["items"] == [
        {"name": "mail", "is_received": False},
        {"name": "ops", "is_received": True},
    ]
