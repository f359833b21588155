"""Which exporters the settings open, and what is said where one cannot be."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from maintainer.adapters.telemetry.lineage import LineageExporter
from maintainer.adapters.telemetry.traces import TraceExporter
from maintainer.adapters.telemetry.webhooks import WebhookExporter
from maintainer.app import open_exporters
from maintainer.domain.errors import ConfigurationError
from maintainer.ports.store import Store
from maintainer.settings import Settings, load_settings

NO_STORE = cast("Store", None)
NOWHERE = "http://127.0.0.1:1"
TRACING = f"tracing: {{endpoint: '{NOWHERE}/v1/traces', headers: {{x-scope: planted-secret}}}}\n"
HOOK = f"{{url: '{NOWHERE}/?key=planted-secret', headers: {{x-key: planted-secret}}}}"
WEBHOOKS = f"webhooks: {{refresh: {HOOK}}}\n"
LINEAGE = f"lineage: {{url: '{NOWHERE}', api_key: planted-secret}}\n"


def settings_of(directory: Path, text: str) -> Settings:
    file = directory / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///c.db', warehouse: w}}}}\n{text}"
    )
    return load_settings(file, {})


def test_nothing_is_sent_unless_it_is_configured(tmp_path: Path) -> None:
    assert open_exporters(settings_of(tmp_path, ""), NO_STORE) == ()


def test_webhooks_need_no_extra(tmp_path: Path) -> None:
    (exporter,) = open_exporters(settings_of(tmp_path, WEBHOOKS), NO_STORE)
    with closing(exporter):
        assert isinstance(exporter, WebhookExporter)


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ("{url: 'ftp://a.test'}", "must be an address like https://name.example"),
        ("{url: 'http://169.254.169.254/'}", "a link-local address, which is never used"),
        ('{url: "http://hooks.example/a b"}', "contains a blank, a line break or another"),
        ('{url: "http://hooks.example/a\\r\\nX-Other: 1"}', "contains a blank, a line break"),
        ("{url: 'http://a.test', body: '{\"t\": \"$tabel\"}'}", "has \\$tabel, but a job has only"),
        ("{url: 'http://a.test', body: '50 $'}", "has \\$, but a job has only"),
        ("{url: 'http://a.test', tables: []}", "webhooks.refresh.tables is empty"),
        (
            f"{{url: 'http://a.test', tables: [{'x,' * 101}]}}",
            "webhooks.refresh.tables has 101 entries, over the limit of 100",
        ),
        (
            f"{{url: 'http://a.test', body: '{'x' * 10_001}'}}",
            "webhooks.refresh.body has over 10000 characters",
        ),
        ("{url: 'http://a.test', jobs: failed}", "changed"),
        ("{}", "url"),
    ],
)
def test_a_webhook_that_cannot_work_is_refused(tmp_path: Path, hook: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        settings_of(tmp_path, f"webhooks: {{refresh: {hook}}}\n")


def test_traces_and_lineage_are_sent_where_the_settings_say(tmp_path: Path) -> None:
    tracing, lineage = open_exporters(settings_of(tmp_path, TRACING + LINEAGE), NO_STORE)
    with closing(tracing), closing(lineage):
        assert isinstance(tracing, TraceExporter)
        assert isinstance(lineage, LineageExporter)


def test_secrets_of_receivers_are_not_shown(tmp_path: Path) -> None:
    assert "planted-secret" not in repr(settings_of(tmp_path, TRACING + LINEAGE + WEBHOOKS))


@pytest.mark.parametrize(
    ("text", "package", "extra"),
    [
        (TRACING, "opentelemetry.sdk", "opentelemetry"),
        (LINEAGE, "openlineage.client", "openlineage"),
    ],
)
def test_without_its_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigurationError, match=rf"iceberg-maintainer\[{extra}\]"):
        open_exporters(settings_of(tmp_path, text), NO_STORE)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("collector:4318", "must be an address like"),
        ("https://user:planted-secret@collector", "must be an address like"),
        ("http://169.254.169.254/", "link-local"),
    ],
)
def test_a_receiver_is_an_address_that_may_be_asked(
    tmp_path: Path, address: str, said: str
) -> None:
    for section in (f"tracing: {{endpoint: '{address}'}}\n", f"lineage: {{url: '{address}'}}\n"):
        with pytest.raises(ConfigurationError, match=said) as raised:
            settings_of(tmp_path, section)
        assert "planted-secret" not in str(raised.value)
