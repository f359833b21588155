"""What surrounds a rewrite, to the letter."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from maintainer.adapters.spark.statements.job import statements_of
from maintainer.adapters.spark.statements.safeguards import statements_after, statements_before
from maintainer.domain.action import (
    Action,
    Canary,
    Checksum,
    ComputeTableStats,
    ExpireSnapshots,
    Repair,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    RollBack,
    Safeguards,
)
from maintainer.domain.condition import rewrite_condition
from maintainer.domain.condition_tokens import quote_text
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.job import Baseline, Job
from maintainer.domain.plan import Estimate
from tests.adapters.spark.surrounded import BASELINE, NAME, NOW, ORDERS, SURROUNDED, TAG, job_of
from tests.conditions import hostile_texts, plain_conditions


def test_guard_26_a_tag_is_set_before_a_rewrite_and_outlives_the_snapshots_own_age() -> None:
    written = statements_of(job_of(RewriteManifests(0), Safeguards(rollback_for=timedelta(days=1))))
    assert written.every[0] == TAG, "two days that the snapshot is old, and one more"
    assert (written.main, len(written.every)) == (1, 2)
    assert written.work.startswith("CALL `lake`.system.rewrite_manifests(")


def test_tags_whose_time_is_over_are_dropped_first() -> None:
    old = replace(BASELINE, lapsed_tags=("maintainer-before-m-0",))
    written = statements_of(
        job_of(RewriteManifests(0), Safeguards(rollback_for=timedelta(days=1)), old)
    )
    assert written.every[:2] == (
        f"ALTER TABLE {NAME} DROP TAG IF EXISTS `maintainer-before-m-0`",
        TAG,
    )


def test_without_safeguards_there_is_the_call_alone() -> None:
    written = statements_of(job_of(RewriteManifests(0), Safeguards()))
    assert (written.main, len(written.every)) == (0, 1)


@pytest.mark.parametrize(
    "action", [ExpireSnapshots(NOW - timedelta(days=5), 10), ComputeTableStats(7)]
)
def test_what_rewrites_nothing_is_not_surrounded(action: Action) -> None:
    everything = Safeguards(timedelta(days=1), Canary.SAMPLE, Checksum.FULL)
    assert len(statements_of(job_of(action, everything)).every) == 1


@pytest.mark.parametrize("baseline", [None, replace(BASELINE, snapshot_id=None)])
def test_a_table_without_a_snapshot_has_no_tag(baseline: Baseline | None) -> None:
    assert (
        len(
            statements_of(
                job_of(RewriteManifests(0), Safeguards(rollback_for=timedelta(days=1)), baseline)
            ).every
        )
        == 1
    )


def test_the_canary_reads_a_few_rows_where_the_rewrite_worked_and_tells_none_of_them() -> None:
    written = statements_of(
        job_of(RewriteDataFiles(where="day = DATE '2026-01-01'"), Safeguards(canary=Canary.SAMPLE))
    )
    assert written.main == 0
    reading = (
        "SELECT length(to_json(struct(*))) AS canary_characters FROM `lake`.`sales`.`or``ders` "
        "WHERE true AND (day = DATE '2026-01-01') LIMIT 100"
    )
    assert written.every[1:] == (reading,)


def test_checksums_are_tried_before_and_taken_on_both_sides_of_our_commits_after() -> None:
    written = statements_of(
        job_of(RewriteDataFiles(where="part = 'it''s'"), Safeguards(checksum=Checksum.FULL))
    )
    assert written.main == 2
    assert written.every[0] == "SET spark.sql.legacy.allowHashOnMapType = true"
    assert "VERSION AS OF 7 WHERE true AND (part = 'it''s') LIMIT 0" in written.every[1]
    assert len(written.every) == 4
    assert written.every[3].startswith("EXECUTE RESULT OF WITH own AS (")
    assert (
        "summary['app-name'] = 'ours' AND "
        "array_contains(split(coalesce(summary['maintainer.jobs'], 'm-1'), ','), 'm-1')"
    ) in written.every[3]


def test_a_sample_of_the_checksums_is_of_the_rows_that_the_job_names() -> None:
    guards = Safeguards(checksum=Checksum.SAMPLE, checksum_where="part = 1")
    written = statements_of(job_of(RewriteDataFiles(where="part < 9"), guards))
    assert "WHERE true AND (part = 1) LIMIT 0" in written.every[1]


def test_a_rollback_fails_where_main_has_moved_on() -> None:
    action = RollBack(7, "m-0", 9)
    job = Job(
        "m-1",
        ORDERS,
        "uuid",
        Repair.ROLL_BACK,
        action,
        (),
        Estimate(0, 0, 0, 0),
        "",
        "",
        100,
        "ada",
        NOW,
    )
    standing = "(SELECT snapshot_id FROM `lake`.`sales`.`or``ders`.refs WHERE name = 'main')"
    moved = f"SELECT assert_true({standing} = 9, 'main has changed from snapshot 9') AS is_unmoved"
    call = (
        "CALL `lake`.system.rollback_to_snapshot(table => '`lake`.`sales`.`or``ders`', "
        "snapshot_id => 7L)"
    )
    assert (statements_of(job).every, statements_of(job).work) == ((moved, call), call)


@pytest.mark.parametrize(
    "where",
    [
        "a) OR (b",
        "true; DROP TABLE t",
        "true -- ",
        "id IN (SELECT id FROM other)",
        "reflect('a', 'b') IS NULL",
        "a = 'open",
    ],
)
@pytest.mark.parametrize("guards", [SURROUNDED, Safeguards(canary=Canary.SAMPLE), Safeguards()])
def test_guard_31_a_condition_that_would_leave_its_brackets_reaches_no_statement(
    where: str, guards: Safeguards
) -> None:
    for action in (RewriteDataFiles(where=where), RewritePositionDeleteFiles(where)):
        with pytest.raises(InvalidValueError, match=f"where of {action.procedure} "):
            statements_of(job_of(action, guards))
        for write in (statements_before, statements_after) if guards is SURROUNDED else ():
            with pytest.raises(InvalidValueError, match=f"where of {action.procedure} "):
                write(job_of(action, guards))


def test_guard_31_the_rows_of_a_sample_are_held_to_the_same() -> None:
    with pytest.raises(InvalidValueError, match="checksum_where closes a bracket"):
        statements_of(job_of(RewriteDataFiles(), replace(SURROUNDED, checksum_where="a) OR (b")))


def blank_out_quotes(statement: str) -> str:
    """The statement with all that stands in quotes left out, character by character as Spark reads
    it; AssertionError where quotes stay open.
    """
    outside, quote, position = "", "", 0
    while position < len(statement):
        character = statement[position]
        if quote and character == "\\" and quote != "`":
            position += 1  # the next character is escaped
        elif quote == character:
            quote = ""
        elif not quote and character in "'\"`":
            assert not outside.upper().endswith("R") or outside[-2:-1].isalnum(), (
                "a raw text has no escapes"
            )
            quote = character
        if not quote and character not in "'\"`":
            outside += character
        position += 1
    assert not quote
    return outside


def assert_within_its_brackets(outside: str) -> None:
    depth = 0
    for character in outside:
        depth += {"(": 1, ")": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert not any(sign in outside for sign in (";", "--", "/*", "$", "?", "{"))
    assert outside.isascii()
    words = set(re.split(r"[^A-Z0-9_]+", outside.upper()))
    assert not words & {
        "SELECT",
        "FROM",
        "VALUES",
        "TABLE",
        "WITH",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "MINUS",
        "MAP",
        "REDUCE",
        "TRANSFORM",
        "REFLECT",
    }


@given(
    st.one_of(
        hostile_texts(),
        plain_conditions(),
        st.tuples(plain_conditions(), hostile_texts()).map("".join),
    )
)
@example("a) OR (b")
@example("name = r'\\' OR x = ' UNION SELECT 1 FROM t -- '")
@example("n = 5e+3fR'\\' OR x = ' UNION SELECT 1 FROM t -- '")
@example("\u017fELECT")
def test_guard_31_no_text_of_a_policy_changes_what_a_statement_is(where: str) -> None:
    job = job_of(RewriteDataFiles(where=where), SURROUNDED)
    try:
        written = statements_of(job)
    except InvalidValueError:
        event("refused")
        return
    event("taken")
    where = rewrite_condition("where", where)
    assert_within_its_brackets(blank_out_quotes(where))
    assert written.every[-2] == (
        f"SELECT length(to_json(struct(*))) AS canary_characters FROM {NAME} WHERE true AND "
        f"({where}) LIMIT 100"
    )
    assert f" FROM {NAME} VERSION AS OF 7 WHERE true AND ({where}) LIMIT 0)" in written.every[2]
    assert quote_text(f" WHERE true AND ({where}))") in written.every[-1]
    assert f"where => {quote_text(where)}, options => " in written.work
    for statement in (written.every[2], written.every[-2], written.every[-1], written.work):
        plain = statements_of(replace(job, action=RewriteDataFiles(where="a")))
        same = plain.every[written.every.index(statement)]
        assert blank_out_quotes(statement.replace(f"({where})", "(a)")) == blank_out_quotes(same)
