"""Values: a closed schema, secrets by reference only, and sentences about what cannot work."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
import yaml
from helm_python import Chart, HelmError

from helm.generator.model import Values
from helm.generator.parts import AS_KUBERNETES
from helm.generator.schema import values_schema
from maintainer.settings import Settings
from tests.helm.charts import (
    CHART,
    FULLNAME,
    NAMESPACE,
    RELEASE,
    SCENARIOS,
    read_values,
    render,
    render_files,
)
from tests.small_http import SmallHandler, serve_on_loopback

LAKE = {"catalogs": {"lake": {"type": "rest", "uri": "https://catalog.example/"}}}
SIGN_IN = LAKE | {"auth": {"tokens": {"me": "${TOKEN}"}}}
TOKEN = {"TOKEN": {"secretName": "tokens", "key": "me"}}
CLUSTER = {
    "mode": "cluster",
    "config": LAKE,
    "store": {"secretName": "store"},
    "link": {"secretName": "link"},
}


def server_of(answers: Mapping[str, int]) -> ThreadingHTTPServer:
    """A server with these statuses by path; other paths answer 200."""

    class Handler(SmallHandler):
        def do_GET(self) -> None:
            self.answer(answers.get(self.path, 200))

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def test_the_defaults_are_those_of_the_model() -> None:
    assert yaml.safe_load((CHART / "values.yaml").read_text()) == Values().model_dump(by_alias=True)


def find_open(schema: Any, at: str = "") -> Iterator[str]:
    """The objects that allow any key, other than those that Kubernetes defines."""
    if isinstance(schema, dict):
        is_object = schema.get("type") == "object" or "properties" in schema
        if is_object and schema.get("$comment") != AS_KUBERNETES:
            rest = schema.get("additionalProperties", True)
            if rest is True or rest == {}:
                yield at
        for key, value in schema.items():
            yield from find_open(value, f"{at}/{key}")
    elif isinstance(schema, list):
        for number, value in enumerate(schema):
            yield from find_open(value, f"{at}/{number}")


def test_the_schema_is_closed_everywhere() -> None:
    daemons = {
        f"/$defs/KubernetesSettings/properties/{name}"
        for name in ("pod_template", "tolerations/items")
    }
    assert set(find_open(values_schema())) == daemons
    assert list(find_open({"properties": {"a": {"type": "object"}}})) == ["", "/properties/a"]


def test_every_setting_of_the_daemon_is_a_value_or_set_by_the_chart() -> None:
    definition = values_schema()["$defs"]["Settings"]
    assert set(Settings.model_fields) - set(definition["properties"]) == {"store", "policies"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_schema_accepts_the_scenarios(scenario: str) -> None:
    with Chart.load(CHART) as chart:
        chart.validate_schema(read_values(scenario))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"replicas": 2}, ["replicas"]),
        ({"migration": "hook"}, ["/migration", "job", "init"]),
        ({"mode": "large"}, ["/mode", "simple", "cluster"]),
        ({"config": {"scann": {}}}, ["/config", "scann"]),
        ({"config": {"scan": {"interval": 5}}}, ["/config/scan/interval", "string"]),
        ({"config": {"scan": {"workers": 65}}}, ["/config/scan/workers", "64"]),
        ({"config": {"store": "sqlite:///x"}}, ["/config", "store"]),
        ({"config": {"policies": "x"}}, ["/config", "policies"]),
        ({"config": {"server": {"port": 1}}}, ["/config/server", "port"]),
        ({"config": {"spark": {"runner": "yarn"}}}, ["/config/spark/runner", "kubernetes"]),
        ({"config": {"catalogs": {"lake": {"a": {"b": "c"}}}}}, ["/config/catalogs/lake/a"]),
        ({"config": {"catalogs": {"lake": {"version": 1.1}}}}, ["/config/catalogs/lake/version"]),
        ({"config": {"kubernetes_policies": {"namespaces": {"a": []}}}}, ["/namespaces/a"]),
        (
            {"config": {"kubernetes_policies": {"namespaces": {"a": ["*"]}, "context": "x"}}},
            ["kubernetes_policies", "context"],
        ),
        ({"prometheusRule": {"runbooks": "docs/alerts.md"}}, ["/prometheusRule/runbooks"]),
        ({"policyDefinition": {"delete": True}}, ["/policyDefinition", "delete"]),
        ({"image": {"digest": "sha256:1"}}, ["/image/digest"]),
        ({"image": {"name": "x"}}, ["/image", "name"]),
        ({"imagePullSecrets": [{"secret": "x"}]}, ["/imagePullSecrets/0"]),
        ({"ingress": {"pathType": "Glob"}}, ["/ingress/pathType"]),
        ({"ingress": {"hosts": [{"host": "a.b", "paths": [{"path": "x"}]}]}}, ["/hosts/0/paths/0"]),
        ({"policies": {"orders.txt": ""}}, ["/policies", "orders.txt"]),
        ({"policies": {"orders.yaml": {"tables": "a"}}}, ["/policies/orders.yaml", "string"]),
        ({"secretEnv": {"a-b": {"secretName": "a", "key": "b"}}}, ["/secretEnv", "a-b"]),
        ({"secretEnv": {"A": {"secretName": "a"}}}, ["/secretEnv/A", "key"]),
        ({"secretEnv": {"A": "secret"}}, ["/secretEnv/A", "object"]),
        ({"persistence": {"size": "big"}}, ["/persistence/size"]),
        ({"api": {"replicas": -1}}, ["/api/replicas"]),
        ({"networkPolicy": {"from": [5]}}, ["/networkPolicy/from/0", "object"]),
        ({"config": {"catalogs": {"lake": {"credential": "id:secret"}}}}, ["lake/credential"]),
        ({"config": {"catalogs": {"lake": {"s3.Secret-Access-Key": "x"}}}}, ["s3.Secret-Access"]),
        ({"config": {"catalogs": {"lake": {"spark": {"token": "x"}}}}}, ["lake/spark/token"]),
        (
            {"config": {"catalogs": {"lake": {"uri": "postgresql://u:word@h/d"}}}},
            ["/config/catalogs/lake/uri"],
        ),
        ({"config": {"auth": {"tokens": {"me": "0123456789abcdef"}}}}, ["/config/auth/tokens/me"]),
        ({"config": {"notifications": {"targets": {"me": "slack://x"}}}}, ["targets/me"]),
        ({"config": {"polaris_policies": {"catalog": "lake", "token": "x"}}}, ["/token"]),
        ({"config": {"spark": {"conf": {"spark.hadoop.password": "x"}}}}, ["hadoop.password"]),
    ],
)
def test_the_schema_refuses(values: dict[str, Any], words: list[str]) -> None:
    with Chart.load(CHART) as chart, pytest.raises(HelmError) as refused:
        chart.validate_schema(values)
    message = str(refused.value)
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "config.catalogs is empty: name at least one catalog"),
        ({"config": LAKE, "simple": {"replicas": 2}}, "simple.replicas is 2, but mode simple has"),
        ({"config": LAKE, "mode": "cluster"}, "several replicas, and they cannot share SQLite"),
        ({"config": LAKE, "api": {"autoscaling": {"enabled": True}}}, "api.autoscaling.enabled is"),
        (
            CLUSTER | {"api": {"autoscaling": {"minReplicas": 9}}},
            "api.autoscaling.minReplicas is 9, above maxReplicas 5",
        ),
        (
            {"config": LAKE, "persistence": {"enabled": False, "existingClaim": "x"}},
            "persistence.existingClaim is given, but persistence.enabled is false",
        ),
        (CLUSTER | {"link": {}}, "give its certificate by link.secretName or link.issuer.name"),
        (CLUSTER | {"link": {"secretName": "x", "withoutTls": True}}, "link.withoutTls is true"),
        (
            {"config": LAKE | {"spark": {"kubernetes": {"namespace": "jobs"}}}},
            "config.spark.kubernetes is given, but the runner is process",
        ),
        (
            CLUSTER | {"config": LAKE | {"spark": {"kubernetes": {"namespace": NAMESPACE}}}},
            "drivers would run in maintenance, the daemon's own namespace",
        ),
        (
            CLUSTER | {"jobs": {"namespace": {"name": NAMESPACE}}},
            "drivers would run in maintenance, the daemon's own namespace",
        ),
        (
            CLUSTER | {"jobs": {"inReleaseNamespace": True, "namespace": {"name": "spark"}}},
            "jobs.inReleaseNamespace is true, but jobs.namespace.name names another",
        ),
        (
            {"config": LAKE, "policies": {"a.yaml": ""}, "gitSync": {"enabled": True}},
            "gitSync.enabled is true, and policies or policyConfigMaps are given too",
        ),
        ({"config": LAKE, "gitSync": {"enabled": True, "image": "x"}}, "gitSync.repository is em"),
        (
            {"config": LAKE, "ingress": {"enabled": True}},
            "ingress.host and ingress.hosts are empty",
        ),
        ({"config": LAKE, "httpRoute": {"enabled": True}}, "httpRoute.parentRefs or"),
        (
            {"config": LAKE, "ingress": {"enabled": True, "host": "a.b"}},
            "the page would be published without a sign-in",
        ),
        (
            {"config": LAKE, "service": {"type": "LoadBalancer"}},
            "the page would be published without a sign-in",
        ),
        (
            {"config": SIGN_IN, "secretEnv": TOKEN, "podMonitor": {"enabled": True}},
            "every scrape would be refused: give podMonitor.token.secretName, or set",
        ),
        (
            {"config": SIGN_IN, "secretEnv": TOKEN, "serviceMonitor": {"enabled": True}},
            "every scrape would be refused: give serviceMonitor.token.secretName, or set",
        ),
        (
            {"config": LAKE, "podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}},
            "podMonitor.enabled and serviceMonitor.enabled are both true",
        ),
        (
            {"config": LAKE, "worker": {"autoscaling": {"enabled": True}}},
            "worker.autoscaling.enabled is true, but mode simple",
        ),
        (
            CLUSTER
            | {"config": LAKE | {"auth": {"oidc": {"issuer": "https://a", "client_id": "b"}}}},
            "config.auth.oidc is given without config.auth.session_key",
        ),
        (
            {"config": {"catalogs": {"lake": {"token": "${LAKE_TOKEN}"}}}},
            "config uses ${LAKE_TOKEN}, but nothing gives that variable: name its Secret in",
        ),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HelmError) as refused:
        render_files(values)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("ingress", "origin"),
    [
        ({}, "http://a.b"),
        ({"tlsSecretName": "tls"}, "https://a.b"),
        ({"tls": [{"hosts": ["a.b"], "secretName": "tls"}]}, "https://a.b"),
        ({"tls": [{"secretName": "tls"}]}, "https://a.b"),
        ({"tls": [{"hosts": ["c.d"], "secretName": "tls"}]}, "http://a.b"),
        ({"host": "", "hosts": [{"host": "a.b"}], "tlsSecretName": "tls"}, "http://a.b"),
        ({"host": "", "hosts": [{"host": "a.b"}], "isHttps": True}, "https://a.b"),
        ({"isHttps": True}, "https://a.b"),
    ],
)
def test_the_daemon_knows_the_origin_of_the_page(ingress: dict[str, Any], origin: str) -> None:
    """Where TLS ends in front of the Ingress, the browser's Origin is HTTPS all the same."""
    values = {
        "config": SIGN_IN,
        "secretEnv": TOKEN,
        "ingress": {"enabled": True, "host": "a.b"} | ingress,
    }
    files = render_files(values)
    (config,) = [
        yaml.safe_load(each["data"]["maintainer.yaml"])
        for text in files.values()
        for each in yaml.safe_load_all(text if "kind: ConfigMap" in text else "")
        if each and "maintainer.yaml" in each.get("data", {})
    ]
    assert [host for host in config["server"]["hosts"] if "a.b" in host] == [origin]
    assert f"{origin}/" in files["iceberg-maintainer/templates/NOTES.txt"]


@pytest.mark.parametrize(
    ("values", "metrics", "overview"),
    [
        ({"config": LAKE}, 200, 200),
        ({"config": SIGN_IN, "secretEnv": TOKEN}, 401, 401),
        (
            {"config": SIGN_IN | {"auth": SIGN_IN["auth"] | {"open_metrics": True}}}
            | {"secretEnv": TOKEN},
            200,
            401,
        ),
    ],
)
def test_the_charts_own_test_expects_what_a_sign_in_refuses(
    values: dict[str, Any], metrics: int, overview: int
) -> None:
    """The container runs here against a server that answers as the daemon does."""
    pod = yaml.safe_load(render_files(values)["iceberg-maintainer/templates/tests/doctor.yaml"])
    (script,) = [one["args"][0] for one in pod["spec"]["containers"] if one["name"] == "ready"]
    for answers, is_fine in (
        ({"/metrics": metrics, "/api/v1/overview": overview}, True),
        ({"/metrics": metrics, "/api/v1/overview": 500}, False),
        ({"/metrics": 401 if metrics == 200 else 200, "/api/v1/overview": overview}, False),
    ):
        with serve_on_loopback(server_of(answers)) as address:
            local = re.sub(r"http://[^/{]+/", f"{address}/", script)
            done = subprocess.run([sys.executable, "-c", local], capture_output=True, check=False)
        assert (done.returncode == 0) is is_fine, done


def test_an_extra_object_keeps_the_templates_of_other_programs() -> None:
    """External Secrets has templates of its own; a text is a template of the chart."""
    template = {"data": {"uri": "postgresql://{{ .user }}@db/store"}}
    secret = {"apiVersion": "v1", "kind": "ExternalSecret", "metadata": {"name": "s"}}
    named = "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ .Release.Name }}-extra'}}"
    files = render_files({"config": LAKE, "extraObjects": [secret | template, named]})
    kept, rendered = filter(
        None, yaml.safe_load_all(files["iceberg-maintainer/templates/extra.yaml"])
    )
    assert kept == secret | template
    assert rendered["metadata"]["name"] == f"{RELEASE}-extra"


def test_a_native_sidecar_is_there_before_the_store_is_needed() -> None:
    """A proxy to the store runs in the migration, and starts before the wait for the schema."""
    proxy = {"name": "proxy", "image": "proxy.example/proxy:1", "restartPolicy": "Always"}
    plain = {"name": "first", "image": "first.example/first:1"}
    found = {
        f"{each['kind']}/{each['metadata']['name']}": [
            one["name"] for one in each["spec"]["template"]["spec"].get("initContainers", ())
        ]
        for each in render(CLUSTER | {"initContainers": [plain, proxy]})
        if each["kind"] in {"Deployment", "Job", "StatefulSet"}
    }
    assert found.pop(f"Job/{FULLNAME}-migrate") == ["proxy"]
    assert found
    assert all(names == ["first", "proxy", "wait-for-schema"] for names in found.values())


def test_a_text_that_looks_like_a_variable_needs_none() -> None:
    values = {"config": {"catalogs": {"lake": {"uri": "$${NOT_A_VARIABLE}"}}}}
    assert render_files(values)


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        (
            {"config": LAKE},
            ["OPEN: config.auth has no sign-in", "OPEN: networkPolicy.enabled is false",
             "iceberg-maintainer-data stays after helm uninstall", "No policies are given"],
        ),
        (
            CLUSTER
            | {"link": {"withoutTls": True}, "ingress": {"enabled": True, "host": "a.b"}}
            | {"withoutSignIn": True},
            ["UNSAFE: link.withoutTls is true", "UNSAFE: the Ingress has no", "http://a.b/",
             "reaches the page from outside the cluster"],
        ),
        (
            {"config": LAKE, "openshift": True, "persistence": {"enabled": False}},
            ["UNSAFE: persistence.enabled is false"],
        ),
        (
            CLUSTER | {"jobs": {"inReleaseNamespace": True}},
            ["UNSAFE: drivers run in the daemon's own namespace"],
        ),
        (
            CLUSTER | {"imagePullSecrets": ["registry"]},
            ["run in maintenance-jobs, which has no Secret of maintenance",
             "Create there the Secrets for registries: registry."],
        ),
    ],
)  # fmt: skip
def test_the_notes_say_what_is_open_or_unsafe(values: dict[str, Any], notes: list[str]) -> None:
    text = render_files(values)["iceberg-maintainer/templates/NOTES.txt"]
    assert [note for note in notes if note not in text] == []


def test_the_notes_of_a_safe_installation_warn_of_nothing() -> None:
    text = render_files(
        CLUSTER
        | {
            "config": LAKE | {"auth": {"tokens": {"me": "${TOKEN}"}}},
            "secretEnv": {"TOKEN": {"secretName": "tokens", "key": "me"}},
            "networkPolicy": {"enabled": True},
        }
    )["iceberg-maintainer/templates/NOTES.txt"]
    assert "OPEN" not in text
    assert "UNSAFE" not in text


@pytest.mark.parametrize(
    ("drain", "seconds"), [("1m", 60), ("1h30m", 5400), ("500ms", 1), ("1.5d", 129600), ("0s", 0)]
)
def test_the_grace_period_has_room_for_the_drain(drain: str, seconds: int) -> None:
    files = render_files({"config": LAKE | {"drain_timeout": drain}})
    documents = yaml.safe_load_all(files["iceberg-maintainer/templates/daemon/simple.yaml"])
    [pod] = [
        each["spec"]["template"]["spec"]
        for each in documents
        if each["kind"] != "PersistentVolumeClaim"
    ]
    assert pod["terminationGracePeriodSeconds"] == seconds + 45


def test_a_changed_configuration_replaces_the_pods_and_a_changed_policy_does_not() -> None:
    def checksum(**more: Any) -> str:
        files = render_files({"config": LAKE} | more)
        text = files["iceberg-maintainer/templates/daemon/simple.yaml"]
        return next(line for line in text.splitlines() if "checksum/config" in line)

    assert checksum() == checksum(policies={"a.yaml": "tables: a.b.c"})
    assert checksum() != checksum(config=LAKE | {"drain_timeout": "2m"})
