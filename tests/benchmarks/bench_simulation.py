"""Files removed for each GB-hour at the same budget: the daemon's decisions against cron and the published model, on simulated fleets.

Every contender meets the same tables and the same writers; the budget is a tenth of what cron would spend without one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.simulation.autocomp import AutoComp
from maintainer.simulation.cron import Cron
from maintainer.simulation.daemon import Daemon
from maintainer.simulation.fleet import draw_fleet
from maintainer.simulation.trial import Conditions, Result, run_trial
from tests.benchmarks.harness import Measured, more_is_better

TABLES = 10_000
REACH = 1.3
GB_HOURS_A_TABLE_AND_DAY = 0.02


def run(scale: float) -> list[Measured]:
    """At scale 1: 10,000 tables over two weeks."""
    tables = max(100, round(TABLES * scale))
    conditions = Conditions(gb_hours_per_day=tables * GB_HOURS_A_TABLE_AND_DAY, max_jobs=max(8, tables // 100), length=timedelta(weeks=2))
    fleet = draw_fleet(tables, conditions.seed)
    ours = run_trial(fleet, Daemon((), conditions), conditions)
    peers = [run_trial(fleet, peer, conditions) for peer in (Cron(), AutoComp())]
    enough = run_trial(fleet, Daemon((), conditions), replace(conditions, gb_hours_per_day=conditions.gb_hours_per_day and conditions.gb_hours_per_day * 4))
    lines = [_compare(ours, peer) for peer in peers]
    lines += [
        Measured(f"tables starved, {name}", float(one.starved_tables), None, "", "tables", None) for name, one in (("same budget", ours), ("4x budget", enough))
    ]
    lines += [Measured(f"tables starved, {peer.contender}", float(peer.starved_tables), None, "", "tables", None) for peer in peers]
    lines.append(Measured("cost estimate off by, later half of the jobs", 100 * (ours.cost_error or 0.0), None, "", "%", None))
    return lines


def _compare(ours: Result, peer: Result) -> Measured:
    name = f"files removed per GB-hour, {ours.tables:,} tables"
    return more_is_better(name, ours.files_removed_per_gb_hour, peer.files_removed_per_gb_hour, peer.contender, "files", reach=REACH)
