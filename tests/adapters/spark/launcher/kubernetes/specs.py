"""Drivers and options for the tests, and the golden files that are written from them."""

from __future__ import annotations

from pathlib import Path

import yaml

from maintainer.adapters.kubernetes.objects import Manifest
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.kubernetes.options import (
    KubernetesOptions,
    Operator,
    Queueing,
)
from maintainer.adapters.spark.launcher.kubernetes.pods import pod_settings
from maintainer.adapters.spark.launcher.kubernetes.rendering import render
from maintainer.adapters.spark.options import Executors
from maintainer.domain.pool import JobSize

GOLDEN = Path(__file__).parent / "golden"
TOKEN = "start-token-that-must-not-show"  # noqa: S105 - planted
AUTHORITY = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
IMAGE = "registry.example/maintainer:0.1.0"

SMALL = DriverSpec(
    name="maintainer-1f2e-small-1",
    installation="1f2e",
    size=JobSize.SMALL,
    memory="2g",
    executors=None,
    address="https://maintainer-link.maintenance.svc:8090",
    start_token=TOKEN,
)
LARGE = DriverSpec(
    name="maintainer-1f2e-large-1",
    installation="1f2e",
    size=JobSize.LARGE,
    memory="8g",
    executors=Executors(4, "16g", 4),
    address="https://maintainer-link.maintenance.svc:8090",
    start_token=TOKEN,
    authority=AUTHORITY,
)
PLAIN = KubernetesOptions(namespace="spark-jobs", image=IMAGE)
FULL = KubernetesOptions(
    namespace="spark-jobs",
    image=IMAGE,
    image_pull_policy="Always",
    image_pull_secrets=("registry",),
    driver_cores=4,
    driver_overhead=0.4,
    pod_template={
        "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}},
        "spec": {
            "securityContext": {"runAsUser": 2000},
            "volumes": [{"name": "work", "emptyDir": {"sizeLimit": "50Gi"}}],
        },
    },
    node_selector={"pool": "batch"},
    tolerations=({"key": "spot", "operator": "Exists", "effect": "NoSchedule"},),
    priority_class="low",
    labels={"team": "data"},
    annotations={"cost-centre": "42"},
    env={"TZ": "UTC"},
    queueing=Queueing.KUEUE,
    queue="maintenance",
)


def cases() -> dict[str, list[Manifest]]:
    """What leaves the daemon, by the name of its golden file."""
    small, large = (
        {
            operator: KubernetesOptions(namespace="spark-jobs", image=IMAGE, operator=operator)
            for operator in Operator
        },
        FULL,
    )
    return {
        **{f"{operator}-small": render(SMALL, options) for operator, options in small.items()},
        **{f"{operator}-large": render(LARGE, options) for operator, options in small.items()},
        "none-every-option": render(LARGE, large),
        "settings": [dict(pod_settings(SMALL, PLAIN)), dict(pod_settings(LARGE, FULL))],
    }


class _Plain(yaml.SafeDumper):
    """Writes equal parts out, because readers do not follow references."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def write(manifests: list[Manifest]) -> str:
    return yaml.dump_all(manifests, Dumper=_Plain, sort_keys=False, width=100)


if __name__ == "__main__":
    for name, manifests in cases().items():
        (GOLDEN / f"{name}.yaml").write_text(write(manifests))
