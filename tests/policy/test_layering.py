"""Equally narrow layers that disagree, and layers of which only the strongest counts."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, PolicyLayer, PolicySet, RuleName, Setting
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.policy.ambiguity import MAX_PROBLEMS, find_ambiguities
from maintainer.policy.effective import effective
from maintainer.policy.layering import BUILT_IN, weak_to_strong
from maintainer.policy.writing import describe
from tests.policy.test_effective import _GLOBS, _PROPERTIES, _VALUES, DATA, EXPIRE, ORDERS, layer
from tests.samples import NOW, health_of_partitions

ITEMS = TableIdentifier.parse("lake.sales.items")


def test_two_files_for_the_same_pattern_that_disagree_settle_nothing_under_any_names() -> None:
    wide, first, second = (
        layer("default.yaml", "*", priority=9),
        layer("a.yaml", "lake.*", priority=1),
        layer("b.yaml", "lake.*", priority=2, mode=Mode.ENFORCE),
    )
    for order in permutations((wide, first, second)):
        policy = effective(order, ORDERS, {})
        (ambiguity,) = policy.ambiguities
        assert ambiguity.path == "priority"
        assert ambiguity.settings == (
            Setting(1, "policies/a.yaml:1"),
            Setting(2, "policies/b.yaml:1"),
        )
        assert (policy.priority, policy.sources["priority"]) == (9, "policies/default.yaml:1")
        assert policy.mode is Mode.ENFORCE


def test_different_patterns_that_are_equally_narrow_disagree_too() -> None:
    layers = (layer("a.yaml", "lake.s*.*", priority=1), layer("b.yaml", "lake.*.o*", priority=2))
    assert TablePattern("lake.s*.*").specificity == TablePattern("lake.*.o*").specificity
    assert [ambiguity.path for ambiguity in effective(layers, ORDERS, {}).ambiguities] == [
        "priority"
    ]
    assert effective(layers, ITEMS, {}).ambiguities == ()


def test_equal_values_are_no_ambiguity() -> None:
    policy = effective(
        (layer("b.yaml", "lake.*", priority=1), layer("a.yaml", "lake.*", priority=1)), ORDERS, {}
    )
    assert (policy.ambiguities, policy.priority, policy.sources["priority"]) == (
        (),
        1,
        "policies/a.yaml:1",
    )


def test_a_narrower_file_settles_what_wider_ones_dispute() -> None:
    layers = (
        layer("a.yaml", "lake.*", priority=1),
        layer("b.yaml", "lake.*", priority=2),
        layer("c.yaml", "lake.sales.*", priority=3),
    )
    policy = effective(layers, ORDERS, {})
    assert (policy.ambiguities, policy.priority) == ((), 3)


def test_a_sort_order_in_one_file_and_binpack_in_another_is_an_ambiguity() -> None:
    layers = (
        layer("a.yaml", "lake.*", **{f"{DATA}.sort_order": "id"}),
        layer("b.yaml", "lake.*", **{f"{DATA}.strategy": "binpack"}),
    )
    policy = effective(layers, ORDERS, {})
    assert [ambiguity.path for ambiguity in policy.ambiguities] == [f"{DATA}.strategy"]
    rule = policy.rule(RewriteDataFilesRule)
    assert rule is not None
    assert (rule.strategy, rule.sort_order) == ("binpack", None)


def test_a_narrower_binpack_settles_a_dispute_about_the_sort_order() -> None:
    layers = (
        layer("a.yaml", "lake.*", **{f"{DATA}.sort_order": "id"}),
        layer("b.yaml", "lake.*", **{f"{DATA}.sort_order": "name"}),
        layer("c.yaml", "lake.sales.*", **{f"{DATA}.strategy": "binpack"}),
    )
    assert effective(layers, ORDERS, {}).ambiguities == ()


def test_nothing_is_done_while_files_disagree_not_even_on_request() -> None:
    layers = (
        layer("a.yaml", "lake.*", mode=Mode.ENFORCE, **{f"{EXPIRE}.keep": 5}),
        layer("b.yaml", "lake.*", **{f"{EXPIRE}.keep": 7}),
    )
    rotten = replace(health_of_partitions({"a": [1000] * 600}), table=ORDERS)
    policy = effective(layers, ORDERS, {})
    assert decide(rotten, effective(layers[:1], ORDERS, {}), Circumstances(NOW)).planned
    for asked in (policy, on_request(policy, (RuleName.REWRITE_DATA_FILES,))):
        plan = decide(rotten, asked, Circumstances(NOW, is_requested=True))
        assert plan.planned == ()
        assert {skipped.code for skipped in plan.skipped} == {SkipCode.AMBIGUOUS_POLICY}
        assert plan.skipped[0].reason == (
            f"policies/a.yaml:2: {EXPIRE}.keep is 5 here and 7 at policies/b.yaml:1, which are "
            f"equally narrow; "
            "make one narrower, or set it in one place (the table gets no action until then)"
        )


def test_an_ambiguity_changes_the_version() -> None:
    first, second = layer("a.yaml", "lake.*", priority=1), layer("b.yaml", "lake.*", priority=2)
    assert effective((first, second), ORDERS, {}).version != effective((), ORDERS, {}).version
    assert (
        effective((first, second), ORDERS, {}).version
        == effective((second, first), ORDERS, {}).version
    )


def test_a_check_finds_equal_patterns_without_any_table_and_the_rest_for_known_tables() -> None:
    same = (
        layer("a.yaml", ("x.*", "lake.*"), target_file_size_bytes=2**20),
        layer("b.yaml", "lake.*", target_file_size_bytes=2**21),
    )
    (found,) = find_ambiguities(PolicySet(same))
    assert found.source == "policies/a.yaml:1"
    assert found.message == (
        "target_file_size is 1MiB here and 2MiB at policies/b.yaml:1, which are equally narrow; "
        "make one narrower, or set it in one place (both files are for lake.*)"
    )
    assert find_ambiguities(PolicySet(same), [ORDERS]) == (found,), (
        "what is known already is not reported again"
    )
    crossing = PolicySet(
        (layer("a.yaml", "lake.s*.*", priority=1), layer("b.yaml", "lake.*.o*", priority=2))
    )
    assert find_ambiguities(crossing) == ()
    (found,) = find_ambiguities(crossing, [ITEMS, ORDERS])
    assert found.message.endswith("(as for lake.sales.orders)")


def test_a_check_tells_a_bounded_number_of_problems() -> None:
    many = [f"{DATA}.options.x{number}" for number in range(MAX_PROBLEMS + 1)]
    layers = tuple(
        layer(name, "lake.*", **dict.fromkeys(many, name)) for name in ("a.yaml", "b.yaml")
    )
    assert len(find_ambiguities(PolicySet(layers))) == MAX_PROBLEMS


def test_of_equally_narrow_layers_one_of_higher_precedence_wins_without_dispute() -> None:
    file, candidate = (
        layer("a.yaml", "lake.*", priority=1),
        replace(layer("b.yaml", "lake.*", priority=2), precedence=1),
    )
    exact = layer("c.yaml", "lake.sales.orders", priority=3)
    policy = effective((candidate, file), ORDERS, {})
    assert (policy.priority, policy.ambiguities) == (2, ())
    assert find_ambiguities(PolicySet((file, candidate))) == ()
    assert effective((candidate, file, exact), ORDERS, {}).priority == 3
    assert [one.name for one in weak_to_strong((exact, candidate, file))] == [
        "a.yaml",
        "b.yaml",
        "c.yaml",
    ]


def test_of_a_family_only_the_narrowest_counts_and_as_a_whole() -> None:
    settings = {f"{EXPIRE}.keep": 5, f"{EXPIRE}.max_age": 7}
    wide = replace(layer("wide", "lake.*", **settings), family="expiry")
    narrow = replace(layer("narrow", "lake.sales.*", **{f"{EXPIRE}.keep": 6}), family="expiry")
    other = replace(layer("other", "lake.*", priority=8), family="other")
    policy = effective((wide, narrow, other), ORDERS, {})
    assert (
        policy.sources[f"{EXPIRE}.keep"],
        policy.sources[f"{EXPIRE}.max_age"],
        policy.priority,
    ) == ("policies/narrow:1", BUILT_IN, 8)
    assert (
        effective((wide, narrow, other), TableIdentifier.parse("lake.hr.people"), {}).sources[
            f"{EXPIRE}.keep"
        ]
        == "policies/wide:1"
    )
    assert (
        find_ambiguities(
            PolicySet(
                (wide, replace(wide, name="twin", settings={f"{EXPIRE}.keep": Setting(9, "x")}))
            )
        )
        == ()
    )


@st.composite
def _colliding_layers(draw: st.DrawFn) -> tuple[PolicyLayer, ...]:
    """Layers of few patterns and few fields, so that many are equally narrow."""
    paths = ("priority", f"{EXPIRE}.keep", f"{DATA}.sort_order", f"{DATA}.strategy")
    values = _VALUES | {"priority": st.integers(0, 1), f"{EXPIRE}.keep": st.integers(2, 3)}
    values |= {
        f"{DATA}.sort_order": st.sampled_from(["a", "b"]),
        f"{DATA}.strategy": st.sampled_from(["sort", "binpack"]),
    }
    globs = draw(st.lists(st.sampled_from(_GLOBS), max_size=5))
    return tuple(
        PolicyLayer(
            f"{index}.yaml",
            (TablePattern(glob),),
            {
                path: Setting(draw(values[path]), f"{index}.yaml:{path}")
                for path in draw(st.lists(st.sampled_from(paths), unique=True))
            },
        )
        for index, glob in enumerate(globs)
    )


@given(_colliding_layers(), _PROPERTIES, st.randoms(use_true_random=False))
def test_merging_depends_neither_on_names_nor_on_order(
    layers: tuple[PolicyLayer, ...], properties: dict[str, str], random: object
) -> None:
    names = [f"{name}.yaml" for name in "abcdefgh"[: len(layers)]]
    random.shuffle(names)  # type: ignore[attr-defined] # Hypothesis gives a Random
    renamed = [replace(one, name=name) for one, name in zip(layers, names, strict=True)]
    random.shuffle(renamed)  # type: ignore[attr-defined] # as above
    before, after = (
        effective(layers, ORDERS, properties),
        effective(tuple(renamed), ORDERS, properties),
    )
    assert before == after
    assert before.version == after.version


@given(_colliding_layers())
def test_every_value_is_said_by_a_layer_whose_word_no_equal_one_contradicts(
    layers: tuple[PolicyLayer, ...],
) -> None:
    policy = effective(layers, ORDERS, {})
    disputed = {ambiguity.path for ambiguity in policy.ambiguities}
    matching = [one for one in layers if one.tables[0].matches(ORDERS)]
    for path in ("priority", f"{EXPIRE}.keep"):
        setting = [one for one in matching if path in one.settings]
        strongest = max((one.tables[0].specificity for one in setting), default=None)
        values = {
            one.settings[path].value for one in setting if one.tables[0].specificity == strongest
        }
        assert (path in disputed) == (len(values) > 1)
        if len(values) == 1:
            assert policy.sources[path] in {one.settings[path].source for one in setting}


@given(_colliding_layers(), _PROPERTIES)
def test_every_effective_value_has_a_source(
    layers: tuple[PolicyLayer, ...], properties: dict[str, str]
) -> None:
    known = {setting.source for one in layers for setting in one.settings.values()} | {
        BUILT_IN,
        "Iceberg's default",
    }
    for path, _, source in describe(effective(layers, ORDERS, properties)):
        assert source in known or source.startswith("table property "), path


@pytest.mark.parametrize("name", ["default.yaml", "default.yml"])
def test_both_spellings_of_the_default_file_are_equally_weak(name: str) -> None:
    other = "default.yml" if name == "default.yaml" else "default.yaml"
    assert effective(
        (layer(name, "*", priority=1), layer(other, "*", priority=2)), ORDERS, {}
    ).ambiguities


def test_a_catalog_whose_own_policies_could_not_be_read_yet_is_only_observed() -> None:
    layers = (layer("a.yaml", "*", mode=Mode.ENFORCE),)
    policies = PolicySet(layers, unread=("lake",))
    assert (
        effective(policies, ORDERS, {}).mode,
        effective(policies, replace(ORDERS, catalog="ice"), {}).mode,
    ) == (Mode.OBSERVE, Mode.ENFORCE)
    assert (
        effective(policies, ORDERS, {}).sources["mode"]
        == "the other policies of catalog lake, which could not be read yet"
    )
