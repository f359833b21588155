"""Policies as text, and what two versions have differently."""

from __future__ import annotations

from hypothesis import given, settings

from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.domain.policy_version import PolicyChange, PolicyVersion, WrittenLayer
from maintainer.policy.versions import compare_layers, version_of, write_layers
from maintainer.policy.writing import write_value
from tests.examples import examples
from tests.policy.test_effective import _layers
from tests.samples import NOW


def read(text: str, name: str = "a.yaml") -> PolicyLayer:
    parsed = parse_policy(text, name)
    assert isinstance(parsed, PolicyLayer), parsed
    return parsed


def test_layers_are_written_as_people_write_them_by_name() -> None:
    text = (
        "tables: [lake.*, x.y.z]\nmode: enforce\ntarget_file_size: 268435456\nrules:\n  "
        "rewrite_manifests: {}\n  expire_snapshots: {max_age: 48h}\n"
    )
    assert write_layers([read("tables: '*'", "b.yaml"), read(text)]) == (
        WrittenLayer(
            "a.yaml",
            ("lake.*", "x.y.z"),
            (
                ("mode", "enforce", "a.yaml:2"),
                ("rules.expire_snapshots.max_age", "2d", "a.yaml:6"),
                ("rules.rewrite_manifests", "{}", "a.yaml:5"),
                ("target_file_size", "256MiB", "a.yaml:3"),
            ),
        ),
        WrittenLayer("b.yaml", ("*",), ()),
    )


def test_a_version_has_its_layers_as_they_are_written() -> None:
    layers = (read("tables: '*'"), read("tables: x.*", "b.yaml"))
    assert version_of(PolicySet(layers, version="v7"), NOW) == PolicyVersion(
        "v7", NOW, NOW, 2, (), write_layers(layers)
    )


def test_a_number_that_fits_no_setting_is_written_as_it_is() -> None:
    assert (write_value("x", 2.0), write_value("x", 2.5)) == ("2", "2.5")


def test_every_field_that_differs_is_reported_once() -> None:
    before = [
        read("tables: lake.*\npriority: 1\nmode: observe"),
        read("tables: '*'\npriority: 3", "gone.yaml"),
    ]
    after = [
        read("tables: [lake.*, ice.*]\nmode: observe\n\nrules: {expire_snapshots: {keep: 5}}"),
        read("tables: x.*", "new.yaml"),
    ]
    assert compare_layers(write_layers(before), write_layers(after)) == (
        PolicyChange("a.yaml", "tables", "lake.*", "lake.*, ice.*"),
        PolicyChange("a.yaml", "priority", "1", None, "a.yaml:2"),
        PolicyChange("a.yaml", "rules.expire_snapshots.keep", None, "5", None, "a.yaml:4"),
        PolicyChange("gone.yaml", "tables", "*", None),
        PolicyChange("gone.yaml", "priority", "3", None, "gone.yaml:2"),
        PolicyChange("new.yaml", "tables", None, "x.*"),
    )


def test_a_value_that_only_moved_or_was_only_spelt_otherwise_is_no_change() -> None:
    before, after = (
        read("tables: lake.*\nrules: {expire_snapshots: {max_age: 2d}}"),
        read("# moved\ntables: lake.*\nrules: {expire_snapshots: {max_age: 48h}}"),
    )
    assert compare_layers(write_layers([before]), write_layers([after])) == ()


@settings(max_examples=examples(30))
@given(_layers(), _layers())
def test_a_comparison_read_backwards_is_the_same(
    before: tuple[PolicyLayer, ...], after: tuple[PolicyLayer, ...]
) -> None:
    first, second = write_layers(before), write_layers(after)
    there = [
        (change.layer, change.path, change.before, change.after)
        for change in compare_layers(first, second)
    ]
    assert there == [
        (change.layer, change.path, change.after, change.before)
        for change in compare_layers(second, first)
    ]
    assert compare_layers(first, first) == ()
