"""The real driver program in a pod finds its name, its token and its daemon in the pod alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase
from maintainer.api.server import TlsFiles
from tests.adapters.spark.launcher.kubernetes.api_server import open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE, Scene, eventually
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small
from tests.adapters.spark.link.polls import NAME, Home
from tests.adapters.spark.link.serving import served


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with open_api_server() as api:
        kubelet = ProcessKubelet(api, tmp_path / "node", IMAGE)
        ticks = iter(range(1_000_000))
        scene = Scene(Small(api, tmp_path), tmp_path, "1f2e", lambda: next(ticks))
        yield scene
        scene.close()
        kubelet.close()


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA, tmp_path: Path) -> TlsFiles:
    certificate = authority.issue_cert("127.0.0.1")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "server.crt")
    certificate.private_key_pem.write_to_path(tmp_path / "server.key")
    return TlsFiles(tmp_path / "server.crt", tmp_path / "server.key")


def make_spec(scene: Scene, address: str, token: str, authority: trustme.CA) -> DriverSpec:
    return replace(
        scene.spec,
        name=NAME,
        address=address,
        start_token=token,
        authority=authority.cert_pem.bytes().decode(),
    )


def test_a_driver_calls_home_and_tells_why_it_cannot_start(
    scene: Scene, tls: TlsFiles, authority: trustme.CA
) -> None:
    """Its start settings are incomplete, so that no Spark is needed to see the whole way."""
    home = Home()
    with served(home.endpoint, tls) as address:
        launcher = scene.launcher()
        handle = launcher.launch(make_spec(scene, address, home.token, authority))
        eventually(lambda: launcher.state(handle).phase is LaunchPhase.ENDED)
        assert [said["event"] for said in home.heard()] == ["application.failed"]
        assert launcher.state(handle).reason == "the driver ended with exit code 4"
        launcher.end(handle)


def test_a_driver_with_another_token_is_not_heard(
    scene: Scene, tls: TlsFiles, authority: trustme.CA
) -> None:
    home = Home()
    with served(home.endpoint, tls) as address:
        launcher = scene.launcher()
        handle = launcher.launch(make_spec(scene, address, "another", authority))
        eventually(lambda: "status 401" in launcher.log(handle, 0).text)
        assert launcher.state(handle).phase is LaunchPhase.RUNNING
        assert home.heard() == []
