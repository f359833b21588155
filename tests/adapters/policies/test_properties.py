"""A table's own maintainer.* properties, held to the bounds of the files."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.policies.reading import (
    MAXIMUM_CHARACTERS,
    MAXIMUM_PROPERTIES,
    parse_policy,
    read_table_properties,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Approval, Mode, PolicyLayer, PolicySet, RuleName
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.policy.effective import effective

DATA = "rewrite_data_files"


def values(properties: dict[str, str]) -> dict[str, object]:
    return {
        path: setting.value for path, setting in read_table_properties(properties).settings.items()
    }


def test_each_property_is_the_field_of_the_same_name_in_its_unit() -> None:
    own = {
        "maintainer.mode": " ENFORCE ",
        "maintainer.priority": "7",
        "maintainer.expire_snapshots.keep": "5",
        "maintainer.expire_snapshots.max_age": "2d",
        "maintainer.expire_snapshots.enabled": "False",
        f"maintainer.{DATA}.when.average_file_size_below": "16MiB",
        f"maintainer.{DATA}.when.small_file_ratio_above": "0.5",
        f"maintainer.{DATA}.options.partial-progress.enabled": "true",
        f"maintainer.{DATA}.options.min-input-files": "9",
        f"maintainer.{DATA}.where": "true",
        f"maintainer.{DATA}.sort_order": "a, b",
        f"maintainer.{DATA}.every": "2d",
        "owner": "sales",
    }
    assert values(own) == {
        "mode": Mode.ENFORCE,
        "priority": 7,
        "rules.expire_snapshots.keep": 5,
        "rules.expire_snapshots.max_age": timedelta(days=2),
        "rules.expire_snapshots.enabled": False,
        f"rules.{DATA}.when.average_file_size_below": 16.0 * 1024**2,
        f"rules.{DATA}.when.small_file_ratio_above": 0.5,
        f"rules.{DATA}.options.partial-progress.enabled": "true",
        f"rules.{DATA}.options.min-input-files": "9",
        f"rules.{DATA}.where": "true",
        f"rules.{DATA}.sort_order": "a, b",
        f"rules.{DATA}.every": timedelta(days=2),
    }
    assert read_table_properties(own).ignored == {}
    assert (
        read_table_properties(own).settings["rules.expire_snapshots.keep"].source
        == "table property maintainer.expire_snapshots.keep"
    )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("expire_snapshots.keep", "1", "rules.expire_snapshots.keep is 1, under the floor 2"),
        (
            "expire_snapshots.max_age",
            "1h",
            "rules.expire_snapshots.max_age is 1h, under the floor 24h",
        ),
        (
            "remove_orphan_files.older_than",
            "1d",
            "rules.remove_orphan_files.older_than is 1d, under the floor 3d",
        ),
        (f"{DATA}.options.use-starting-sequence-number", "false", "must be true"),
        (f"{DATA}.options.nonsense", "1", "unknown key 'nonsense'"),
        (f"{DATA}.cooldwon", "1h", "unknown key 'cooldwon', did you mean 'cooldown'?"),
        (f"{DATA}.when", "16MiB", "must hold keys and values"),
        (f"{DATA}.where", "", "blank"),
        (f"{DATA}.where", "a) OR (b", f"rules.{DATA}.where closes a bracket with ) at character 2"),
        (
            f"{DATA}.where",
            "reflect('a', 'b') = 1",
            f"rules.{DATA}.where calls 'reflect' at character 1",
        ),
        (
            "rewrite_position_delete_files.where",
            "true; DROP TABLE t",
            "rules.rewrite_position_delete_files.where holds ';' at character 5",
        ),
        (DATA, "true", "a rule needs a field"),
        ("priority", "101", "priority is 101, over the greatest value 100"),
        ("mode", "enforced", "mode is 'enforced', but must be observe or enforce"),
        (
            "expire_snapshot.keep",
            "5",
            "unknown name 'expire_snapshot', did you mean 'expire_snapshots'?",
        ),
        ("target_file_size", "64MiB", "write.target-file-size-bytes"),
        ("window.cron", "0 1 * * *", "only a file sets a window"),
        ("tables", "*", "only a file names tables"),
        (
            f"{DATA}.where",
            "x" * (MAXIMUM_CHARACTERS + 1),
            f"over the limit of {MAXIMUM_CHARACTERS}",
        ),
    ],
)
def test_a_property_that_no_file_could_hold_is_ignored_with_the_files_own_words(
    name: str, text: str, reason: str
) -> None:
    read = read_table_properties(
        {
            f"maintainer.{name}": text,
            "maintainer.priority" if name != "priority" else "maintainer.mode": "observe",
        }
    )
    assert reason in read.ignored[f"maintainer.{name}"]


def test_a_bad_property_does_not_take_the_good_ones_with_it() -> None:
    own = {
        "maintainer.expire_snapshots.keep": "1",
        "maintainer.expire_snapshots.max_age": "2d",
        f"maintainer.{DATA}.sort_order": "a",
    }
    own |= {f"maintainer.{DATA}.strategy": "binpack"}
    assert values(own) == {
        "rules.expire_snapshots.max_age": timedelta(days=2),
        f"rules.{DATA}.sort_order": "a",
    }
    assert (
        "a sort_order needs strategy sort"
        in read_table_properties(own).ignored[f"maintainer.{DATA}.strategy"]
    )


def test_names_that_may_be_somebody_elses_are_left_alone() -> None:
    read = read_table_properties(
        {"maintainer.pin.flink": "17", "maintainer.enabled": "0", "maintainers": "x"}
    )
    assert (read.settings, read.ignored) == ({}, {})


def test_a_flood_of_properties_is_bounded() -> None:
    own = {
        f"maintainer.{DATA}.options.x{number:04}": "1" for number in range(MAXIMUM_PROPERTIES + 5)
    }
    reasons = list(read_table_properties(own).ignored.values())
    assert len(reasons) == MAXIMUM_PROPERTIES + 5
    assert reasons[-1] == (
        f"the table has {MAXIMUM_PROPERTIES + 5} properties that begin with maintainer., "
        f"over the limit of {MAXIMUM_PROPERTIES}"
    )


@given(
    st.dictionaries(
        st.text(max_size=20)
        | st.tuples(st.sampled_from(RuleName), st.text(max_size=10)).map(
            lambda pair: f"maintainer.{pair[0]}.{pair[1]}"
        ),
        st.text(max_size=10),
        max_size=4,
    )
)
def test_any_properties_of_strangers_are_read_without_trouble(own: dict[str, str]) -> None:
    read_table_properties(own)


@given(st.integers(-5, 2**40), st.sampled_from(["keep", "max_age"]))
def test_a_property_is_good_exactly_when_a_file_with_it_is(number: int, field: str) -> None:
    text = str(number) if field == "keep" else f"{number}h"
    parsed = parse_policy(
        f"tables: '*'\nrules: {{expire_snapshots: {{{field}: {text}}}}}", "x.yaml"
    )
    is_good = (
        f"maintainer.expire_snapshots.{field}"
        not in read_table_properties({f"maintainer.expire_snapshots.{field}": text}).ignored
    )
    assert is_good == isinstance(parsed, PolicyLayer)


def orphan_rule(of_file: str, own: dict[str, str]) -> RemoveOrphanFilesRule:
    layer = parse_policy(
        f"rules: {{remove_orphan_files: {{approval: {of_file}}}}}\ntables: '*'\n", "all.yaml"
    )
    assert isinstance(layer, PolicyLayer), layer
    policy = effective(
        PolicySet((layer,), read_properties=read_table_properties),
        TableIdentifier("lake", ("db",), "t"),
        own,
    )
    found = policy.rule(RemoveOrphanFilesRule)
    assert found is not None
    return found


def test_guard_5_a_writer_of_a_table_may_ask_for_the_approval_but_not_do_without_it() -> None:
    name = "maintainer.remove_orphan_files.approval"
    assert orphan_rule("required", {name: "automatic"}).approval is Approval.REQUIRED
    assert orphan_rule("automatic", {name: "required"}).approval is Approval.REQUIRED
    assert orphan_rule("automatic", {}).approval is Approval.AUTOMATIC
