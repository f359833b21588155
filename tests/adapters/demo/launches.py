"""How the tests start Spark."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from maintainer.adapters.demo import SparkLaunch


def find_launch() -> SparkLaunch:
    """The Java of JAVA_HOME or of the PATH, and the jars in the directory that ICEBERG_JARS names."""
    jars = tuple(str(path) for path in sorted(Path(os.environ["ICEBERG_JARS"]).glob("*.jar")))
    java = shutil.which("java")
    java_home = os.environ.get("JAVA_HOME") or str(Path(java or "").resolve().parents[1])
    return SparkLaunch(sys.executable, java_home, jars)
