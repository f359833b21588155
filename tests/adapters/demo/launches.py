"""How the tests start Spark: with the Java and the jars that make setup brought."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from maintainer.adapters.demo import SparkLaunch
from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from tests.quick_java import find_archive


def find_launch(work: Path) -> SparkLaunch:
    """A launch as the composition root makes it; the work directory may come to hold a wrapper
    around Java.
    """
    java = find_java(None, os.environ)
    return SparkLaunch(
        sys.executable,
        str(prepare_home(java, work)),
        tuple(str(jar) for jar in find_jars(default_directory())),
        {"JAVA_TOOL_OPTIONS": find_archive()},
    )
