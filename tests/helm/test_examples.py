"""The values files of helm/examples: valid, and readable; their pages may change things."""

from __future__ import annotations

import re
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from helm_python import lint

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.api.guard import AllowedHosts
from maintainer.policy.ambiguity import find_unknown_pools
from maintainer.settings import Settings, load_settings
from tests.helm.charts import (
    CHART,
    EXAMPLES,
    JOBS_NAMESPACE,
    NAMESPACE,
    read_example,
    render_example,
)
from tests.helm.test_scenarios import OTHERS, VERSIONS, validator
from tests.project.repository import read_text


def find_configuration(name: str, kind: str) -> dict[str, str]:
    """The data of the daemon's own ConfigMap, or of that of its policies."""
    data: dict[str, str]
    [data] = [
        each["data"]
        for each in render_example(name)
        if each["kind"] == "ConfigMap" and kind in each["data"]
        if not each["metadata"]["name"].endswith("-migrate")
    ]
    return data


def load(name: str, directory: Path) -> Settings:
    file = directory / "maintainer.yaml"
    file.write_text(find_configuration(name, "maintainer.yaml")["maintainer.yaml"])
    environ = dict.fromkeys(read_example(name)["secretEnv"], "x" * 32)
    if read_example(name).get("mode") == "cluster":
        environ["MAINTAINER_STORE"] = "postgresql://user@store.example/maintainer"
    return load_settings(file, environ)


def test_there_are_ten_examples() -> None:
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_valid_for_each_kubernetes(name: str) -> None:
    report = lint(CHART, read_example(name), strict=True, namespace=NAMESPACE)
    assert report["errors"] == []
    wrong = [
        (each["kind"], each["metadata"]["name"], error.json_path, error.message)
        for each in render_example(name)
        if each["kind"] not in OTHERS | {"ExternalSecret"}
        for version in (VERSIONS[0], VERSIONS[-1])
        for error in validator(version, each["apiVersion"], each["kind"]).iter_errors(each)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_daemon_accepts_an_example_and_its_policies(name: str, tmp_path: Path) -> None:
    settings = load(name, tmp_path)
    assert settings.catalogs
    directory = tmp_path / "policies"
    directory.mkdir()
    for file, text in find_configuration(name, "default.yaml").items():
        (directory / file).write_text(text)
    policies = PolicyDirectory(directory).current()
    assert policies.layers
    found = (*policies.problems, *find_unknown_pools(policies.layers, settings.spark.every_pool))
    assert found == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_of_an_example_may_change_things(name: str, tmp_path: Path) -> None:
    """The browser's Origin is HTTPS, while the proxy in front asks the pod by HTTP."""
    values = read_example(name)
    ingress, route = values.get("ingress", {}), values.get("httpRoute", {})
    host = ingress.get("host") or route["hostnames"][0]
    hosts = AllowedHosts.of("0.0.0.0", load(name, tmp_path).server.hosts)  # noqa: S104
    assert hosts.has(host)
    assert hosts.is_own_origin(f"https://{host}", host, "http")
    assert not hosts.is_own_origin(f"http://other.{host}", host, "http")


@pytest.mark.parametrize("name", EXAMPLES)
def test_drivers_of_an_example_are_apart_from_its_daemon(name: str, tmp_path: Path) -> None:
    pools = load(name, tmp_path).spark.every_pool.values()
    namespaces = {pool.kubernetes.namespace for pool in pools if pool.kubernetes}
    expected = {"nginx-oidc": set[str](), "private-registry-and-ca": {"spark-jobs"}}
    assert namespaces == expected.get(name, {JOBS_NAMESPACE})


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_secret_of_an_example_is_named_in_its_values(name: str) -> None:
    """Nothing in an example is a secret."""
    assert "${" in str(read_example(name)["config"])
    written: Any = [each for each in render_example(name) if each["kind"] == "Secret"]
    assert written == []


@pytest.mark.parametrize("name", ["argo-cd", "flux-external-secrets"])
def test_no_hook_needs_what_the_release_creates(name: str) -> None:
    hooks = [each["metadata"].get("annotations", {}) for each in render_example(name)]
    assert {each["helm.sh/hook"] for each in hooks if "helm.sh/hook" in each} == {"test"}


def test_the_guide_makes_a_certificate_that_drivers_trust(tmp_path: Path) -> None:
    """Its commands run here, without kubectl; a client checks the name of the link's Service."""
    page = read_text("docs/install-kubernetes.md")
    [block] = [one for one in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "openssl" in one]
    commands = block[: block.index("kubectl")]
    subprocess.run(["sh", "-ec", commands], cwd=tmp_path, check=True, capture_output=True)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT
    name = f"maintainer-iceberg-maintainer-link.{NAMESPACE}.svc"
    there, here, here_out, there_out = (ssl.MemoryBIO() for _ in range(4))
    client = trusting.wrap_bio(here, here_out, server_hostname=name)
    server = serving.wrap_bio(there, there_out, server_side=True)
    for _ in range(3):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
            there.write(here_out.read())
            here.write(there_out.read())
    assert client.getpeercert()
