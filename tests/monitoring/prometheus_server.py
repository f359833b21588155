"""A Prometheus of our own on a free port of the loopback."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.end_to_end.programs import wait_for


@dataclass(frozen=True)
class Prometheus:
    url: str

    def get(self, path: str) -> Any:
        # Our own server on loopback.
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}", timeout=30) as answer:  # noqa: S310
            return json.loads(answer.read())["data"]

    def query(self, expression: str) -> list[Any]:
        """The result of an instant query, as a list of series."""
        found = self.get(f"query?query={urllib.parse.quote(expression)}")
        result: list[Any] = found["result"]
        return result

    def firing(self) -> set[str]:
        """The names of the alerts that fire now."""
        return {
            alert["labels"]["alertname"]
            for alert in self.get("alerts")["alerts"]
            if alert["state"] == "firing"
        }


@contextmanager
def prometheus(directory: Path, targets: Mapping[str, str], rules: object) -> Iterator[Prometheus]:
    """It scrapes the addresses (host:port, by job) and evaluates the rules each second.

    Each job is in a namespace of its own, which has its name, as installations in Kubernetes are.
    """
    (directory / "rules.yaml").write_text(yaml.safe_dump(rules))
    jobs = [
        {
            "job_name": name,
            "static_configs": [{"targets": [address], "labels": {"namespace": name}}],
        }
        for name, address in targets.items()
    ]
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": jobs,
    }
    (directory / "prometheus.yaml").write_text(yaml.safe_dump(configuration))
    log = directory / "prometheus.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={directory}/prometheus.yaml",
                f"--storage.tsdb.path={directory}/series",
                "--web.listen-address=127.0.0.1:0",
            ],
            stderr=stderr,
        )

    def find_address() -> str | None:
        assert process.poll() is None, log.read_text()
        said = log.read_text()
        found = re.search(r'"Listening on" address=(\S+)', said)
        return found[1] if found and "ready to receive" in said else None

    try:
        yield Prometheus(f"http://{wait_for(find_address, 60, 'Prometheus to start')}")
    finally:
        process.terminate()
        process.wait(30)
