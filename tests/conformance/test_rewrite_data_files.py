from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from re import MULTILINE, findall

import pytest

from tests.conformance import rewrites, shapes
from tests.conformance.paths import Paths
from tests.conformance.report import PAGE
from tests.conformance.rewrites import Outcome
from tests.conformance.shapes import Shape
from tests.conformance.tables import Lake

SHAPES = shapes.by_hand()
FEWEST_CERTAIN = 60  # shapes of which the very number is predicted
GREATEST_ERROR = 0.05  # of the files that a rewrite removes, over all shapes
spark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("conformance"),
    pytest.mark.timeout(600),
]


class Suite:
    """The outcomes so far: each shape is run once, when it is asked for."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._outcomes: dict[str, Outcome] = {}

    def outcome(self, shape: Shape) -> Outcome:
        if shape.name not in self._outcomes:
            self._outcomes[shape.name] = rewrites.run_one(
                self._lake, shape, f"t{len(self._outcomes)}"
            )
        return self._outcomes[shape.name]


@pytest.fixture(scope="module")
def suite(lake: Lake) -> Suite:
    return Suite(lake)


@pytest.mark.parametrize(
    "shape", [pytest.param(shape, id=shape.name, marks=spark) for shape in SHAPES]
)
def test_spark_rewrites_and_adds_what_was_predicted(suite: Suite, shape: Shape) -> None:
    outcome = suite.outcome(shape)
    assert outcome.strangers == 0, outcome.where
    if (
        outcome.predicted.error_bound
    ):  # where exactness is impossible; each row of docs/conformance.md says why
        # A policy's filter that cuts through partitions, or groups that Iceberg may not take: no
        # more than what it may take.
        is_bound = "an upper bound" in outcome.predicted.note
        assert (
            outcome.rewritten <= outcome.predicted.items_before
            if is_bound
            else outcome.rewritten == outcome.predicted.items_before
        )
        assert outcome.is_within_bound, outcome.row()
        assert outcome.predicted.note
    else:
        assert outcome.is_equal, outcome.row()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("conformance")
@pytest.mark.timeout(600)
def test_the_files_that_are_removed_are_predicted_within_a_twentieth(suite: Suite) -> None:
    outcomes = [suite.outcome(shape) for shape in SHAPES]
    certain = [outcome for outcome in outcomes if not outcome.predicted.error_bound]
    removed = sum(max(0, outcome.removed) for outcome in outcomes)
    wrong = sum(
        abs(outcome.predicted.items_removed - max(0, outcome.removed)) for outcome in outcomes
    )
    assert len(certain) >= FEWEST_CERTAIN
    assert removed > 100
    assert wrong <= GREATEST_ERROR * removed


def test_there_are_at_least_sixty_shapes_each_of_its_own_name() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 60


def test_the_page_lists_each_shape_in_order() -> None:
    rows = findall(
        r"^\| ([^|]+) \| \d+ to \d+ \| \d+ to \d+ \| [^|]+ \| [^|]*\|$",
        Path(PAGE).read_text(encoding="utf-8"),
        MULTILINE,
    )
    assert rows[: len(SHAPES)] == [shape.name for shape in SHAPES]


def test_a_seed_makes_the_same_shapes_again() -> None:
    assert shapes.by_seed(7, 5) == shapes.by_seed(7, 5) != shapes.by_seed(8, 5)


def test_paths_that_were_taken_or_left_against_the_prediction_are_counted() -> None:
    exact = Paths(frozenset("abc"), is_exact=True)
    assert [exact.count_wrong(taken) for taken in ("abc", "ab", "abd")] == [0, 1, 2]
    bound = replace(exact, is_exact=False)
    assert [bound.count_wrong(taken) for taken in ("abc", "ab", "abd")] == [0, 0, 1]


def test_seeds_make_all_kinds_of_deletes_specs_filters_and_groups() -> None:
    made = [shape for seed in (7, 19, 42) for shape in shapes.by_seed(seed, 60)]
    kinds = {one.kind for shape in made for one in shape.layout.deletes}
    assert kinds == {"file", "partition", "equality", "vector"}
    assert {shape.layout.format_version for shape in made} == {2, 3}
    evolved = [sum(one.fields is not None for one in shape.layout.batches) for shape in made]
    assert {0, 1, 2} <= set(evolved)
    assert any(shape.where for shape in made)
    assert {"max-file-group-input-files", "max-file-group-size-bytes"} <= {
        name for shape in made for name in shape.options
    }
