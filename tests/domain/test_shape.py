"""The digest of a noun's shape, by which stored values of another shape are measured anew."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any

from maintainer.domain.health import TableHealth
from maintainer.domain.shape import digest_shape
from maintainer.steps.scan import PROGRAM


def shape_of(*fields: tuple[str, Any], inner: tuple[tuple[str, Any], ...] = ()) -> str:
    part: Any = make_dataclass("Part", inner)
    return digest_shape(make_dataclass("Noun", [*fields, ("parts", tuple[part, ...])]))


def test_another_field_another_type_or_another_noun_inside_is_another_shape() -> None:
    shapes = {
        shape_of(("files", int)),
        shape_of(("files", float)),
        shape_of(("files", int | None)),
        shape_of(("data_files", int)),
        shape_of(("files", int), ("bytes", int)),
        shape_of(("files", int), inner=(("small", int),)),
        shape_of(("files", int), inner=(("small", float),)),
    }
    assert len(shapes) == 7


def test_the_same_fields_are_the_same_shape() -> None:
    assert shape_of(("files", int)) == shape_of(("files", int))


def test_a_noun_that_contains_itself_is_described_once() -> None:
    noun = make_dataclass("Noun", [("number", int)])
    noun.__annotations__["again"] = noun
    assert digest_shape(noun)


def test_a_health_of_another_shape_is_measured_again() -> None:
    assert PROGRAM.endswith(digest_shape(TableHealth))
