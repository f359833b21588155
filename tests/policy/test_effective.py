from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.policies.reading import read_table_properties
from maintainer.domain.action import Canary, Checksum, Safeguards
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.policy import (
    Budget,
    Mode,
    Policy,
    PolicyLayer,
    PolicySet,
    RuleName,
    Setting,
    UncheckedWriter,
    Window,
)
from maintainer.domain.rules import (
    RULES,
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.domain.units import MIB, parse_duration, parse_size
from maintainer.policy import effective as merging
from maintainer.policy.writing import describe, describe_layer, flatten, write_value

ORDERS = TableIdentifier.parse("lake.sales.orders")
DATA, MANIFESTS, EXPIRE = (
    "rules.rewrite_data_files",
    "rules.rewrite_manifests",
    "rules.expire_snapshots",
)
DELETES = "rules.rewrite_position_delete_files"


def effective(
    layers: PolicySet | tuple[PolicyLayer, ...], table: TableIdentifier, properties: dict[str, str]
) -> Policy:
    """With a reader of the table's own properties, as every source of policies has one."""
    policies = layers if isinstance(layers, PolicySet) else PolicySet(layers)
    return merging.effective(
        PolicySet(policies.layers, read_properties=read_table_properties), table, properties
    )


def layer(name: str, tables: str | tuple[str, ...], **settings: object) -> PolicyLayer:
    """Settings by path with __ for the dots; the source is the file's name and a line of its own
    for each.
    """
    patterns = (tables,) if isinstance(tables, str) else tables
    lines = {
        path.replace("__", "."): Setting(value, f"policies/{name}:{line}")
        for line, (path, value) in enumerate(settings.items(), start=1)
    }
    return PolicyLayer(name, tuple(TablePattern(pattern) for pattern in patterns), lines)


def test_without_any_file_a_table_is_observed_under_the_built_in_default() -> None:
    policy = effective((), ORDERS, {})
    assert (policy.mode, policy.priority, policy.target_file_size_bytes, policy.window) == (
        Mode.OBSERVE,
        50,
        None,
        None,
    )
    assert [(rule.name, rule.when, rule.cooldown, rule.is_enabled) for rule in policy.rules] == [
        (
            RuleName.REWRITE_DATA_FILES,
            (Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, 32 * MIB),),
            timedelta(hours=6),
            True,
        ),
        (
            RuleName.REWRITE_POSITION_DELETE_FILES,
            (Threshold(Metric.DANGLING_DELETE_FILE_COUNT, 5),),
            timedelta(hours=6),
            True,
        ),
        (
            RuleName.REWRITE_MANIFESTS,
            (Threshold(Metric.MANIFEST_COUNT, 100),),
            timedelta(hours=6),
            True,
        ),
        (
            RuleName.EXPIRE_SNAPSHOTS,
            (Threshold(Metric.SNAPSHOT_COUNT, 100),),
            timedelta(hours=6),
            True,
        ),
    ]
    expire = policy.rule(ExpireSnapshotsRule)
    assert expire is not None
    assert (expire.max_age, expire.keep) == (timedelta(days=5), 10)
    assert set(policy.sources.values()) == {"built-in default"}


def test_a_policy_that_names_the_position_deletes_says_itself_when_they_are_due() -> None:
    kind, rule = RewritePositionDeleteFilesRule, "rules.rewrite_position_delete_files"

    def due(properties: dict[str, str], **settings: object) -> tuple[Threshold, ...]:
        found = effective((layer("a.yaml", "*", **settings),), ORDERS, properties).rule(kind)
        assert found is not None
        return found.when

    assert due({}, priority=3) == (Threshold(Metric.DANGLING_DELETE_FILE_COUNT, 5),)
    assert due({}, **{rule: True}) == ()
    many = {rule: True, f"{rule}.when.position_delete_file_count_above": 100.0}
    assert due({}, **many) == (Threshold(Metric.POSITION_DELETE_FILE_COUNT, 100),)
    own = {rule: True, f"{rule}.when.dangling_delete_file_count_above": 7.0}
    assert due({}, **own) == (Threshold(Metric.DANGLING_DELETE_FILE_COUNT, 7),)


def test_default_then_wide_then_narrow_then_exact_and_the_last_word_wins_field_by_field() -> None:
    layers = (
        layer("exact.yaml", "lake.sales.orders", priority=4),
        layer("narrow.yaml", "lake.sales.*", priority=3, mode=Mode.ENFORCE),
        layer("wide.yaml", "lake.*", priority=2, mode=Mode.OBSERVE, target_file_size_bytes=2 * MIB),
        layer(
            "default.yaml",
            "*",
            priority=1,
            target_file_size_bytes=MIB,
            rules__expire_snapshots__keep=5,
        ),
        layer("other.yaml", "lake.hr.*", priority=99),
    )
    for order in permutations(layers):
        policy = effective(order, ORDERS, {})
        assert (policy.priority, policy.mode, policy.target_file_size_bytes) == (
            4,
            Mode.ENFORCE,
            2 * MIB,
        )
        assert policy.sources["priority"] == "policies/exact.yaml:1"
        assert policy.sources["mode"] == "policies/narrow.yaml:2"
        assert policy.sources["target_file_size_bytes"] == "policies/wide.yaml:3"
        assert policy.sources[f"{EXPIRE}.keep"] == "policies/default.yaml:3"
        assert policy.sources[f"{EXPIRE}.max_age"] == "built-in default"


@pytest.mark.parametrize("name", ["default.yaml", "default.yml"])
def test_the_default_file_is_the_weakest_even_when_it_names_the_table(name: str) -> None:
    assert (
        effective(
            (layer(name, "lake.sales.orders", priority=1), layer("a.yaml", "*", priority=2)),
            ORDERS,
            {},
        ).priority
        == 2
    )


def test_a_list_speaks_as_its_narrowest_pattern_that_matches() -> None:
    layers = (
        layer("a.yaml", ("*", "lake.sales.orders"), priority=1),
        layer("b.yaml", "lake.sales.*", priority=2),
    )
    assert effective(layers, ORDERS, {}).priority == 1
    assert effective(layers, TableIdentifier.parse("lake.sales.items"), {}).priority == 2


def test_thresholds_are_replaced_key_by_key() -> None:
    narrow = layer("a.yaml", "lake.*", **{DATA: True, f"{DATA}.when.small_file_count_above": 50.0})
    narrower = layer(
        "b.yaml", "lake.sales.*", **{DATA: True, f"{DATA}.when.average_file_size_below": 64.0 * MIB}
    )
    rule = effective((narrow, narrower), ORDERS, {}).rule(RewriteDataFilesRule)
    assert rule is not None
    assert set(rule.when) == {
        Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, 64 * MIB),
        Threshold(Metric.SMALL_FILE_COUNT, 50),
    }


def test_a_rule_is_there_only_when_a_layer_names_it_and_then_with_its_defaults() -> None:
    assert effective((), ORDERS, {}).rule(RemoveOrphanFilesRule) is None
    policy = effective(
        (layer("a.yaml", "*", **{f"rules.{name}": True for name in RuleName}),), ORDERS, {}
    )
    assert [rule.name for rule in policy.rules] == list(RuleName)
    rule = policy.rule(RemoveOrphanFilesRule)
    assert rule is not None
    assert (rule.every, rule.older_than) == (timedelta(days=7), timedelta(days=7))
    assert policy.sources["rules.remove_orphan_files"] == f"policies/a.yaml:{len(RuleName)}"
    assert policy.sources["rules.remove_orphan_files.older_than"] == "built-in default"


def test_a_narrower_file_switches_a_rule_off_and_a_still_narrower_one_on_again() -> None:
    off = layer("a.yaml", "lake.*", **{f"{MANIFESTS}.enabled": False})
    on = layer("b.yaml", "lake.sales.orders", **{f"{MANIFESTS}.enabled": True})
    rule = effective((off,), ORDERS, {}).rule(RewriteManifestsRule)
    assert rule is not None
    assert not rule.is_enabled
    rule = effective((off, on), ORDERS, {}).rule(RewriteManifestsRule)
    assert rule is not None
    assert rule.is_enabled


def test_options_are_merged_by_name() -> None:
    layers = (
        layer(
            "a.yaml",
            "*",
            **{f"{DATA}.options.min-input-files": "5", f"{DATA}.options.rewrite-all": "false"},
        ),
        layer("b.yaml", "lake.*", **{f"{DATA}.options.min-input-files": "20"}),
    )
    policy = effective(layers, ORDERS, {})
    rule = policy.rule(RewriteDataFilesRule)
    assert rule is not None
    assert rule.options == (("min-input-files", "20"), ("rewrite-all", "false"))
    assert policy.sources[f"{DATA}.options.min-input-files"] == "policies/b.yaml:1"


def test_a_sort_order_means_strategy_sort_and_a_narrower_binpack_drops_it() -> None:
    sort = layer("a.yaml", "lake.*", **{f"{DATA}.sort_order": "id"})
    packed = layer("b.yaml", "lake.sales.*", **{f"{DATA}.strategy": "binpack"})
    rule = effective((sort,), ORDERS, {}).rule(RewriteDataFilesRule)
    assert rule is not None
    assert (rule.strategy, rule.sort_order) == ("sort", "id")
    rule = effective((sort, packed), ORDERS, {}).rule(RewriteDataFilesRule)
    assert rule is not None
    assert (rule.strategy, rule.sort_order) == ("binpack", None)
    wide_packed = layer("b.yaml", "*", **{f"{DATA}.strategy": "binpack"})
    rule = effective((sort, wide_packed), ORDERS, {}).rule(RewriteDataFilesRule)
    assert rule is not None
    assert (rule.strategy, rule.sort_order) == ("sort", "id")


def test_a_window_is_merged_field_by_field() -> None:
    wide = layer(
        "a.yaml",
        "*",
        window__cron="0 1 * * *",
        window__duration=timedelta(hours=4),
        window__timezone="Europe/Berlin",
    )
    narrow = layer(
        "b.yaml", "lake.*", window__cron="0 2 * * *", window__duration=timedelta(hours=1)
    )
    assert effective((wide, narrow), ORDERS, {}).window == Window(
        "0 2 * * *", timedelta(hours=1), "Europe/Berlin"
    )


def test_the_tables_own_mode_restricts_the_narrowest_file() -> None:
    policy = effective(
        (layer("a.yaml", "lake.sales.orders", mode=Mode.ENFORCE),),
        ORDERS,
        {"maintainer.mode": "OBSERVE "},
    )
    assert (policy.mode, policy.sources["mode"]) == (Mode.OBSERVE, "table property maintainer.mode")


@pytest.mark.parametrize("text", ["false", "False", " FALSE "])
def test_a_table_that_opts_out_has_every_rule_disabled(text: str) -> None:
    policy = effective(
        (layer("a.yaml", "*", **{f"{EXPIRE}.enabled": True}),), ORDERS, {"maintainer.enabled": text}
    )
    assert [rule.is_enabled for rule in policy.rules] == [False] * 4
    assert policy.sources[f"{EXPIRE}.enabled"] == "table property maintainer.enabled"


def test_a_table_that_does_not_opt_out_switches_nothing_on() -> None:
    off = layer("a.yaml", "*", **{f"{EXPIRE}.enabled": False})
    assert effective((off,), ORDERS, {"maintainer.enabled": "true"}) == effective(
        (off,), ORDERS, {}
    )


def test_a_malformed_property_is_ignored_and_noted() -> None:
    policy = effective((), ORDERS, {"maintainer.mode": "enforced", "maintainer.enabled": "0"})
    assert policy.mode is Mode.OBSERVE
    assert all(rule.is_enabled for rule in policy.rules)
    assert describe(policy)[-2:] == (
        (
            "maintainer.mode",
            "ignored",
            (
                "table property maintainer.mode (ignored: mode is 'enforced', but must be "
                "observe or "
                "enforce)"
            ),
        ),
        (
            "maintainer.enabled",
            "ignored",
            "table property maintainer.enabled (ignored: '0' is neither true nor false)",
        ),
    )


def test_the_version_is_of_the_content_and_not_of_where_it_is_written() -> None:
    first = effective((layer("a.yaml", "lake.*", priority=7, mode=Mode.ENFORCE),), ORDERS, {})
    second = effective(
        (layer("b.yaml", "*", priority=7), layer("c.yaml", "*", mode=Mode.ENFORCE)), ORDERS, {}
    )
    assert first.version == second.version
    assert len(first.version) == 12
    assert first.version != effective((), ORDERS, {}).version
    assert (
        first.version
        != effective(
            (layer("a.yaml", "lake.*", priority=7, mode=Mode.ENFORCE),),
            ORDERS,
            {"maintainer.enabled": "false"},
        ).version
    )


def test_a_policy_is_described_as_people_write_it() -> None:
    layers = (
        layer(
            "a.yaml",
            "*",
            mode=Mode.ENFORCE,
            target_file_size_bytes=256 * MIB,
            window__cron="0 1 * * *",
            window__duration=timedelta(minutes=90),
        ),
        layer(
            "b.yaml",
            "lake.*",
            **{
                f"{EXPIRE}.when.oldest_snapshot_age_above": 432000.0,
                f"{EXPIRE}.max_age": timedelta(days=1, hours=12),
            },
        ),
    )
    assert describe(effective(layers, ORDERS, {})) == (
        ("mode", "enforce", "policies/a.yaml:1"),
        ("priority", "50", "built-in default"),
        ("target_file_size", "256MiB", "policies/a.yaml:2"),
        ("properties", "may_restrict", "built-in default"),
        ("window.cron", "0 1 * * *", "policies/a.yaml:3"),
        ("window.duration", "1h30m", "policies/a.yaml:4"),
        ("window.timezone", "UTC", "built-in default"),
        ("rollback_for", "1d", "built-in default"),
        ("canary", "sample", "built-in default"),
        ("checksum", "off", "built-in default"),
        ("others", "stand_back", "built-in default"),
        ("owner", "false", "built-in default"),
        ("min_size", "small", "built-in default"),
        ("max_size", "large", "built-in default"),
        ("runs_on", "default", "built-in default"),
        (f"{DATA}.enabled", "true", "built-in default"),
        (f"{DATA}.when.average_file_size_below", "32MiB", "built-in default"),
        (f"{DATA}.cooldown", "6h", "built-in default"),
        (f"{DATA}.timeout", "12h", "built-in default"),
        (f"{DATA}.wait_for_quiet", "1d", "built-in default"),
        (f"{DATA}.strategy", "binpack", "built-in default"),
        (f"{DATA}.hot_partition_age", "15m", "built-in default"),
        (f"{DELETES}.enabled", "true", "built-in default"),
        (f"{DELETES}.when.dangling_delete_file_count_above", "5", "built-in default"),
        (f"{DELETES}.cooldown", "6h", "built-in default"),
        (f"{DELETES}.timeout", "6h", "built-in default"),
        (f"{DELETES}.wait_for_quiet", "1d", "built-in default"),
        (f"{MANIFESTS}.enabled", "true", "built-in default"),
        (f"{MANIFESTS}.when.manifest_count_above", "100", "built-in default"),
        (f"{MANIFESTS}.cooldown", "6h", "built-in default"),
        (f"{MANIFESTS}.timeout", "2h", "built-in default"),
        (f"{MANIFESTS}.wait_for_quiet", "1d", "built-in default"),
        (f"{EXPIRE}.enabled", "true", "built-in default"),
        (f"{EXPIRE}.when.snapshot_count_above", "100", "built-in default"),
        (f"{EXPIRE}.when.oldest_snapshot_age_above", "5d", "policies/b.yaml:1"),
        (f"{EXPIRE}.cooldown", "6h", "built-in default"),
        (f"{EXPIRE}.timeout", "6h", "built-in default"),
        (f"{EXPIRE}.max_age", "1d12h", "policies/b.yaml:2"),
        (f"{EXPIRE}.keep", "10", "built-in default"),
        (f"{EXPIRE}.staged_max_age", "14d", "built-in default"),
        (f"{EXPIRE}.max_snapshots_per_job", "5000", "built-in default"),
        (f"{EXPIRE}.imported_files", "keep", "built-in default"),
        ("write.delete.target-file-size-bytes", "64MiB", "Iceberg's default"),
        ("history.expire.max-ref-age-ms", "no limit", "Iceberg's default"),
        ("commit.manifest.target-size-bytes", "8MiB", "Iceberg's default"),
        ("commit.manifest-merge.enabled", "true", "Iceberg's default"),
        ("gc.enabled", "true", "Iceberg's default"),
    )
    assert describe_layer(layers[1]) == (
        (f"{EXPIRE}.when.oldest_snapshot_age_above", "5d", "policies/b.yaml:1"),
        (f"{EXPIRE}.max_age", "1d12h", "policies/b.yaml:2"),
    )


@given(st.integers(0, 2**50))
def test_a_size_is_written_so_that_it_reads_back_the_same(size: int) -> None:
    assert parse_size(write_value("target_file_size_bytes", size)) == size


@given(
    st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=36500)).map(
        lambda span: timedelta(seconds=int(span.total_seconds()))
    )
)
def test_a_duration_is_written_so_that_it_reads_back_the_same(span: timedelta) -> None:
    assert parse_duration(write_value("cooldown", span)) == span


_VALUES: dict[str, st.SearchStrategy[object]] = {
    "mode": st.sampled_from(Mode),
    "priority": st.integers(0, 100),
    "target_file_size_bytes": st.integers(MIB, 10**10),
    "window.cron": st.sampled_from(["0 1 * * *", "0 2 * * *"]),
    "window.duration": st.timedeltas(timedelta(minutes=1), timedelta(days=31)),
    "window.timezone": st.sampled_from(["UTC", "Europe/Berlin"]),
    **{f"rules.{name}": st.just(value=True) for name in RuleName},
    **{f"rules.{name}.enabled": st.booleans() for name in RuleName},
    **{
        f"rules.{name}.cooldown": st.timedeltas(timedelta(minutes=1), timedelta(days=99))
        for name in RuleName
    },
    **{
        f"rules.{name}.every": st.timedeltas(timedelta(hours=1), timedelta(days=99))
        for name in RuleName
    },
    **{f"{DATA}.when.{metric.key}": st.floats(0, 1e12) for metric in Metric},
    f"{DATA}.options.min-input-files": st.integers(1, 9).map(str),
    f"{DATA}.where": st.text(min_size=1),
    f"{EXPIRE}.keep": st.integers(2, 99),
    f"{EXPIRE}.max_age": st.timedeltas(timedelta(days=1), timedelta(days=99)),
}
_GLOBS = [
    "*",
    "lake.*",
    "*.sales.*",
    "lake.sales.*",
    "lake.sales.orders",
    "lake.sales.o[r]ders",
    "lake.hr.*",
]


@st.composite
def _layers(draw: st.DrawFn) -> tuple[PolicyLayer, ...]:
    """Layers of which no two are equally specific, so that their order is no matter of names."""
    globs = draw(
        st.lists(st.sampled_from(_GLOBS), unique_by=lambda glob: TablePattern(glob).specificity)
    )
    return tuple(
        PolicyLayer(
            f"{index}.yaml",
            (TablePattern(glob),),
            {
                path: Setting(draw(_VALUES[path]), f"policies/{index}.yaml:{path}")
                for path in draw(st.lists(st.sampled_from(sorted(_VALUES)), unique=True))
            },
        )
        for index, glob in enumerate(globs)
    )


_PROPERTIES = st.dictionaries(
    st.sampled_from(["maintainer.mode", "maintainer.enabled", "owner"]),
    st.sampled_from(["enforce", "observe", "false", "true", "", "x"]),
)


@given(_layers(), _PROPERTIES, st.randoms(use_true_random=False))
def test_the_result_depends_on_what_the_files_say_and_not_on_their_order(
    layers: tuple[PolicyLayer, ...], properties: dict[str, str], random: object
) -> None:
    expected = effective(layers, ORDERS, properties)
    shuffled = list(layers)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # Hypothesis gives a Random
    renamed = tuple(
        PolicyLayer(f"z{layer.name}", layer.tables, layer.settings) for layer in shuffled
    )
    assert effective(tuple(shuffled), ORDERS, properties) == expected
    assert effective(PolicySet(renamed), ORDERS, properties) == expected


@given(_layers())
def test_every_value_is_that_of_the_narrowest_layer_that_sets_it(
    layers: tuple[PolicyLayer, ...],
) -> None:
    described = {
        path: source
        for path, _, source in describe(effective(layers, ORDERS, {}))
        if source != "Iceberg's default"
    }
    matching = sorted(
        (layer for layer in layers if layer.tables[0].matches(ORDERS)),
        key=lambda layer: layer.tables[0].specificity,
    )
    for path in set(described) - {"window.timezone", f"{DATA}.strategy"}:
        setting = "target_file_size_bytes" if path == "target_file_size" else path
        expected = [
            layer.settings[setting].source for layer in matching if setting in layer.settings
        ]
        assert described[path] == (expected[-1] if expected else "built-in default"), path


@given(_layers(), _PROPERTIES)
def test_every_value_has_a_source_and_every_rule_comes_once_in_the_fixed_order(
    layers: tuple[PolicyLayer, ...], properties: dict[str, str]
) -> None:
    policy = effective(layers, ORDERS, properties)
    assert all(source for _, _, source in describe(policy))
    assert [rule.name for rule in policy.rules] == [
        name for name in RuleName if policy.rule(RULES[name]) is not None
    ]


@given(
    st.dictionaries(
        st.sampled_from(sorted(_VALUES)) | st.text(),
        st.none() | st.text() | st.integers() | st.floats() | st.booleans() | st.timedeltas(),
    ),
    st.dictionaries(st.text(), st.text()),
)
def test_even_a_layer_with_nonsense_in_it_gives_a_policy(
    settings_of: dict[str, object], properties: dict[str, str]
) -> None:
    nonsense = PolicyLayer(
        "a.yaml",
        (TablePattern("*"),),
        {path: Setting(value, "a.yaml:1") for path, value in settings_of.items()},
    )
    policy = effective((nonsense,), ORDERS, properties)
    assert isinstance(policy, Policy)
    assert describe(policy)
    describe_layer(nonsense)


def test_a_budget_is_the_narrowest_files_as_a_whole_and_bears_its_name() -> None:
    wide = layer("wide.yaml", "lake.*", budget=Budget(max_jobs=2, bytes_per_day=10 * MIB))
    narrow = layer("narrow.yaml", "lake.sales.*", budget=Budget(gb_hours_per_day=1.5))
    assert effective((wide,), ORDERS, {}).budget == Budget(2, 10 * MIB, None, "policies/wide.yaml")
    policy = effective((wide, narrow), ORDERS, {})
    assert policy.budget == Budget(None, None, 1.5, "policies/narrow.yaml")
    assert ("budget", "gb_hours_per_day 1.5", "policies/narrow.yaml:1") in describe(policy)
    assert ("budget", "max_jobs 2, bytes_per_day 10MiB", "policies/wide.yaml:1") in describe(
        effective((wide,), ORDERS, {})
    )


def test_a_budget_without_limits_takes_a_wider_one_back() -> None:
    wide, narrow = (
        layer("wide.yaml", "lake.*", budget=Budget(max_jobs=2)),
        layer("narrow.yaml", "lake.sales.*", budget=Budget()),
    )
    assert effective((wide, narrow), ORDERS, {}).budget is None


def test_how_a_rewrite_is_proved_is_the_policys() -> None:
    built_in = Safeguards(timedelta(days=1), Canary.SAMPLE, Checksum.OFF)
    assert effective((), ORDERS, {}).safeguards == built_in
    off = layer(
        "a.yaml", "lake.*", rollback_for=timedelta(0), canary=Canary.OFF, checksum=Checksum.FULL
    )
    policy = effective((off,), ORDERS, {})
    assert policy.safeguards == Safeguards(timedelta(0), Canary.OFF, Checksum.FULL)
    assert ("rollback_for", "off", "policies/a.yaml:1") in describe(policy)
    assert (
        effective(
            (layer("b.yaml", "lake.*", rollback_for="soon", canary=1, checksum=2),), ORDERS, {}
        ).safeguards
        == Safeguards()
    )
    assert policy.version != effective((), ORDERS, {}).version


def test_a_trigger_of_a_stream_comes_from_a_file_alone() -> None:
    fifty = timedelta(seconds=50)
    policy = effective((layer("a.yaml", "lake.*", stream__trigger=fifty),), ORDERS, {})
    assert policy.stream_trigger == fifty
    assert ("stream.trigger", "50s", "policies/a.yaml:1") in describe(policy)
    assert effective((), ORDERS, {}).stream_trigger is None


def test_blackouts_are_a_list_of_windows() -> None:
    night, noon = (
        Window("0 1 * * *", timedelta(hours=4), "Europe/Berlin"),
        Window("0 12 * * *", timedelta(minutes=90)),
    )
    policy = effective(
        (layer("a.yaml", "lake.*", blackouts=(night, noon, "no window")),), ORDERS, {}
    )
    assert policy.blackouts == (night, noon)
    assert (
        "blackouts",
        "0 1 * * * for 4h in Europe/Berlin, 0 12 * * * for 1h30m in UTC",
        "policies/a.yaml:1",
    ) in describe(policy)
    assert effective((), ORDERS, {}).blackouts == ()


@pytest.mark.parametrize(
    ("writers", "written"),
    [((UncheckedWriter.IMPALA, UncheckedWriter.HIVE), "impala, hive"), ((), "[]")],
)
def test_writers_that_do_not_check_are_a_list_that_may_be_empty(
    writers: tuple[UncheckedWriter, ...], written: str
) -> None:
    policy = effective((layer("a.yaml", "lake.*", writers=writers),), ORDERS, {})
    assert policy.writers == writers
    assert ("writers", written, "policies/a.yaml:1") in describe(policy)
    assert effective((), ORDERS, {}).writers is None


def test_the_built_in_values_are_those_of_a_table_without_policies() -> None:
    built_in = merging.built_in_values()
    described = {
        path: value
        for path, value in flatten(effective((), ORDERS, {})).items()
        if path in built_in
    }
    assert {"mode", "priority", "canary"} <= described.keys()
    assert described == {path: built_in[path] for path in described}
