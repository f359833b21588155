"""An orphan scan of listed files and the removal of what it found, wherever the driver is."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.job import JobState
from maintainer.domain.orphan import FoundFile, OrphanListState
from maintainer.domain.policy import PolicyLayer, RuleName
from tests.adapters.spark.behaviour.sites import Site
from tests.adapters.spark.lakes import WallClock
from tests.fakes.adapters.policies import FakePolicies

POLICY = """
tables: "*"
mode: enforce
rules:
  remove_orphan_files: {older_than: 3d, approval: automatic, quarantine: off}
"""


def find_and_remove_an_orphan(site: Site) -> None:
    """Lists and findings pass between daemon and driver, and by no directory that both know."""
    layer = parse_policy(POLICY, "all.yaml")
    assert isinstance(layer, PolicyLayer)
    ports = replace(site.workshop.ports, policies=FakePolicies(layer))
    workshop = replace(site.workshop, ports=ports)
    rows = ("SELECT id FROM range(50000)",) * 4
    table = workshop.create("littered", "id bigint", rows=rows)
    location = workshop.look(table).location
    place, old = Path(location.removeprefix("file:")), timedelta(days=30)
    stray = place / "data" / "it's a {stray}.parquet"
    stray.write_bytes(b"left over")
    before = (WallClock().now() - old).timestamp()
    os.utime(stray, (before, before))
    files = list(place.rglob("*.parquet"))
    workshop.grow_old(table, old)
    action = RemoveOrphanFiles(WallClock().now() - timedelta(days=3), location, is_listed=True)
    page = [FoundFile(f"{location}/data/{path.name}", 1) for path in files]
    workshop.runner.orphan_files.write_listing("listed-1", action, [page])
    scan = workshop.finish(workshop.begin(table, action, job_id="listed-1"))
    assert (scan.state, scan.failure_message) == (JobState.SUCCEEDED, "")
    (orphans,) = workshop.store.orphan_lists(table)
    assert (orphans.files, orphans.state) == (1, OrphanListState.APPROVED)
    removal = workshop.run(table, RuleName.REMOVE_ORPHAN_FILES)
    assert (removal.state, removal.failure_message) == (JobState.SUCCEEDED, "")
    assert not stray.exists()
    assert all(path.exists() for path in files if path != stray)
    statements = [
        str(event.fields["statement"])
        for job in (scan, removal)
        for event in workshop.store.events(job.job_id)
        if event.name == "statement.started"
    ]
    assert sum(statement.startswith("SHOW FILES") for statement in statements) == 2
    assert not any(str(site.place.run_dir) in statement for statement in statements)
