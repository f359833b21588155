"""The jars of these servers, pinned in the lock files beside this module.

``python -m tests.java_servers.jars`` fetches them. Spark's own download knows no classifiers, which
three of them have, so Ivy is asked directly.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from xml.etree import ElementTree as ET

from maintainer.adapters.spark.jars import spark_home
from maintainer.adapters.spark.java import find_java

SERVERS = ("iceberg-rest", "nessie", "s3proxy")
_DIRECTORY = Path(sys.prefix) / "share" / "iceberg-maintainer" / "test-jars"
_MAVEN = "http://ant.apache.org/ivy/maven"  # the name of an XML namespace
_FETCH_SECONDS = 900


@dataclass(frozen=True)
class PinnedJar:
    """One line of a lock: ``GROUP:ARTIFACT:VERSION[:CLASSIFIER]@SHA256``."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @classmethod
    def parse(cls, line: str) -> PinnedJar:
        coordinate, _, sha256 = line.partition("@")
        group, artifact, version, *classifier = coordinate.split(":")
        return cls(group, artifact, version, "".join(classifier), sha256)

    @property
    def path(self) -> Path:
        parts = [self.artifact, self.version, *filter(None, [self.classifier])]
        return _DIRECTORY / f"{'-'.join(parts)}.jar"

    @property
    def is_intact(self) -> bool:
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest() == self.sha256


def find_server_jars(server: str) -> list[Path]:
    """The server's class path. FileNotFoundError names the command that fetches what is missing."""
    jars = _read_lock(server)
    for jar in jars:
        if not jar.is_intact:
            message = f"{jar.path} is missing or damaged; run: {sys.executable} -m {__name__}"
            raise FileNotFoundError(message)
    return [jar.path for jar in jars]


def fetch_server_jars(servers: Iterable[str] = SERVERS) -> None:
    """Fetch what is missing. ValueError names a jar whose contents are not the pinned ones."""
    missing = [jar for server in servers for jar in _read_lock(server) if not jar.is_intact]
    if not missing:
        return
    _DIRECTORY.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_DIRECTORY, prefix=".fetch-") as scratch:
        work = Path(scratch)
        _write_request(missing, work / "ivy.xml")
        names = work / "[artifact]-[revision](-[classifier]).[ext]"
        (ivy,) = (spark_home() / "jars").glob("ivy-*.jar")
        java = find_java(None, os.environ).home / "bin" / "java"
        command = [str(java), "-jar", str(ivy), "-ivy", str(work / "ivy.xml")]
        command += ["-cache", str(work / "cache"), "-retrieve", str(names), "-error"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False
        )
        if done.returncode:
            message = f"Ivy ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr}"
            raise RuntimeError(message)
        for jar in missing:
            (work / jar.path.name).replace(jar.path)
            if not jar.is_intact:
                jar.path.unlink()
                message = f"{jar.path.name} did not arrive with SHA-256 {jar.sha256}"
                raise ValueError(message)


def _read_lock(server: str) -> list[PinnedJar]:
    text = Path(__file__).with_name(f"{server}.lock").read_text(encoding="utf-8")
    return [PinnedJar.parse(line) for line in text.split()]


def _write_request(jars: Iterable[PinnedJar], path: Path) -> None:
    """Write a module that depends on exactly these jars."""
    ET.register_namespace("m", _MAVEN)
    root = ET.Element("ivy-module", {"version": "2.0"})
    ET.SubElement(root, "info", {"organisation": "tests", "module": "servers"})
    dependencies = ET.SubElement(root, "dependencies")
    wanted: dict[tuple[str, str, str], list[str]] = {}
    for jar in jars:
        wanted.setdefault((jar.group, jar.artifact, jar.version), []).append(jar.classifier)
    for (group, artifact, version), classifiers in wanted.items():
        names = {"org": group, "name": artifact, "rev": version, "transitive": "false"}
        dependency = ET.SubElement(dependencies, "dependency", names)
        for classifier in classifiers:
            kind = {f"{{{_MAVEN}}}classifier": classifier} if classifier else {}
            ET.SubElement(dependency, "artifact", {"name": artifact, "type": "jar", **kind})
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


if __name__ == "__main__":
    fetch_server_jars()
