"""What a started Spark reports about itself: its versions."""

from __future__ import annotations

import contextlib
from operator import attrgetter
from typing import Any, TypeAlias

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


def read_versions(java: JavaObject) -> dict[str, str]:
    """Return the versions of Scala, Java and Iceberg; empty what cannot be asked."""
    return {
        "scala": _ask(java, "scala.util.Properties.versionNumberString"),
        "java": _ask(java, "java.lang.System.getProperty", "java.version"),
        "iceberg": _ask(java, "org.apache.iceberg.IcebergBuild.version"),
    }


def _ask(java: JavaObject, path: str, *arguments: str) -> str:
    # A class that does not exist is a package of Java's to py4j, and cannot be called.
    with contextlib.suppress(Exception):
        return str(attrgetter(path)(java)(*arguments) or "")
    return ""
