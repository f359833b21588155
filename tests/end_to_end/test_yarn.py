"""The daemon with its drivers as applications of Hadoop's own resource and node manager, which
accept nobody without Kerberos.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.launcher.yarn.resource_manager import ResourceManager
from maintainer.domain.errors import RunnerUnavailableError
from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import configure, end_two_daemons
from tests.end_to_end.places import spark_lines
from tests.kdc import USER, Kerberos, serve_kerberos
from tests.yarn import Yarn, serve_yarn

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(900)]

SECONDS_TO_START = 400  # three JVMs in a row on a busy machine; alone they take forty


@pytest.fixture
def kerberos(tmp_path: Path) -> Iterator[Kerberos]:
    with serve_kerberos(tmp_path / "kdc") as kerberos:
        yield kerberos


@pytest.fixture
def cluster(tmp_path: Path, kerberos: Kerberos) -> Iterator[Yarn]:
    with serve_yarn(tmp_path / "yarn", kerberos=kerberos) as cluster:
        yield cluster


def test_a_rewrite_on_yarn_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    lake: Lake, cluster: Yarn, kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", kerberos.java_option)  # of spark-submit
    configure(lake, spark_lines(cluster, kerberos))
    end_two_daemons(lake, cluster.living, SECONDS_TO_START)
    [application] = cluster.applications()
    end = (application["state"], application["finalStatus"])
    assert end == ("FINISHED", "SUCCEEDED"), application["diagnostics"]
    assert (application["queue"], application["user"]) == ("root.maintenance", "maintainer")
    kept = [
        path
        for directory in ("staging", "local")
        for path in (cluster.root / directory).rglob("*")
        if path.is_file() and b"catalog.db" in path.read_bytes()
    ]
    assert not kept, "catalog settings go over the link only"
    staged = [path for path in (cluster.root / "staging").rglob("*") if path.is_file()]
    assert not staged, "the start token and the keytab go with the application"
    ResourceManager(YarnOptions((cluster.url,), principal=USER)).kill(application["id"])
    with pytest.raises(RunnerUnavailableError, match="forbids it"):
        ResourceManager(YarnOptions((cluster.url,), user="another")).kill(application["id"])
