"""The demo lake."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from maintainer.adapters.demo import LakeReport, SparkLaunch, build_lake, lake_is_complete
from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.prerequisites import find_prerequisites, refuse_missing


def build_demo(directory: Path, say: Callable[[str], None]) -> LakeReport:
    """Build the demo lake, unless it exists already."""
    if lake_is_complete(directory):  # this needs no Spark
        return build_lake(directory, say, SparkLaunch(sys.executable, "", ()), datetime.now(UTC))
    refuse_missing(find_prerequisites(None, default_directory()))
    with TemporaryDirectory(prefix="iceberg-maintainer-") as scratch:
        java_home = prepare_home(find_java(None, os.environ), Path(scratch))
        jars = tuple(str(jar) for jar in find_jars(default_directory()))
        return build_lake(
            directory, say, SparkLaunch(sys.executable, str(java_home), jars), datetime.now(UTC)
        )
