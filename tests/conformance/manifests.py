"""Tables of many manifests, and how many rewrite_manifests makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from maintainer.domain.action import RewriteManifests
from maintainer.domain.plan import Estimate
from maintainer.estimate.rewrite_manifests import estimate_spec
from maintainer.procedures.registry import call_statement
from tests.conformance.tables import KIB, Batch, Deletes, Fields, File, Lake, Layout


@dataclass(frozen=True)
class Pile:
    """A table of so many commits; the manifests of which spec are to be rewritten."""

    name: str
    layout: Layout
    spec_id: int
    # The target is given as a share of all the bytes that there are: the manifests' own size is
    # known only when they are written.
    target_share: float = 10


def commits(number: int, files: int = 1, partitions: int = 1) -> list[Batch]:
    return [
        Batch(
            [
                File(8 * KIB, {"number": (commit + file) % partitions}, rows=2)
                for file in range(files)
            ]
        )
        for commit in range(number)
    ]


BY_NUMBER: Fields = [("number", "identity")]


def piles() -> Iterator[Pile]:
    yield Pile("one manifest", Layout(commits(1)), 0)
    yield Pile("two manifests", Layout(commits(2)), 0)
    yield Pile("many manifests of one partition", Layout(commits(12), BY_NUMBER), 1)
    yield Pile("many manifests of many partitions", Layout(commits(12, partitions=6), BY_NUMBER), 1)
    yield Pile("a target that needs several", Layout(commits(12, 4)), 0, 0.4)
    yield Pile(
        "a target that needs several, of many partitions",
        Layout(commits(12, 4, 8), BY_NUMBER),
        1,
        0.4,
    )
    yield Pile(
        "more manifests needed than partitions", Layout(commits(12, 4, 2), BY_NUMBER), 1, 0.2
    )
    yield Pile("one manifest that is too large", Layout(commits(1, 40)), 0, 0.4)
    deletes = [Deletes("file", [number], 1) for number in range(4)]
    yield Pile("manifests of deletes apart", Layout(commits(5), deletes=deletes), 0)
    yield Pile("one manifest of deletes stays", Layout(commits(5), deletes=deletes[:1]), 0)
    evolved = [
        *commits(4, partitions=2),
        Batch([File(8 * KIB)], BY_NUMBER),
        *commits(5, partitions=2),
    ]
    yield Pile("the manifests of the current spec alone", Layout(evolved), 1)
    yield Pile("the manifests of an old spec alone", Layout(evolved), 0)


PILES: Sequence[Pile] = tuple(piles())
_NO_MERGING: Mapping[str, str] = {"commit.manifest-merge.enabled": "false"}


@dataclass(frozen=True)
class Rewritten:
    """What was predicted, and what became of it."""

    pile: str
    predicted: Estimate
    rewritten: int
    added: int
    reasons: tuple[str, ...] = field(default=())

    @property
    def is_equal(self) -> bool:
        return (self.predicted.items_before, self.predicted.items_after) == (
            self.rewritten,
            self.added,
        )

    @property
    def is_within_bound(self) -> bool:
        return (
            self.predicted.items_before == self.rewritten
            and abs(self.predicted.items_after - self.added) <= self.predicted.error_bound
        )

    def row(self) -> str:
        """One line of the report."""
        verdict = (
            "equal"
            if self.is_equal
            else f"within {self.predicted.error_bound}"
            if self.is_within_bound
            else "WRONG"
        )
        note = "" if self.is_equal else self.predicted.note
        return (
            f"| {self.pile} | {self.predicted.items_before} to {self.predicted.items_after} | "
            f"{self.rewritten} to {self.added} | {verdict} | {note} |"
        )


def run_one(lake: Lake, pile: Pile, name: str) -> Rewritten:
    """Make the table, set its target, predict, rewrite, compare."""
    table = lake.make(
        name, Layout(pile.layout.batches, pile.layout.fields, pile.layout.deletes, _NO_MERGING)
    )
    size = sum(
        group.bytes for group in lake.read(table).manifest_groups if group.spec_id == pile.spec_id
    )
    target = {"commit.manifest.target-size-bytes": str(max(1, int(size * pile.target_share)))}
    with lake.catalog.load_table(("c", table.name)).transaction() as transaction:
        transaction.set_properties(target)
    predicted = estimate_spec(lake.read(table), pile.spec_id)
    done = lake.session.sql(call_statement(table, RewriteManifests(pile.spec_id)))[0]
    return Rewritten(
        pile.name,
        predicted,
        int(done["rewritten_manifests_count"]),
        int(done["added_manifests_count"]),
    )
