"""People beside the daemon: they tag and pin snapshots, let go of pins, and ask for runs, at random
by the seed.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.torture.check import Held, summarise_rows
from tests.torture.daemon import NAMESPACE, Daemon
from tests.torture.lake import CATALOG, Lake, locate_tables
from tests.torture.reading import TableReading
from tests.torture.schedule import TABLES

RULES = (
    "rewrite_data_files",
    "rewrite_position_delete_files",
    "rewrite_manifests",
    "expire_snapshots",
    "remove_orphan_files",
)
OLD_PIN = "slow-reader"  # holds the older half of a table's past, until somebody lets go of it
OLD_TAG = "yearly"


@dataclass(slots=True)
class People:
    """One thread."""

    lake: Lake
    daemon: Daemon
    spark: Any  # a session of one's own
    random: Random
    pace_seconds: float
    held: dict[tuple[str, str], Held] = field(default_factory=dict)  # by table and tag or pin
    requests: int = 0
    releases: int = 0
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def hold_past(self) -> None:
        """Pin one old snapshot of each table that has any, and tag another; before anything is
        maintained.
        """
        for plan in TABLES:
            if plan.has_history:
                table = f"{NAMESPACE}.{plan.name}"
                reading = self._read(table)
                pinned, tagged = sorted(
                    self.random.sample(range(2, len(reading.snapshots) - 2), k=2), reverse=True
                )
                assert self._pin(table, OLD_PIN, reading, pinned), (
                    f"the daemon took no pin for {table}"
                )
                self._tag(table, OLD_TAG, reading, tagged)

    def start(self) -> None:
        """Begin to come by."""
        self._thread = threading.Thread(target=self._run, name="people", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Come by no more."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        visit = 0
        while not self._stopping.wait(self.random.uniform(0.5, 1.5) * self.pace_seconds):
            visit += 1
            table = f"{NAMESPACE}.{self.random.choice(TABLES).name}"
            match self.random.choice(("run", "run", "run", "tag", "pin", "release")):
                case "run":
                    wish = (
                        {"rules": [self.random.choice(RULES)]} if self.random.random() < 0.7 else {}
                    )
                    self.requests += (
                        self.daemon.ask(f"/tables/{CATALOG}/{table.replace('.', '/')}/run", wish)
                        is not None
                    )
                case "tag":
                    reading = self._read(table)
                    if reading.snapshots:
                        self._tag(table, f"tag-{visit}", reading, len(reading.snapshots) - 1)
                case "pin":
                    reading = self._read(table)
                    if reading.snapshots:
                        self._pin(table, f"pin-{visit}", reading, len(reading.snapshots) - 1)
                case _:
                    self._release(table)

    def _read(self, table: str) -> TableReading:
        return TableReading.open(locate_tables(self.lake, NAMESPACE)[table])

    def _tag(self, table: str, name: str, reading: TableReading, position: int) -> None:
        snapshot_id = reading.snapshots[position]["snapshot-id"]
        summary = summarise_rows(reading.read_rows(reading.snapshots[position]))
        try:
            self.spark.sql(
                f"ALTER TABLE {CATALOG}.{table} CREATE TAG `{name}` AS OF VERSION {snapshot_id}"
            )
        except Exception as error:  # somebody else committed first: no tag, nothing held
            if "CommitFailed" not in str(error):
                raise
            return
        self.held[table, f"tag {name}"] = Held(table, snapshot_id, f"tag {name}", summary)

    def _pin(self, table: str, name: str, reading: TableReading, position: int) -> bool:
        snapshot_id = reading.snapshots[position]["snapshot-id"]
        summary = summarise_rows(reading.read_rows(reading.snapshots[position]))
        answer = self.daemon.ask(
            f"/tables/{CATALOG}/{table.replace('.', '/')}/pins",
            {"name": name, "snapshot_id": str(snapshot_id), "by": "somebody"},
        )
        if answer is not None:
            self.held[table, f"pin {name}"] = Held(table, snapshot_id, f"pin {name}", summary)
        return answer is not None

    def _release(self, table: str) -> None:
        """From the moment of the question on nothing is sure to be held, whatever the answer."""
        if self.held.pop((table, f"pin {OLD_PIN}"), None) is not None:
            answer = self.daemon.ask(
                f"/tables/{CATALOG}/{table.replace('.', '/')}/pins/{OLD_PIN}", method="DELETE"
            )
            self.releases += answer is not None
