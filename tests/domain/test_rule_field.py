from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from maintainer.domain.policy import Approval
from maintainer.domain.rule_field import (
    Choice,
    Condition,
    Count,
    Direction,
    Duration,
    FilesOnly,
    Flag,
    Kind,
    Member,
    Names,
    RuleField,
    Size,
    Text,
    fields_of,
    rule_field,
)
from maintainer.domain.units import MIB


@pytest.mark.parametrize(
    ("kind", "value", "text", "bounds"),
    [
        (Flag(), False, "false", ""),
        (Duration("1m"), timedelta(hours=36), "1d12h", "at least 1m"),
        (Duration("0s", "365d"), timedelta(0), "0s", "0s to 365d"),
        (Duration("24h", is_floor=True), timedelta(days=5), "5d", "floor 24h"),
        (Duration("1h", "365d", has_off=True), timedelta(0), "off", "1h to 365d, or off"),
        (Size("1MiB", "1PiB"), 32 * MIB, "32MiB", "1MiB to 1PiB"),
        (Count(2), 10, "10", "floor 2"),
        (Choice(("binpack", "sort")), "sort", "sort", ""),
        (Member(Approval), Approval.REQUIRED, "required", ""),
        (Text(500), "id DESC", "id DESC", "at most 500 characters"),
        (Condition(), "a = 1", "a = 1", "at most 10000 characters, brackets 50 deep"),
        (Names(1000), ("id", "name"), "id, name", "1 to 1000"),
    ],
    ids=str,
)
def test_a_field_accepts_its_own_type_and_writes_it_as_in_a_policy_file(
    kind: Kind, value: object, text: str, bounds: str
) -> None:
    field = RuleField(value, kind, "What it means")
    assert field.accepts(value)
    assert not field.accepts(None)
    assert (field.write(value), field.default_text, field.bounds) == (text, text, bounds)


def test_a_truth_value_is_no_number() -> None:
    assert not RuleField(2, Count(2), "What it means").accepts(value=True)
    assert not RuleField(default=True, kind=Flag(), meaning="What it means").accepts(1)


def test_a_field_is_described_with_its_bounds_its_default_and_what_a_property_cannot_say() -> None:
    plain = RuleField(10, Count(2), "Files that one commit reads")
    assert plain.describe() == "Files that one commit reads; floor 2, default 10."
    unset = RuleField(None, Text(500), "The order of rows", unset="as the table says")
    assert unset.describe() == (
        "The order of rows; at most 500 characters, default as the table says."
    )
    restricted = RuleField(
        Approval.REQUIRED,
        Member(Approval),
        "Who agrees",
        files_only=FilesOnly(Approval.AUTOMATIC, "a table's writers set its properties"),
    )
    assert restricted.describe() == (
        "Who agrees; default required. A table property cannot set automatic."
    )


def test_the_fields_of_a_rule_have_their_attributes_names_and_their_own_keys() -> None:
    @dataclass(frozen=True)
    class Rule:
        enabled: bool = rule_field(default=True, kind=Flag(), meaning="Whether it runs")
        not_a_field: int = 0

    @dataclass(frozen=True)
    class Narrower(Rule):
        files: int = rule_field(10, Count(2), "How many", key="max_files")

    assert [(one.name, one.key, one.default) for one in fields_of(Narrower)] == [
        ("enabled", "enabled", True),
        ("files", "max_files", 10),
    ]


@pytest.mark.parametrize(
    ("direction", "sentence"),
    [
        (Direction.EITHER, ""),
        (Direction.UP, " A table property can only raise it."),
        (Direction.OFF, " A table property can only switch it off."),
    ],
)
def test_a_field_says_in_which_direction_a_property_moves_it(
    direction: Direction, sentence: str
) -> None:
    assert RuleField(2, Count(2), "What it means", direction=direction).restriction == sentence
