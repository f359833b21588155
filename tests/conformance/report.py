"""Writes docs/conformance.md, or runs more shapes: python -m tests.conformance.report [--seed N
--shapes N]. Exit 1 when Spark did other than was predicted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.conformance import expiry, manifests, rewrites, shapes
from tests.conformance.expiry import Remainder
from tests.conformance.manifests import Rewritten
from tests.conformance.rewrites import Outcome
from tests.conformance.session import Session
from tests.conformance.tables import Lake

PAGE: Final = Path(__file__).parents[2] / "docs" / "conformance.md"
HEAD: Final = """\
# Conformance: what is predicted, and what Spark does

Plans rest on Iceberg's own planning, recomputed from digests. This page holds the recomputation against Spark 4.1 with Iceberg 1.12: each
table is made, its health measured, the outcome predicted; then Spark runs the very statement that a job would run. `make conformance` writes
this page; `make conformance SEED=7 SHAPES=50` runs other tables, made from a seed. The list of shapes is part of the test suite, which fails
when an outcome differs from a prediction by more than that prediction allows.

## rewrite_data_files

Files in to files out, predicted and done. Where both are equal the verdict says so. Where exactness is impossible it says by how many
written files the prediction may be wrong, and the last column why:

- **Row groups.** A file beyond the target is split at its row groups, which digests do not keep; a writer looks at a file's size every
  thousand rows.
- **Order.** Of several manifests Iceberg reads at once; how files fit together depends on the order in which they come.
- **Other specs.** Files of an older spec are put in one group and written to the partitions of the current spec. Where the old values tell
  the new ones (days tell months) the number is exact, else it is not known before they are read.
- **Classes.** Of partitions with very many files only runs of like sizes are kept (at most an eighth apart): the table's own bounds are exact
  all the same, others lie in one run at most.
- **Filters.** Of a policy's own filter those parts are told that compare a partition's column with a value. Where it cuts through a partition, or asks for
  another column, Iceberg goes by each file's bounds, which digests do not keep: the prediction is the most that it can take.

| shape | predicted | done | verdict | why |
|---|---|---|---|---|
"""


MANIFESTS: Final = """
## rewrite_manifests

Manifests of one spec, those of data and of deletes apart. Where several are needed their number rests on how the entries of partitions are shared out,
and on sizes that are known once they are written.

| table | predicted | done | verdict | why |
|---|---|---|---|---|
"""
EXPIRY: Final = """
## expire_snapshots

The snapshots and refs that remain, simulated on the table's metadata.

| history | predicted | left | verdict |
|---|---|---|---|
"""


def write_page(outcomes: list[Outcome], piles: list[Rewritten], pasts: list[Remainder]) -> str:
    """The page, each part's figures at its end."""
    parts = [
        HEAD + "".join(f"{outcome.row()}\n" for outcome in outcomes) + "\n" + summarise(outcomes),
        MANIFESTS + "".join(f"{pile.row()}\n" for pile in piles),
        EXPIRY + "".join(f"{past.row()}\n" for past in pasts),
    ]
    return "".join(parts)


def summarise(outcomes: list[Outcome]) -> str:
    """The figures of a run."""
    equal = sum(outcome.is_equal for outcome in outcomes)
    bounded = sum(outcome.is_within_bound and not outcome.is_equal for outcome in outcomes)
    removed = sum(max(0, outcome.removed) for outcome in outcomes)
    wrong = sum(
        abs(outcome.predicted.items_removed - max(0, outcome.removed)) for outcome in outcomes
    )
    wheres = sum(outcome.where is not None for outcome in outcomes)
    return (
        f"{len(outcomes)} shapes: {equal} equal, {bounded} within their bound, "
        f"{len(outcomes) - equal - bounded} wrong. "
        f"{removed} files were removed; the prediction was wrong by {wrong} "
        f"({wrong / max(1, removed):.1%}; published for AutoComp: 28 %). "
        f"{wheres} filters selected exactly the partitions that they were written for.\n"
    )


def main() -> int:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--shapes", type=int, default=60)
    asked = parser.parse_args()
    chosen = shapes.by_hand() if asked.seed is None else shapes.by_seed(asked.seed, asked.shapes)
    outcomes: list[Outcome] = []
    piles: list[Rewritten] = []
    pasts: list[Remainder] = []
    with (
        tempfile.TemporaryDirectory(prefix="conformance-") as directory,
        Session(Path(directory)) as session,
    ):
        lake = Lake(Path(directory), session)
        for outcome in rewrites.run(lake, chosen):
            outcomes.append(outcome)
            print(outcome.row(), flush=True)  # noqa: T201 - a command's output
        if asked.seed is None:
            piles = [
                manifests.run_one(lake, pile, f"m{number}")
                for number, pile in enumerate(manifests.PILES)
            ]
            pasts = [
                expiry.run_one(lake, past, f"e{number}") for number, past in enumerate(expiry.PASTS)
            ]
        lake.close()
    print(summarise(outcomes))  # noqa: T201 - as above
    if asked.seed is None:
        PAGE.write_text(write_page(outcomes, piles, pasts), encoding="utf-8")
    verdicts = [
        *(outcome.is_within_bound for outcome in outcomes),
        *(pile.is_within_bound for pile in piles),
        *(past.is_equal for past in pasts),
    ]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
