from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.option import (
    REWRITE_DATA_FILES_OPTIONS,
    OptionKind,
    check_option,
    options_of_strategy,
)


def test_only_the_options_of_the_procedure_are_listed() -> None:
    assert sorted(REWRITE_DATA_FILES_OPTIONS) == [
        "compression-factor",
        "delete-file-threshold",
        "delete-ratio-threshold",
        "max-concurrent-file-group-rewrites",
        "max-file-group-input-files",
        "max-file-group-size-bytes",
        "max-file-size-bytes",
        "max-files-to-rewrite",
        "max-output-size",
        "min-file-size-bytes",
        "min-input-files",
        "output-spec-id",
        "partial-progress.enabled",
        "partial-progress.max-commits",
        "partial-progress.max-failed-commits",
        "remove-dangling-deletes",
        "rewrite-all",
        "rewrite-job-order",
        "shuffle-partitions-per-file",
        "target-file-size-bytes",
        "use-starting-sequence-number",
        "var-length-contribution",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target-file-size-bytes", "1048576"),
        ("target-file-size-bytes", str(10 * 1024**3)),
        ("min-input-files", "1"),
        ("compression-factor", "0.25"),
        ("shuffle-partitions-per-file", "8"),
        ("max-output-size", "2147483647"),
        ("var-length-contribution", "16"),
        ("partial-progress.enabled", "true"),
        ("partial-progress.max-failed-commits", "0"),
        ("rewrite-job-order", "files-desc"),
        ("delete-ratio-threshold", "0.3"),
        ("use-starting-sequence-number", "true"),
    ],
)
def test_a_value_within_its_bounds_is_allowed(name: str, value: str) -> None:
    assert check_option(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        (
            "target-file-size-byte",
            "1",
            "option 'target-file-size-byte' of rewrite_data_files is not one that a policy may set",
        ),
        (
            "target-file-size-bytes",
            "1048575",
            "option target-file-size-bytes is 1048575, under its least value 1048576",
        ),
        (
            "target-file-size-bytes",
            "10737418241",
            "option target-file-size-bytes is 10737418241, over its greatest value 10737418240",
        ),
        (
            "target-file-size-bytes",
            "128MiB",
            "option target-file-size-bytes is '128MiB', but must be a whole number",
        ),
        ("min-input-files", "0", "option min-input-files is 0, under its least value 1"),
        ("min-input-files", "-1", "option min-input-files is '-1', but must be a whole number"),
        (
            "min-input-files",
            "\u0663",
            "option min-input-files is '\u0663', but must be a whole number",
        ),
        ("min-input-files", "5\n", "option min-input-files is '5\\n', but must be a whole number"),
        ("rewrite-all", "True", "option rewrite-all is 'True', but must be true or false"),
        (
            "use-starting-sequence-number",
            "false",
            "option use-starting-sequence-number is 'false', but must be true",
        ),
        (
            "rewrite-job-order",
            "random",
            (
                "option rewrite-job-order is 'random', but must be none or bytes-asc or bytes-desc "
                "or files-asc or files-desc"
            ),
        ),
        (
            "delete-ratio-threshold",
            "1.01",
            "option delete-ratio-threshold is 1.01, over its greatest value 1",
        ),
        (
            "delete-ratio-threshold",
            "nan",
            "option delete-ratio-threshold is 'nan', but must be a number",
        ),
    ],
)
def test_any_other_value_is_refused_with_its_bound(name: str, value: str, reason: str) -> None:
    assert check_option(name, value) == reason


@given(st.sampled_from(sorted(REWRITE_DATA_FILES_OPTIONS)), st.text())
def test_no_allowed_text_can_hold_anything_but_letters_digits_dots_and_hyphens(
    name: str, value: str
) -> None:
    if check_option(name, value) is None:
        assert value.isascii()
        assert all(character.isalnum() or character in ".-" for character in value)


@given(
    st.integers(),
    st.sampled_from(
        sorted(
            name
            for name, bound in REWRITE_DATA_FILES_OPTIONS.items()
            if bound.kind is OptionKind.COUNT
        )
    ),
)
def test_a_count_is_allowed_exactly_within_its_bounds(number: int, name: str) -> None:
    bound = REWRITE_DATA_FILES_OPTIONS[name]
    assert (check_option(name, str(number)) is None) == (bound.minimum <= number <= bound.maximum)


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [
        ("compression-factor", "0", "least value 0.01"),
        ("compression-factor", "101", "greatest value 100"),
        ("shuffle-partitions-per-file", "0", "least value 1"),
        ("max-output-size", "2147483648", "greatest value 2147483647"),
        ("var-length-contribution", "1048577", "greatest value 1048576"),
    ],
)
def test_what_iceberg_or_a_task_could_not_bear_is_refused(
    name: str, value: str, bound: str
) -> None:
    problem = check_option(name, value)
    assert problem is not None
    assert f"{name} is {value}" in problem
    assert bound in problem


@pytest.mark.parametrize(
    ("strategy", "sort_order", "known"),
    [
        ("binpack", None, ["min-input-files"]),
        ("sort", None, ["min-input-files", "compression-factor", "shuffle-partitions-per-file"]),
        (
            "sort",
            "zorder DESC",
            ["min-input-files", "compression-factor", "shuffle-partitions-per-file"],
        ),
        (
            "sort",
            " ZOrder (a,\nb)",
            [
                "min-input-files",
                "compression-factor",
                "shuffle-partitions-per-file",
                "max-output-size",
                "var-length-contribution",
            ],
        ),
    ],
)
def test_only_those_of_its_own_strategy_are_left_to_a_rewrite(
    strategy: str, sort_order: str | None, known: list[str]
) -> None:
    every = tuple(
        (name, "1")
        for name in (
            "min-input-files",
            "compression-factor",
            "shuffle-partitions-per-file",
            "max-output-size",
            "var-length-contribution",
        )
    )
    assert [name for name, _ in options_of_strategy(every, strategy, sort_order)] == known
