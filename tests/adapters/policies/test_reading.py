from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.policies.document import MAXIMUM_DEPTH, MAXIMUM_VALUES, read_document
from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.action import Canary, Checksum
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import (
    Budget,
    Mode,
    PolicyLayer,
    RuleName,
    Setting,
    UncheckedWriter,
    Window,
)
from maintainer.policy.effective import effective

_GOOD = """\
tables: [lake.sales.orders, "lake.cdc.*"]
mode: enforce
priority: 50
target_file_size: 256MiB
window: {cron: "0 1 * * *", duration: 4h, timezone: Europe/Berlin}
rules:
  rewrite_data_files:
    when: {average_file_size_below: 32MiB, small_file_count_above: 50, small_file_ratio_above: 1}
    where: "order_date < current_date"
    strategy: sort
    sort_order: "zorder(a, b)"
    cooldown: 1h30m
    options: {min-input-files: 5, partial-progress.enabled: true, max-file-size-bytes: 1GiB, delete-ratio-threshold: 0.1}
  rewrite_manifests: {when: {manifest_count_above: 100}, enabled: false}
  expire_snapshots:
    when: {snapshot_count_above: 100, oldest_snapshot_age_above: 5d}
    max_age: 24h
    keep: 2
  remove_orphan_files: {every: 7d, older_than: 3d}
  rewrite_position_delete_files: {when: {position_delete_file_count_above: 100}}
"""

_DATA = "rules.rewrite_data_files"


def problems_of(text: str, name: str = "x.yaml") -> list[str]:
    parsed = parse_policy(text, name)
    return (
        []
        if isinstance(parsed, PolicyLayer)
        else [f"{problem.source}: {problem.message}" for problem in parsed]
    )


def layer_of(text: str, name: str = "x.yaml") -> PolicyLayer:
    parsed = parse_policy(text, name)
    assert isinstance(parsed, PolicyLayer), parsed
    return parsed


def test_the_trigger_of_a_stream_is_a_duration_within_bounds() -> None:
    layer = layer_of("tables: lake.a.b\nstream: {trigger: 1m30s}\n")
    assert layer.settings["stream.trigger"].value == timedelta(seconds=90)
    (problem,) = problems_of("tables: lake.a.b\nstream: {trigger: 500ms}\n")
    assert "stream.trigger" in problem
    assert "1s" in problem
    (problem,) = problems_of("tables: lake.a.b\nstream: {}\n")
    assert "trigger" in problem


def test_a_file_becomes_flat_settings_in_their_units_with_the_line_of_each() -> None:
    layer = parse_policy(_GOOD, "x.yaml", "policies/x.yaml")
    assert isinstance(layer, PolicyLayer)
    assert layer.name == "x.yaml"
    assert layer.tables == (TablePattern("lake.sales.orders"), TablePattern("lake.cdc.*"))
    expected: dict[str, tuple[object, int]] = {
        "mode": (Mode.ENFORCE, 2),
        "priority": (50, 3),
        "target_file_size_bytes": (256 * 1024**2, 4),
        "window.cron": ("0 1 * * *", 5),
        "window.duration": (timedelta(hours=4), 5),
        "window.timezone": ("Europe/Berlin", 5),
        _DATA: (True, 7),
        f"{_DATA}.when.average_file_size_below": (32.0 * 1024**2, 8),
        f"{_DATA}.when.small_file_count_above": (50.0, 8),
        f"{_DATA}.when.small_file_ratio_above": (1.0, 8),
        f"{_DATA}.where": ("order_date < current_date", 9),
        f"{_DATA}.strategy": ("sort", 10),
        f"{_DATA}.sort_order": ("zorder(a, b)", 11),
        f"{_DATA}.cooldown": (timedelta(minutes=90), 12),
        f"{_DATA}.options.min-input-files": ("5", 13),
        f"{_DATA}.options.partial-progress.enabled": ("true", 13),
        f"{_DATA}.options.max-file-size-bytes": ("1073741824", 13),
        f"{_DATA}.options.delete-ratio-threshold": ("0.1", 13),
        "rules.rewrite_manifests": (True, 14),
        "rules.rewrite_manifests.when.manifest_count_above": (100.0, 14),
        "rules.rewrite_manifests.enabled": (False, 14),
        "rules.expire_snapshots": (True, 15),
        "rules.expire_snapshots.when.snapshot_count_above": (100.0, 16),
        "rules.expire_snapshots.when.oldest_snapshot_age_above": (432000.0, 16),
        "rules.expire_snapshots.max_age": (timedelta(days=1), 17),
        "rules.expire_snapshots.keep": (2, 18),
        "rules.remove_orphan_files": (True, 19),
        "rules.remove_orphan_files.every": (timedelta(days=7), 19),
        "rules.remove_orphan_files.older_than": (timedelta(days=3), 19),
        "rules.rewrite_position_delete_files": (True, 20),
        "rules.rewrite_position_delete_files.when.position_delete_file_count_above": (100.0, 20),
    }
    assert dict(layer.settings) == {
        path: Setting(value, f"policies/x.yaml:{line}") for path, (value, line) in expected.items()
    }
    assert {path: type(setting.value) for path, setting in layer.settings.items()} == {
        path: type(value) for path, (value, _) in expected.items()
    }


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in (Path(__file__).parent / "bad").glob("*.yaml"))
)
def test_a_bad_file_is_refused_with_exactly_these_sentences(name: str) -> None:
    directory = Path(__file__).parent / "bad"
    text = (directory / f"{name}.yaml").read_text("utf-8")
    assert "\n".join(problems_of(text, f"{name}.yaml")) + "\n" == (
        directory / f"{name}.txt"
    ).read_text("utf-8")


def test_there_are_at_least_fifteen_bad_files() -> None:
    assert len(list((Path(__file__).parent / "bad").glob("*.yaml"))) >= 15


@pytest.mark.parametrize("name", ["default.yaml", "default.yml"])
def test_the_default_file_needs_no_tables(name: str) -> None:
    assert layer_of("mode: observe", name).tables == (TablePattern("*"),)


def test_an_empty_default_file_sets_nothing() -> None:
    assert layer_of("# nothing yet\n", "default.yaml") == PolicyLayer(
        "default.yaml", (TablePattern("*"),), {}
    )


def test_any_other_file_needs_tables() -> None:
    assert problems_of("mode: observe") == [
        "x.yaml:1: tables is missing; name a table, a glob or a list, like `tables: lake.sales.*`"
    ]


def test_an_exact_name_is_kept_as_a_table_writes_itself() -> None:
    assert layer_of("tables: lake.`sales`.`a.b`").tables == (TablePattern("lake.sales.`a.b`"),)


@pytest.mark.parametrize(
    "glob",
    [
        "*",
        "lake.*",
        "*.streaming.*",
        "lake.sales.orders_?",
        "lake.[a-c]*.x",
        "lake.[]]*",
        "lake.[!]]*",
    ],
)
def test_a_glob_is_taken_as_it_is(glob: str) -> None:
    assert layer_of(f"tables: '{glob}'").tables == (TablePattern(glob),)


@pytest.mark.parametrize("word", ["no", "on", "1:30", "2024-01-01", "0x10", "1_000"])
def test_words_that_older_yaml_turns_into_other_things_stay_text(word: str) -> None:
    assert layer_of(f"tables: '*'\nrules: {{compute_table_stats: {{columns: [{word}]}}}}").settings[
        "rules.compute_table_stats.columns"
    ].value == (word,)


def test_a_rule_without_fields_is_named_all_the_same() -> None:
    assert dict(layer_of("tables: '*'\nrules: {rewrite_manifests: {}}").settings) == {
        "rules.rewrite_manifests": Setting(value=True, source="x.yaml:2")
    }


def test_an_anchor_may_be_used_but_stands_for_a_bounded_number_of_values() -> None:
    assert layer_of(
        "tables: ['*']\nrules: {rewrite_manifests: &a {cooldown: 1h}, expire_snapshots: *a}"
    ).settings["rules.expire_snapshots.cooldown"].value == timedelta(hours=1)
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    assert any(f"more than {MAXIMUM_VALUES} values" in problem for problem in problems_of(bomb))


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: " + "[" * 30 + "]" * 30, "[" * 50_000])
def test_endless_and_very_deep_values_are_refused(text: str) -> None:
    assert any(f"deeper than {MAXIMUM_DEPTH} levels" in problem for problem in problems_of(text))


@given(st.text(max_size=200))
def test_any_text_is_either_a_layer_or_problems(text: str) -> None:
    parsed = parse_policy(text, "x.yaml")
    assert isinstance(parsed, PolicyLayer) or parsed


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "tables",
                        "mode",
                        "rules",
                        "when",
                        "window",
                        "keep",
                        "cron",
                        "options",
                        "rewrite_data_files",
                        "x",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_any_shape_is_either_a_layer_or_problems_with_lines(value: object) -> None:
    import json  # noqa: PLC0415 - JSON is YAML, and only this test writes it

    parsed = parse_policy(json.dumps({"tables": "*", "rules": value}), "x.yaml")
    if not isinstance(parsed, PolicyLayer):
        assert all(problem.source.startswith("x.yaml:") for problem in parsed)


def test_a_reader_of_lines_gives_each_key_and_item_its_own() -> None:
    document = read_document("a: 1\nb:\n  - x\n  - c: true\n")
    assert document.value == {"a": 1, "b": ["x", {"c": True}]}
    assert document.lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "c"): 4,
    }


def test_the_statistics_rules_and_every_procedures_options_are_read() -> None:
    text = """\
tables: "*"
rules:
  rewrite_position_delete_files:
    when: {delete_file_ratio_above: 2}
    where: "day > '2026-01-01'"
    options: {rewrite-all: true, target-file-size-bytes: 64MiB}
  rewrite_manifests: {options: {use_caching: false}}
  expire_snapshots: {options: {stream_results: true, max_concurrent_deletes: 8}}
  compute_table_stats: {columns: [id, nested.name], every: 30d}
  compute_partition_stats: {}
"""
    settings = {path: setting.value for path, setting in layer_of(text).settings.items()}
    assert settings["rules.rewrite_position_delete_files.when.delete_file_ratio_above"] == 2.0
    assert settings["rules.rewrite_position_delete_files.where"] == "day > '2026-01-01'"
    assert (
        settings["rules.rewrite_position_delete_files.options.target-file-size-bytes"] == "67108864"
    )
    assert settings["rules.rewrite_manifests.options.use_caching"] == "false"
    assert settings["rules.expire_snapshots.options.max_concurrent_deletes"] == "8"
    assert settings["rules.compute_table_stats.columns"] == ("id", "nested.name")
    assert layer_of(text.replace("[id, nested.name]", "id")).settings[
        "rules.compute_table_stats.columns"
    ].value == ("id",)
    assert settings["rules.compute_partition_stats"] is True


@pytest.mark.parametrize("rule", RuleName)
def test_every_rule_says_how_often_it_runs_at_most(rule: RuleName) -> None:
    layer = layer_of(f"tables: '*'\nmode: enforce\nrules: {{{rule}: {{every: 2d}}}}")
    (read,) = (
        one
        for one in effective((layer,), TableIdentifier.parse("lake.sales.orders"), {}).rules
        if one.name is rule
    )
    assert read.every == timedelta(days=2)


def test_an_option_of_another_procedure_is_refused() -> None:
    text = (
        'tables: "*"\nrules: {expire_snapshots: {options: {rewrite-all: true}}, '
        "compute_table_stats: {columns: []}}"
    )
    problems = problems_of(text)
    assert any("rewrite-all" in problem for problem in problems)
    assert any("columns" in problem for problem in problems)


def test_a_budget_and_blackouts_are_read_as_wholes() -> None:
    text = """\
tables: "*"
blackouts:
  - {cron: "0 8 * * 1-5", duration: 10h, timezone: Europe/Berlin}
budget: {max_jobs: 2, bytes_per_day: 1GiB, gb_hours_per_day: 0.5}
"""
    settings = layer_of(text).settings
    assert settings["budget"] == Setting(Budget(2, 1024**3, 0.5), "x.yaml:4")
    assert settings["blackouts"].value == (
        Window("0 8 * * 1-5", timedelta(hours=10), "Europe/Berlin"),
    )


def test_the_writers_of_a_table_are_a_list_of_known_engines() -> None:
    read = layer_of("tables: a.b.c\nwriters: [impala, hive]\n").settings
    assert read["writers"] == Setting((UncheckedWriter.IMPALA, UncheckedWriter.HIVE), "x.yaml:2")
    assert layer_of("tables: a.b.c\nwriters: []\n").settings["writers"].value == ()
    (problem,) = problems_of("tables: a.b.c\nwriters: [spark]\n")
    assert "writers" in problem
    assert "must be hive, impala or starrocks" in problem


def test_a_budget_below_nothing_and_a_blackout_that_never_begins_are_refused() -> None:
    problems = problems_of(
        'tables: "*"\nbudget: {max_jobs: -1}\nblackouts: [{cron: "0 0 31 2 *", duration: 1h}]'
    )
    assert any("budget.max_jobs is -1, under the least value 0" in problem for problem in problems)
    assert any("is not a cron expression that ever fires" in problem for problem in problems)


def test_how_a_rewrite_is_proved_is_said_in_words() -> None:
    read = layer_of("tables: a.b.c\nrollback_for: 36h\ncanary: off\nchecksum: full\n").settings
    assert (read["rollback_for"].value, read["canary"].value, read["checksum"].value) == (
        timedelta(hours=36),
        Canary.OFF,
        Checksum.FULL,
    )
    assert layer_of("tables: a.b.c\nrollback_for: off\n").settings[
        "rollback_for"
    ].value == timedelta(0)
    assert problems_of("tables: a.b.c\nrollback_for: 59m\n") == [
        "x.yaml:2: rollback_for is 59m, under the least value 1h"
    ]
    assert problems_of("tables: a.b.c\nrollback_for: 31d\ncanary: all\n") == [
        "x.yaml:2: rollback_for is 31d, over the greatest value 30d",
        "x.yaml:3: canary is 'all', but must be off or sample",
    ]
