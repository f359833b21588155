from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.action import (
    Action,
    ApprovedList,
    ComputePartitionStats,
    ComputeTableStats,
    Disposal,
    ExpireSnapshots,
    Procedure,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
)
from maintainer.domain.condition_tokens import quote_identifier, quote_text
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.domain.option import PROCEDURE_OPTIONS, REWRITE_DATA_FILES_OPTIONS
from maintainer.domain.orphan import view_of
from maintainer.domain.policy import RuleName
from maintainer.domain.rules import RULES
from maintainer.procedures.registry import call_statement
from tests.chapters import find_gain
from tests.samples import health_of_partitions

ORDERS = TableIdentifier("lake", ("sales",), "orders")
DEFAULTS = ", ".join(
    f"'{name}', '{value}'"
    for name, value in (
        ("partial-progress.enabled", "true"),
        ("partial-progress.max-commits", "10"),
        ("partial-progress.max-failed-commits", "4"),
        ("use-starting-sequence-number", "true"),
    )
)
APPROVED = ApprovedList("l-1", "digest")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("action", "statement"),
    [
        (
            RewriteDataFiles(),
            (
                f"CALL `lake`.system.rewrite_data_files(table => '`lake`.`sales`.`orders`', "
                f"strategy "
                f"=> 'binpack', options => map({DEFAULTS}))"
            ),
        ),
        (
            RewriteDataFiles(
                strategy="sort", sort_order="zorder(a, b)", where="day < '2026-01-01'"
            ),
            (
                "CALL `lake`.system.rewrite_data_files(table => '`lake`.`sales`.`orders`', "
                "strategy => 'sort', sort_order => 'zorder(a, b)', "
                f"where => 'day < \\'2026-01-01\\'', options => map({DEFAULTS}))"
            ),
        ),
        (
            RewriteDataFiles(
                options=(
                    ("target-file-size-bytes", "1048576"),
                    ("partial-progress.max-failed-commits", "0"),
                )
            ),
            (
                "CALL `lake`.system.rewrite_data_files(table => '`lake`.`sales`.`orders`', "
                "strategy => 'binpack', options => map("
                "'partial-progress.enabled', 'true', 'partial-progress.max-commits', '10', "
                "'partial-progress.max-failed-commits', '0', "
                "'target-file-size-bytes', '1048576', 'use-starting-sequence-number', 'true'))"
            ),
        ),
        (
            RewritePositionDeleteFiles("day > '2026-01-01'", (("rewrite-all", "true"),)),
            (
                "CALL `lake`.system.rewrite_position_delete_files(table => "
                "'`lake`.`sales`.`orders`', where => 'day > \\'2026-01-01\\'', "
                "options => map('rewrite-all', 'true'))"
            ),
        ),
        (
            RewritePositionDeleteFiles(),
            (
                "CALL `lake`.system.rewrite_position_delete_files(table => "
                "'`lake`.`sales`.`orders`')"
            ),
        ),
        (
            ComputeTableStats(2**62, ("id", "it's")),
            (
                "CALL `lake`.system.compute_table_stats(table => '`lake`.`sales`.`orders`', "
                "snapshot_id => 4611686018427387904L, "
                "columns => array('id', 'it\\'s'))"
            ),
        ),
        (
            ComputeTableStats(7),
            (
                "CALL `lake`.system.compute_table_stats(table => '`lake`.`sales`.`orders`', "
                "snapshot_id => 7L)"
            ),
        ),
        (
            ComputePartitionStats(7),
            (
                "CALL `lake`.system.compute_partition_stats(table => '`lake`.`sales`.`orders`', "
                "snapshot_id => 7L)"
            ),
        ),
        (
            RewriteManifests(0, (("use_caching", "true"),)),
            (
                "CALL `lake`.system.rewrite_manifests(table => '`lake`.`sales`.`orders`', "
                "spec_id => "
                "0, use_caching => true)"
            ),
        ),
        (
            ExpireSnapshots(
                datetime(2026, 3, 4, tzinfo=UTC),
                2,
                (("stream_results", "true"), ("max_concurrent_deletes", "8")),
            ),
            (
                "CALL `lake`.system.expire_snapshots(table => '`lake`.`sales`.`orders`', "
                "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', "
                "retain_last => 2, max_concurrent_deletes => 8, stream_results => true)"
            ),
        ),
        (
            RemoveOrphanFiles(
                datetime(2026, 3, 4, tzinfo=UTC), "s3://b/t", (("prefix_listing", "true"),)
            ),
            (
                "CALL `lake`.system.remove_orphan_files(table => '`lake`.`sales`.`orders`', "
                "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', "
                "dry_run => true, prefix_mismatch_mode => 'ERROR', prefix_listing => true)"
            ),
        ),
        (
            RewriteDataFiles(
                "sort",
                "zorder(a, b)",
                options=(("partial-progress.enabled", "false"), ("var-length-contribution", "16")),
            ),
            (
                "CALL `lake`.system.rewrite_data_files(table => '`lake`.`sales`.`orders`', "
                "strategy => 'sort', sort_order => 'zorder(a, b)', options => "
                "map('partial-progress.enabled', 'false', 'use-starting-sequence-number', "
                "'true', 'var-length-contribution', '16'))"
            ),
        ),
        (
            RemoveOrphanFiles(
                datetime(2026, 3, 4, tzinfo=UTC), "s3://b/t", (("max_concurrent_deletes", "4"),)
            ),
            (
                "CALL `lake`.system.remove_orphan_files(table => '`lake`.`sales`.`orders`', "
                "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', "
                "dry_run => true, prefix_mismatch_mode => 'ERROR')"
            ),
        ),
        (
            RemoveOrphanFiles(
                datetime(2026, 3, 4, tzinfo=UTC),
                "s3://b/t",
                (("max_concurrent_deletes", "4"),),
                replace(APPROVED, disposal=Disposal.QUARANTINE),
            ),
            (
                "CALL `lake`.system.remove_orphan_files(table => '`lake`.`sales`.`orders`', "
                "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', "
                "dry_run => true, prefix_mismatch_mode => 'ERROR', location => 's3://b/t/', "
                f"file_list_view => '{view_of(APPROVED)}')"
            ),
        ),
        (
            RemoveOrphanFiles(
                datetime(2026, 3, 4, tzinfo=UTC),
                "s3://b/t",
                (("max_concurrent_deletes", "4"),),
                APPROVED,
            ),
            (
                "CALL `lake`.system.remove_orphan_files(table => '`lake`.`sales`.`orders`', "
                "older_than => TIMESTAMP '2026-03-04 00:00:00.000000 UTC', "
                f"dry_run => false, prefix_mismatch_mode => 'ERROR', location => 's3://b/t/', "
                f"file_list_view => '{view_of(APPROVED)}', "
                "max_concurrent_deletes => 4, stream_results => true)"
            ),
        ),
        (
            RewriteManifests(3),
            (
                "CALL `lake`.system.rewrite_manifests(table => '`lake`.`sales`.`orders`', "
                "spec_id => "
                "3)"
            ),
        ),
        (
            ExpireSnapshots(
                datetime(2026, 3, 4, 13, 5, 6, 789, tzinfo=timezone(timedelta(hours=1))), 2
            ),
            (
                "CALL `lake`.system.expire_snapshots(table => '`lake`.`sales`.`orders`', "
                "older_than => TIMESTAMP '2026-03-04 12:05:06.000789 UTC', retain_last => 2)"
            ),
        ),
    ],
)
def test_an_action_is_this_statement(action: Action, statement: str) -> None:
    assert call_statement(ORDERS, action) == statement


def test_names_with_dots_backticks_quotes_and_blanks_stay_one_level_each() -> None:
    table = TableIdentifier("lake", ("a.b", "c`d"), "it's ${env:HOME} \\ 日本 x")
    statement = call_statement(table, RewriteManifests(0))
    assert statement == (
        "CALL `lake`.system.rewrite_manifests(table => '`lake`.`a.b`.`c``d`.`it\\'s "
        "\\u0024{env:HOME} \\\\ 日本 x`', spec_id => 0)"
    )


def read_spark_literal(literal: str) -> str:
    """Spark 4.1's unescapeSQLString, in its own order: doubled quotes are never written here, so
    they are an error.
    """
    assert literal[0] == literal[-1] == "'"
    text, read, position = literal[1:-1], "", 0
    simple = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "0": "\0", "Z": "\x1a"}
    while position < len(text):
        character = text[position]
        assert character != "'"
        if character != "\\":
            read, position = read + character, position + 1
        elif text[position + 1] == "u":
            read, position = read + chr(int(text[position + 2 : position + 6], 16)), position + 6
        else:
            escaped = text[position + 1]
            read += simple.get(escaped, "\\" + escaped if escaped in "%_" else escaped)
            position += 2
    return read


@given(TEXT)
def test_sparks_parser_reads_back_any_text(text: str) -> None:
    literal = quote_text(text)
    assert read_spark_literal(literal) == text
    assert "$" not in literal


@given(st.lists(TEXT, min_size=3, max_size=5))
def test_any_name_is_read_back_level_by_level(levels: list[str]) -> None:
    table = TableIdentifier("lake", tuple(levels[:-1]), levels[-1])
    statement = call_statement(table, RewriteManifests(0))
    literal = statement.removeprefix("CALL `lake`.system.rewrite_manifests(table => ").removesuffix(
        ", spec_id => 0)"
    )
    assert split_levels(read_spark_literal(literal)) == ("lake", *levels)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (
            RewriteDataFiles(options=(("delete-everything", "true"),)),
            ["'delete-everything'", "not one that a policy may set"],
        ),
        (
            RewriteDataFiles(options=(("min-input-files", "0"),)),
            ["min-input-files", "is 0", "under its least value 1"],
        ),
        (
            RewriteDataFiles(options=(("min-input-files", "٣"),)),
            ["min-input-files", "whole number"],
        ),
        (
            RewriteDataFiles(options=(("delete-ratio-threshold", "1.5"),)),
            ["delete-ratio-threshold", "1.5", "over its greatest value 1"],
        ),
        (
            RewriteDataFiles(options=(("delete-ratio-threshold", "nan"),)),
            ["delete-ratio-threshold", "nan"],
        ),
        (
            RewriteDataFiles(options=(("rewrite-all", "TRUE"),)),
            ["rewrite-all", "'TRUE'", "true or false"],
        ),
        (
            RewriteDataFiles(options=(("rewrite-job-order", "x"),)),
            ["rewrite-job-order", "bytes-asc"],
        ),
        (
            RewriteDataFiles(options=(("rewrite-all", "true"), ("rewrite-all", "false"))),
            ["rewrite-all", "twice"],
        ),
        (RewriteDataFiles(strategy="shuffle"), ["'shuffle'", "binpack, sort"]),
        (RewriteDataFiles(sort_order="a"), ["sort_order", "binpack"]),
        (
            RewriteDataFiles(options=(("compression-factor", "2"),)),
            ["compression-factor", "is 2", "binpack"],
        ),
        (
            RewriteDataFiles("sort", "a", options=(("max-output-size", "8"),)),
            ["max-output-size", "is 8", "sort_order 'a'"],
        ),
        (RewriteDataFiles(where=" "), ["where", "1 characters"]),
        (RewriteDataFiles(where="x" * 10_001), ["where", "10001", "10000"]),
        (RewriteDataFiles(where="a = '\ud800'"), ["surrogate"]),
        (
            RewritePositionDeleteFiles(options=(("delete-ratio-threshold", "0.1"),)),
            ["delete-ratio-threshold", "rewrite_position_delete_files"],
        ),
        (
            RewritePositionDeleteFiles(where=" "),
            ["where of rewrite_position_delete_files", "1 characters"],
        ),
        (
            ExpireSnapshots(datetime(2026, 1, 1, tzinfo=UTC), 2, (("snapshot_ids", "1"),)),
            ["'snapshot_ids'", "expire_snapshots", "not one"],
        ),
        (
            ExpireSnapshots(
                datetime(2026, 1, 1, tzinfo=UTC), 2, (("max_concurrent_deletes", "65"),)
            ),
            ["65", "greatest value 64"],
        ),
        (
            RewriteManifests(0, (("use_caching", "true"), ("use_caching", "true"))),
            ["use_caching", "rewrite_manifests", "twice"],
        ),
        (ComputeTableStats(-1), ["snapshot_id of compute_table_stats", "-1"]),
        (ComputeTableStats(1, ("",)), ["columns", "compute_table_stats"]),
        (ComputePartitionStats(2**63), ["snapshot_id of compute_partition_stats", str(2**63)]),
        (
            RemoveOrphanFiles(
                datetime(2026, 1, 1, tzinfo=UTC), "s3://b/t", (("prefix_mismatch_mode", "DELETE"),)
            ),
            ["'prefix_mismatch_mode'", "not one"],
        ),
        (
            RemoveOrphanFiles(datetime(2026, 1, 1), "s3://b/t"),  # noqa: DTZ001 - that is the point
            ["older_than of remove_orphan_files", "time zone"],
        ),
        (RewriteManifests(-1), ["spec_id", "-1", "from 0"]),
        (ExpireSnapshots(datetime(2026, 1, 1, tzinfo=UTC), 1), ["retain_last", "1", "from 2"]),
        # That is the point.
        (ExpireSnapshots(datetime(2026, 1, 1), 2), ["older_than", "time zone"]),  # noqa: DTZ001
    ],
)
def test_what_is_out_of_bounds_is_refused_by_thing_value_and_bound(
    action: Action, words: list[str]
) -> None:
    with pytest.raises(InvalidValueError) as refused:
        call_statement(ORDERS, action)
    assert all(word in str(refused.value) for word in words)


@given(st.sampled_from(sorted(REWRITE_DATA_FILES_OPTIONS)), st.text(max_size=30))
def test_no_value_of_an_option_is_more_than_a_plain_word(name: str, value: str) -> None:
    try:
        statement = call_statement(ORDERS, RewriteDataFiles(options=((name, value),)))
    except InvalidValueError:
        return
    assert f"'{name}', '{value}'" in statement
    assert value.isascii()
    assert all(character.isalnum() or character in ".-" for character in value)


def test_a_rewrite_that_commits_once_says_nothing_of_several_commits() -> None:
    statement = call_statement(
        ORDERS, RewriteDataFiles(options=(("partial-progress.enabled", "false"),))
    )
    assert statement.endswith(
        "options => map('partial-progress.enabled', 'false', 'use-starting-sequence-number', "
        "'true'))"
    )


@pytest.mark.parametrize("name", ["", "x" * 1001])
def test_a_name_that_is_empty_or_too_long_is_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match="1 to 1000"):
        quote_identifier(name)


def test_every_procedure_has_an_allow_list() -> None:
    assert set(PROCEDURE_OPTIONS) == set(Procedure)


def test_guard_4_no_policy_reaches_another_mode_than_error_nor_a_real_run() -> None:
    assert set(PROCEDURE_OPTIONS[Procedure.REMOVE_ORPHAN_FILES]) == {
        "prefix_listing",
        "max_concurrent_deletes",
    }
    statement = call_statement(
        ORDERS, RemoveOrphanFiles(datetime(2026, 3, 4, tzinfo=UTC), "s3://b/t")
    )
    assert "dry_run => true, prefix_mismatch_mode => 'ERROR'" in statement


@pytest.mark.parametrize(
    ("commits", "tolerated"), [("1", "3"), ("8", "3"), ("10", "4"), ("21", "10")]
)
def test_commits_that_iceberg_miscounts_as_failed_are_tolerated(
    commits: str, tolerated: str
) -> None:
    """Iceberg fails with more than `tolerated`; no number of groups is miscounted by more."""
    action = RewriteDataFiles(options=(("partial-progress.max-commits", commits),))
    written = f"'partial-progress.max-failed-commits', '{tolerated}'"
    assert written in call_statement(ORDERS, action)
    most = int(commits)
    for groups in range(1, 5 * most):
        due = -(-groups // -(-groups // most))
        assert min(groups, most) - due <= int(tolerated)


@pytest.mark.parametrize("rule", [RuleName.COMPUTE_TABLE_STATS, RuleName.COMPUTE_PARTITION_STATS])
def test_a_table_without_a_snapshot_has_no_statistics(rule: RuleName) -> None:
    empty = replace(health_of_partitions({}), snapshot_id=None)
    assert find_gain(RULES[rule](), empty) is None
