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
# Conformance: estimates compared with Spark

A plan estimates what Iceberg would rewrite, from digests of manifests. This page compares such
estimates with the results of Spark 4.1 and Iceberg 1.12. For each row a test creates a table,
measures it and estimates the result. Then Spark runs the statement that a job would run.

`make conformance` writes this page. `make conformance SEED=7 SHAPES=50` runs other tables, created
from a seed. The tables on this page are part of the test suite: a test fails if a result differs
from its estimate by more than the estimate allows, or if a row of a table of format version 3 gets
another row id.

## rewrite_data_files

"6 to 1" means that 6 data files are rewritten to 1. The result is `equal` if Spark did exactly what
was estimated. If an exact estimate is impossible, `within 4` says that the estimate may be wrong by
4 written files, and the last column says why:

- **Row groups.** A file larger than the target is split at its row groups. Digests do not keep row
  groups, and a writer checks a file's size only every thousand rows.
- **Order.** Iceberg reads several manifests at the same time. Which files form a group depends on
  the order in which their entries arrive.
- **Other specs.** Files of an older spec form one group and are written to the partitions of the
  current spec. If the old values determine the new ones (days determine months), the number of
  files is exact. Otherwise it is unknown until the files are read.
- **Classes.** For partitions with very many files, digests keep only classes of similar sizes, at
  most an eighth apart. The table's own size bounds are exact; another bound may fall within a
  class.
- **Filters.** Of a policy's `where`, the estimate uses the parts that compare a partition column
  with a value. If a boundary falls within a partition, or the condition uses another column,
  Iceberg uses each file's column bounds. Digests do not keep those, so the estimate is an upper
  bound.

| table | estimated | by Spark | result | why |
|---|---|---|---|---|
"""


MANIFESTS: Final = """
## rewrite_manifests

These are manifests of one spec; data manifests and delete manifests are counted separately. If more
than one manifest is needed, their number depends on how the entries of partitions are distributed,
and on sizes that are known only after writing.

| manifests | estimated | by Spark | result | why |
|---|---|---|---|---|
"""
EXPIRY: Final = """
## expire_snapshots

The estimate simulates the expiry on the table's metadata. The columns list the snapshots and refs
that remain.

| history | estimated | by Spark | result |
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
        f"{len(outcomes) - equal - bounded} wrong.\n"
        f"{removed} files were removed; the estimate was wrong by {wrong} "
        f"({wrong / max(1, removed):.1%}; published for AutoComp: 28 %).\n"
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
