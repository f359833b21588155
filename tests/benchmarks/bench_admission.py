"""What one look of admission costs when every table wants work: reading the candidates, judging
them, and the peer, which reads whole plans instead.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from typing import Any, Final

from sqlalchemy import insert

from maintainer.adapters.store import documents, open_store
from maintainer.adapters.store.job_schema import candidates
from maintainer.adapters.store.schema import plans, tables
from maintainer.adapters.store.sql import SqlStore
from maintainer.admit.admission import admit, choose
from maintainer.admit.budgets import AdmissionCircumstances
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles
from maintainer.domain.admission import AdmissionRules, find_candidates
from maintainer.domain.cost import Benefit, Cost, Worth
from maintainer.domain.health import Band, Finding
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, Plan, PlannedAction
from maintainer.domain.policy import Budget, Mode, RuleName
from maintainer.domain.pool import DEFAULT_POOL
from tests.benchmarks.harness import Measured, less_is_better

TABLES: Final = 100_000
REPEATS: Final = 3
_AT: Final = datetime(2026, 5, 4, tzinfo=UTC)
_BATCH: Final = 2_000


def run(scale: float) -> list[Measured]:
    """At 100,000 tables that all want work."""
    size = max(100, int(TABLES * scale))
    with tempfile.TemporaryDirectory() as directory:
        store = open_store(f"sqlite:///{directory}/maintainer.db")
        fill(store, size)
        sys.stderr.write(f"bench: {size:,} plans that want work\n")
        found = store.candidates()
        reading = cpu_seconds(store.candidates)
        whole = cpu_seconds(store.plans)
        free = AdmissionCircumstances(
            _AT,
            {DEFAULT_POOL: 8},
            AdmissionRules(fleet=Budget(max_jobs=8, gb_hours_per_day=100.0, name="the fleet")),
        )
        choosing, judging = (
            cpu_seconds(lambda: choose(found, free)),
            cpu_seconds(lambda: admit(found, free)),
        )
        store.close()
    return [
        less_is_better(
            f"admission: reading {len(found):,} candidates",
            reading,
            whole,
            "reading the plans",
            "s",
            reach=3,
        ),
        less_is_better(
            f"admission: choosing among {len(found):,} candidates",
            choosing,
            whole,
            "reading the plans",
            "s",
            reach=2,
        ),
        less_is_better(
            f"admission: judging {len(found):,} candidates",
            judging,
            whole,
            "reading the plans",
            "s",
            reach=1,
        ),
    ]


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least of a few runs."""
    spent = []
    for _ in range(REPEATS):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)


def fill(store: SqlStore, size: int) -> None:
    """Rows as the store itself would write them, in large transactions."""
    database, made = store._database, plans_of(size)
    while batch := list(islice(made, _BATCH)):
        with database.write() as connection:
            connection.execute(insert(tables), [table_row(plan) for plan in batch])
            connection.execute(
                insert(plans),
                [
                    {
                        "full_name": str(plan.table),
                        "document": documents.write_bytes(plan),
                        "planned": 2,
                    }
                    for plan in batch
                ],
            )
            connection.execute(
                insert(candidates), [row for plan in batch for row in candidate_rows(plan)]
            )


def plans_of(size: int) -> Iterator[Plan]:
    """Each wants a rewrite and an expiry."""
    random = Random(11)
    finding = Finding(
        "average_file_size_bytes",
        1e6,
        3e7,
        Band.WATCH,
        is_actionable=True,
        sentence="average file size 1 MiB, threshold below 32 MiB",
    )
    for number in range(size):
        files = int(random.lognormvariate(5, 2)) + 5
        cost = Cost(files / 1000, files / 800, files / 10, work=files * 1e6)
        estimate = Estimate(files, 1, files - 1, files * 1_000_000)
        rewrite = PlannedAction(
            RuleName.REWRITE_DATA_FILES,
            RewriteDataFiles(options=(("partial-progress.enabled", "true"),)),
            (finding,),
            estimate,
            "average file size 1 MiB",
            cost,
            None,
            Worth(Benefit(files - 1, value=files - 1.0), random.random(), files, 0.6),
            _AT - timedelta(minutes=random.randrange(3000)),
        )
        expiry = replace(rewrite, rule=RuleName.EXPIRE_SNAPSHOTS, action=ExpireSnapshots(_AT, 10))
        table = TableIdentifier("lake", (f"n{number % 100}",), f"table_{number}")
        yield Plan(
            table,
            f"uuid-{number}",
            1,
            "s3://lake/metadata/1.json",
            "v",
            Mode.ENFORCE,
            50,
            _AT,
            (rewrite, expiry),
            (),
        )


def table_row(plan: Plan) -> dict[str, Any]:
    """The narrow row that the others hang on."""
    name = str(plan.table)
    return {
        "full_name": name,
        "levels": documents.write_levels(plan.table),
        "catalog": plan.table.catalog,
        "namespace": plan.table.namespace_text,
        "search_name": name,
        "table_uuid": plan.table_uuid,
        "first_seen_at": _AT,
    }


def candidate_rows(plan: Plan) -> list[dict[str, Any]]:
    """As record_candidates writes them."""
    return [
        {
            "full_name": str(plan.table),
            "position": position,
            "document": documents.write(candidate),
        }
        for position, candidate in enumerate(find_candidates(plan))
    ]
