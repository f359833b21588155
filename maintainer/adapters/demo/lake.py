"""Builds the lake in a directory, once.

A complete lake is used again, and an incomplete lake is rebuilt. A directory with other files does
not change.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy.exc import SQLAlchemyError

from maintainer.adapters.demo.spark import MergeProcess, SparkLaunch, stage_changes
from maintainer.adapters.demo.tables import create_tables
from maintainer.domain.errors import ConfigurationError

_CONFIGURATION = """\
# The demo lake. Its files name each other by absolute paths: do not move this directory.
catalogs:
  lake:
    type: sql
    uri: {catalog}
    warehouse: {warehouse}
store: {store}
policies: ./policies
scan: {{interval: 1m, workers: 2}}
spark: {{runner: local}}
server: {{host: 127.0.0.1, port: 8080}}
"""

_DEFAULT = """\
# Every table is watched and none is touched. A file for a table, or for a group of tables,
# overrides this one field by field. The files of this lake are small, so the bounds are on counts.
# A bound that is crossed plans nothing where there is nothing to gain.
tables: "*"
mode: observe
rules:
  rewrite_data_files:
    when: {average_file_size_below: 32MiB, small_file_count_above: 50}
    cooldown: 1m            # short, for a demo; hours suit a real table
    hot_partition_age: 0s   # this lake was written just now, and nobody writes to it any more
  rewrite_manifests:
    when: {manifest_count_above: 100}
    cooldown: 1m
  expire_snapshots:
    when: {snapshot_count_above: 100}
    max_age: 5d
    keep: 10
    cooldown: 1m
"""

_POLICIES = {
    "default.yaml": _DEFAULT,
    "streaming.yaml": """\
# A stream that commits every hour leaves dozens of tiny files in each hour's partition, and a
# manifest for each commit.
tables: lake.streaming.*
mode: enforce
priority: 80
rules:
  rewrite_data_files:
    when: {small_file_count_above: 100}
  rewrite_manifests:
    when: {manifest_count_above: 20}
""",
    "cdc-merge.yaml": """\
# Merge-on-read: each MERGE INTO adds small files and deletes that readers must apply.
tables: lake.cdc.*
mode: enforce
priority: 70
rules:
  rewrite_data_files:
    when: {small_file_count_above: 20}
  rewrite_manifests:
    when: {manifest_count_above: 20}
""",
    "append-only.yaml": """\
# One file of a good size for each day, but also one manifest for each, and queries read them all.
tables: lake.warehouse.*
mode: enforce
""",
    "reference.yaml": """\
# The table is replaced every six hours: one file is live, and hundreds of snapshots keep old files.
tables: lake.reference.*
mode: enforce
rules:
  expire_snapshots:
    when: {snapshot_count_above: 50}
""",
    "cold.yaml": """\
# In mode enforce, but no job runs: no partition has five files, so a rewrite would change nothing.
tables: lake.archive.*
mode: enforce
priority: 10
""",
    "sales.yaml": """\
# Healthy: nothing to do.
tables: lake.sales.*
mode: enforce
""",
    "logs.yaml": """\
# Unpartitioned ORC with many small files. The other table of this namespace, the gateway's log,
# has the default policy and is only observed.
tables: lake.logs.raw_requests
mode: enforce
priority: 60
""",
}
CATALOG_NAME = "lake"
MARKER = "demo-lake.json"
_LAYOUT = 1  # increased when the demo's tables change, so that an older lake is not used
_NAMESPACES = (
    "streaming",
    "cdc",
    "warehouse",
    "reference",
    "sales",
    "archive",
    "logs",
    "logs.gateway",
)
_BUILT = (  # all that a build or an earlier daemon wrote here, except the marker file
    "catalog.db",
    "catalog.db-journal",
    "maintainer.db",
    "maintainer.db-shm",
    "maintainer.db-wal",
    "maintainer.yaml",
    "warehouse",
    "policies",
    "staging",
)


def write_configuration(directory: Path, catalog_uri: str, warehouse_uri: str) -> Path:
    """Write maintainer.yaml and policies/; return the path of maintainer.yaml."""
    policies = directory / "policies"
    policies.mkdir(exist_ok=True)
    for name, text in _POLICIES.items():
        (policies / name).write_text(text)
    text = _CONFIGURATION.format(  # a JSON string is valid in YAML
        catalog=json.dumps(catalog_uri),
        warehouse=json.dumps(warehouse_uri),
        store=json.dumps(f"sqlite:///{directory / 'maintainer.db'}"),
    )
    path = directory / "maintainer.yaml"
    path.write_text(text)
    return path


@dataclass(frozen=True, slots=True)
class LakeReport:
    """The result of build_lake.

    was_built is False if a complete lake existed; seconds is the wall time of the build.
    """

    directory: Path
    configuration: Path
    was_built: bool
    seconds: float


def lake_is_complete(directory: Path) -> bool:
    """Return True if build_lake would use the directory as it is."""
    try:
        return _is_complete(directory.absolute()) is True
    except ConfigurationError:
        return False


def build_lake(
    directory: Path, say: Callable[[str], None], spark: SparkLaunch, now: datetime
) -> LakeReport:
    """Build the lake, or use a complete one; commit times count back from `now`'s midnight (UTC).

    Raises ConfigurationError for a directory with other files, and RunnerUnavailableError if Spark
    fails.
    """
    directory = directory.absolute()
    started = time.monotonic()
    configuration = directory / "maintainer.yaml"
    is_complete = _is_complete(directory)
    if is_complete:
        say(f"{directory} holds a complete demo lake: used as it is")
        return LakeReport(
            directory, configuration, was_built=False, seconds=time.monotonic() - started
        )
    if is_complete is False:
        say(f"{directory} holds a half-built demo lake: building it again")
        _remove_ours(directory)
    try:
        _build(directory, say, spark, now)
    except (OSError, SQLAlchemyError) as error:
        raise ConfigurationError(
            f"the demo lake cannot be written to {directory}: {error}"
        ) from error
    return LakeReport(directory, configuration, was_built=True, seconds=time.monotonic() - started)


def _build(directory: Path, say: Callable[[str], None], spark: SparkLaunch, now: datetime) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    _mark(directory, is_complete=False)
    warehouse, staging, catalog_file = (
        directory / "warehouse",
        directory / "staging",
        directory / "catalog.db",
    )
    warehouse.mkdir()
    staging.mkdir()
    catalog_uri, warehouse_uri = f"sqlite:///{catalog_file}", f"file://{warehouse}"
    catalog = SqlCatalog(CATALOG_NAME, uri=catalog_uri, warehouse=warehouse_uri)
    try:
        for namespace in _NAMESPACES:
            catalog.create_namespace(namespace)
        stage_changes(staging / "changes.parquet")
        with MergeProcess(
            spark, catalog_file, warehouse, staging
        ) as merges:  # Spark starts and merges while the other tables are made

            def proceed(text: str) -> None:
                say(text)
                # A missing Java is reported now, not after all other work.
                merges.raise_if_failed()

            create_tables(
                catalog,
                warehouse,
                now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0),
                proceed,
            )
            merges.wait(say)
    finally:
        catalog.close()
    shutil.rmtree(staging)
    write_configuration(directory, catalog_uri, warehouse_uri)
    _mark(directory, is_complete=True)


def _is_complete(directory: Path) -> bool | None:
    """False: half built; None: there is nothing. ConfigurationError: it cannot be used."""
    if directory.exists() and not directory.is_dir():
        raise ConfigurationError(
            f"{directory} is not a directory: give --dir a new or empty directory"
        )
    if not directory.exists() or not any(directory.iterdir()):
        return None
    marker = _read_marker(directory)
    if marker is not None and marker.get("state") != "complete":
        return False
    if marker is None:
        problem = f"is not empty and has no {MARKER}: give --dir a new or empty directory"
    elif marker.get("layout") != _LAYOUT:
        problem = f"holds a demo lake of another layout than {_LAYOUT}: give --dir a new directory"
    elif marker.get("directory") != str(directory):
        problem = (
            "holds a demo lake that was built elsewhere, and its files hold absolute paths: move "
            "it back or give --dir a new directory"
        )
    else:
        parts = ("catalog.db", "maintainer.yaml", "warehouse", "policies")
        return all((directory / name).exists() for name in parts)
    raise ConfigurationError(f"{directory} {problem}")


def _read_marker(directory: Path) -> Mapping[str, object] | None:
    try:
        marker = json.loads((directory / MARKER).read_text())
    except (OSError, ValueError):
        return None
    return marker if isinstance(marker, dict) else None


def _mark(directory: Path, *, is_complete: bool) -> None:
    """Write the marker by renaming a complete file, so a kill leaves the old or the new one."""
    content = {
        "state": "complete" if is_complete else "building",
        "layout": _LAYOUT,
        "directory": str(directory),
    }
    unfinished = directory / f"{MARKER}.new"
    unfinished.write_text(json.dumps(content) + "\n")
    unfinished.replace(directory / MARKER)


def _remove_ours(directory: Path) -> None:
    for name in _BUILT:
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
