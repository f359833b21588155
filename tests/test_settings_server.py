"""The names that the server answers to, from the configuration to the API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from maintainer.app import open_app
from maintainer.app.api import make_context
from maintainer.app.loop import make_scheduler
from maintainer.domain.errors import ConfigurationError
from maintainer.settings import Settings, load_settings

CATALOGS = "catalogs: {lake: {type: sql, uri: 'sqlite:///lake.db', warehouse: lake}}\n"


def load(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> Settings:
    file = tmp_path / "maintainer.yaml"
    file.write_text(CATALOGS + text)
    (tmp_path / "policies").mkdir(exist_ok=True)
    return load_settings(file, environ or {})


def test_configured_hosts_reach_the_api(tmp_path: Path) -> None:
    settings = load(
        tmp_path, "server: {host: 10.0.0.7, hosts: [lake.test, 'https://maintainer.test']}\n"
    )
    with open_app(settings) as app:
        hosts = make_context(app, make_scheduler(app)).hosts
    assert all(
        hosts.has(name) for name in ("localhost", "10.0.0.7:8080", "lake.test", "maintainer.test")
    )
    assert not hosts.has("other.test")
    assert hosts.is_own_origin("https://maintainer.test", "10.0.0.7:8080", "http")


def test_a_variable_lists_hosts_with_commas(tmp_path: Path) -> None:
    settings = load(
        tmp_path, "", {"MAINTAINER_SERVER__HOSTS": "lake.test, https://maintainer.test:8443"}
    )
    assert settings.server.hosts == ("lake.test", "https://maintainer.test:8443")


@pytest.mark.parametrize(
    "host",
    [
        "https://lake.test/page",
        "user@lake.test",
        "*.lake.test",
        "lake test",
        "",
        "ftp://lake.test",
        "lake.test:port",
    ],
)
def test_what_is_no_host_is_refused_by_name(tmp_path: Path, host: str) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"maintainer\.yaml:2: server\.hosts has .*, but a host is a name like lake\.example",
    ):
        load(tmp_path, f"server: {{hosts: ['{host}']}}\n")


def test_a_port_above_the_greatest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"server\.hosts has 'lake\.test:70000', but a port is at most 65535",
    ):
        load(tmp_path, "server: {hosts: ['lake.test:70000']}\n")


def test_proxies_are_addresses_and_networks(tmp_path: Path) -> None:
    environ = {"MAINTAINER_SERVER__PROXIES": "10.0.0.0/8, ::1"}
    assert load(tmp_path, "", environ).server.proxies == ("10.0.0.0/8", "::1")
    for proxy in ("proxy.test", "10.0.0.1/8"):
        with pytest.raises(
            ConfigurationError, match=rf"server\.proxies has '{proxy}', but a proxy"
        ):
            load(tmp_path, f"server: {{proxies: ['{proxy}']}}\n")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("''", ""), ("/", ""), ("/maintainer/", "/maintainer"), ("/a/b.c", "/a/b.c")],
)
def test_a_prefix_is_a_path(tmp_path: Path, written: str, meant: str) -> None:
    assert load(tmp_path, f"server: {{prefix: {written}}}\n").server.prefix == meant


@pytest.mark.parametrize("prefix", ["maintainer", "https://lake.test", "/a b", "//a", '/"x'])
def test_what_is_no_prefix_is_refused_by_name(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"server\.prefix is .*, but must be a path such as"
    ):
        load(tmp_path, f"server: {{prefix: '{prefix}'}}\n")
