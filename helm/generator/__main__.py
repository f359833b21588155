"""Writes the generated files of the chart into a directory: python -m helm.generator DIRECTORY."""

from __future__ import annotations

import sys
from pathlib import Path

from helm.generator.dashboards import write_daemon, write_fleet, write_jobs
from helm.generator.definition import write_definition
from helm.generator.documents import write_readme, write_values
from helm.generator.runbooks import write_runbooks
from helm.generator.schema import write_schema

FILES = {
    "values.yaml": write_values,
    "values.schema.json": write_schema,
    "README.md": write_readme,
    "monitoring/runbooks.yaml": write_runbooks,
    "monitoring/dashboards/fleet.json": write_fleet,
    "monitoring/dashboards/jobs.json": write_jobs,
    "monitoring/dashboards/daemon.json": write_daemon,
    "files/icebergtablepolicies.yaml": write_definition,
}


def main(directory: Path) -> None:
    """Write all files."""
    for name, write in FILES.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(write(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
