"""What a REST catalog is asked by the daemon's scans, with everything as it is when nobody sets it
otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pyiceberg.table import Table

from maintainer.adapters.catalog.reader import MetadataReader
from maintainer.app import open_catalogs
from maintainer.app.options import loop_options
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.settings import Settings
from maintainer.steps.scan import ScanResult, scan
from tests.adapters.catalog.conditional_server import ConditionalServer
from tests.adapters.catalog.lake import Lake, local_path, rows
from tests.steps.world import World

TABLES = 12
DELEGATION = "X-Iceberg-Access-Delegation"  # only who reads the files asks for credentials


@dataclass
class RestFleet:
    """A small REST catalog of real tables, and the daemon's scans of it."""

    server: ConditionalServer
    lake: Lake
    world: World
    settings: Settings

    def scan(self) -> tuple[ScanResult, int, int]:
        """The result, how many tables the server was asked about, and how many it was asked to
        load.
        """
        self.server.seen.clear()
        result = scan(self.world.ports, options=loop_options(self.settings))
        loaded = sum(DELEGATION in headers for _, headers in self.server.seen)
        return result, len(self.server.seen) - loaded, loaded

    def commit(self, name: str) -> None:
        table = self.lake.writer.load_table(("sales", name))
        table.append(rows(1))
        self.serve(name, table)

    def serve(self, name: str, table: Table) -> None:
        self.server.versions["sales", name] = self.server.versions.get(("sales", name), 0) + 1
        self.server.loadable["sales", name] = (
            table.metadata_location,
            json.loads(local_path(table.metadata_location).read_text("utf-8")),
        )


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[RestFleet]:
    lake = Lake(tmp_path)
    with ConditionalServer.running() as server:
        settings = Settings.model_validate(
            {"catalogs": {"lake": {"type": "rest", "uri": server.address}}}
        )
        world, reader = World(), MetadataReader()
        catalogs = open_catalogs(settings, world.clock, reader)
        world.ports = replace(world.ports, catalogs=catalogs)
        made = RestFleet(server, lake, world, settings)
        for number in range(TABLES):
            made.serve(f"t{number:02}", lake.make_table("sales", f"t{number:02}"))
        result, _, loads = made.scan()
        assert (result.measured, loads, server.given[304], result.faults) == (TABLES, TABLES, 0, [])
        yield made
        catalogs["lake"].close()
        reader.close()
    lake.close()


def test_a_fleet_at_rest_is_answered_by_heads_alone(fleet: RestFleet) -> None:
    fleet.world.clock.advance(fleet.settings.scan.interval)
    result, asked, loads = fleet.scan()
    assert (result.measured, result.unchanged, asked, fleet.server.given[304], loads) == (
        0,
        TABLES,
        TABLES,
        TABLES,
        0,
    )


@pytest.mark.slow
def test_a_fleet_at_rest_is_asked_ever_more_rarely_though_some_of_it_is_looked_at_all_the_same(
    fleet: RestFleet,
) -> None:
    asked, loaded = [], []
    for _ in range(18):  # an hour and a half
        fleet.world.clock.advance(fleet.settings.scan.interval)
        result, questions, loads = fleet.scan()
        assert (result.measured, result.measured + result.unchanged) == (loads, TABLES)
        asked.append(questions)
        loaded.append(loads)
    assert loaded == [0] * 11 + [1] * 7, (
        "no table is measured again within an hour, then a twentieth of twelve tables, rounded up"
    )
    assert (asked[0], fleet.server.given[304]) == (TABLES, sum(asked)), "each answer is a head"
    assert sum(asked[-6:]) <= 3 * TABLES, (
        "measuring a table does not make the scan ask its catalog sooner"
    )


def test_only_the_table_that_was_committed_to_is_loaded(fleet: RestFleet) -> None:
    fleet.commit("t03")
    fleet.world.clock.advance(fleet.settings.scan.interval)
    result, _, loads = fleet.scan()
    assert (result.measured, fleet.server.given[304], loads) == (1, TABLES - 1, 1)


def test_metadata_that_vanishes_behind_an_unchanged_pointer_is_noticed_in_its_turn(
    fleet: RestFleet,
) -> None:
    local_path(fleet.server.loadable["sales", "t00"][0]).unlink()
    fleet.world.clock.advance(fleet.settings.scan.interval)
    assert fleet.scan()[0].faults == []
    fleet.world.clock.advance(fleet.settings.scan.recheck_after)
    (fault,) = fleet.scan()[0].faults
    assert isinstance(fault, TableFault)
    assert (fault.table.name, fault.kind) == ("t00", FaultKind.METADATA_MISSING)
