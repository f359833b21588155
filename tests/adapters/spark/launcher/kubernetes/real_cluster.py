"""The launcher on a real API server: make test-kube, with KUBEBUILDER_ASSETS.

Not collected with the other tests, because few machines have these programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.resources.core_v1 import Secret

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from maintainer.domain.errors import RunnerUnavailableError
from tests.adapters.spark.launcher.kubernetes.launcher_suite import NAMESPACE, LauncherSuite, Scene
from tests.adapters.spark.launcher.kubernetes.real_api_server import RealServer, open_real_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    with open_real_server(tmp_path_factory.mktemp("cluster")) as server:
        yield server


@pytest.fixture
def scene(server: RealServer, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(server, tmp_path, uuid4().hex[:8])
    yield scene
    scene.close()


class TestOnARealServer(LauncherSuite):
    def test_the_daemon_reads_no_secret_not_even_its_own(
        self, server: RealServer, scene: Scene
    ) -> None:
        handle = scene.launcher().launch(scene.spec)
        configuration = KubeConfig.from_file(server.daemon(Operator.NONE)).get()
        with (
            closing(Client(config=configuration, namespace=NAMESPACE)) as client,
            pytest.raises(ApiError, match='cannot get resource "secrets"'),
        ):
            client.get(Secret, handle)

    def test_pod_security_accepts_the_pods_and_names_what_it_refuses(
        self, server: RealServer, scene: Scene
    ) -> None:
        server.restrict("restricted")
        try:
            launcher = scene.launcher()
            handle = launcher.launch(scene.spec)
            assert launcher.state(handle).phase is LaunchPhase.STARTING
            launcher.end(handle)
            loose = {"spec": {"hostNetwork": True}}
            with pytest.raises(RunnerUnavailableError, match='refuses the pod by Pod Security "re'):
                scene.launcher(pod_template=loose).launch(scene.spec)
        finally:
            server.restrict("privileged")
