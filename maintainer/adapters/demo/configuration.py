"""The lake's configuration and policies, as text with comments for the reader."""

from __future__ import annotations

import json
from pathlib import Path

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
