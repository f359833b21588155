"""How long a policy text may be, and how long it may take to say what is wrong with it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.document import MAXIMUM_BYTES, MAXIMUM_DEPTH, MAXIMUM_VALUES
from maintainer.adapters.policies.polaris_content import read_policies
from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.policies.texts import MAXIMUM_CRON_CHARACTERS
from maintainer.adapters.policies.validation import MAXIMUM_DEFECTS, MAXIMUM_MESSAGE_CHARACTERS
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.policy import PolicyLayer, PolicyProblem

CPU_SECONDS = (
    10  # of this thread; before there were bounds these texts took up to half a minute a megabyte
)
WINDOW = "window: {cron: '%s', duration: 1h}\n"


def fill(unit: str, head: str = "", tail: str = "") -> str:
    """A text of almost the greatest size; # in a unit is its number."""
    text = head
    number = 0
    while len(text) + len(unit) + len(tail) + 8 < MAXIMUM_BYTES:
        text += unit.replace("#", str(number))
        number += 1
    return text + tail


def problems_of(text: str) -> tuple[PolicyProblem, ...]:
    parsed = parse_policy(text, "x.yaml")
    assert not isinstance(parsed, PolicyLayer)
    return parsed


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        fill("k#: 1\n"),
        fill(" rewrite_data_file#: 1\n", "rules:\n"),
        fill("- a\n", "tables:\n"),
        fill("a,", "tables: [", "]"),
        fill("{cron: '0 0 31 2 *', duration: 1h},", "tables: a.b.c\nblackouts: [", "]"),
        fill("mode: observe\n"),
        fill("*a,", "tables: &a [", "]"),
        fill("*a,", 'name: &a "' + "x" * 30_000 + '"\ntables: [', "]"),
        fill("1,", "tables: a.b.c\nwindow: {duration: 1h, cron: '", "1 * * * *'}"),
        "[" * MAXIMUM_BYTES,
        "{" * MAXIMUM_BYTES,
        "- " * (MAXIMUM_BYTES // 2),
    ],
    ids=[
        "keys",
        "near",
        "list",
        "flow",
        "windows",
        "twice",
        "anchor",
        "long",
        "cron",
        "open",
        "braces",
        "dashes",
    ],
)
def test_what_is_wrong_with_the_longest_text_is_said_in_seconds_and_in_few_sentences(
    text: str,
) -> None:
    began = time.thread_time()
    problems = problems_of(text)
    assert time.thread_time() - began < CPU_SECONDS
    assert (
        1 <= len(problems) <= MAXIMUM_DEFECTS + 2
    )  # that tables is missing, and how many more there are
    assert max(len(problem.message) for problem in problems) <= MAXIMUM_MESSAGE_CHARACTERS


def test_problems_over_the_bound_are_counted() -> None:
    problems = problems_of(
        "tables: a.b.c\n" + "".join(f"k{number}: 1\n" for number in range(MAXIMUM_DEFECTS + 50))
    )
    assert problems[-1] == PolicyProblem("x.yaml", "50 more problems are not listed")
    assert len(problems) == MAXIMUM_DEFECTS + 1


def test_a_text_of_the_greatest_size_is_read_and_one_byte_more_is_refused() -> None:
    head = "tables: a.b.c\n#"
    assert isinstance(parse_policy(head + "x" * (MAXIMUM_BYTES - len(head)), "x.yaml"), PolicyLayer)
    assert problems_of(head + "x" * (MAXIMUM_BYTES - len(head) + 1)) == (
        PolicyProblem(
            "x.yaml", f"the file has {MAXIMUM_BYTES + 1} bytes, over the limit of {MAXIMUM_BYTES}"
        ),
    )
    assert "over the limit" in problems_of(head + "é" * (MAXIMUM_BYTES // 2))[0].message, (
        "bytes, not characters"
    )


def test_a_file_over_the_limit_leaves_its_last_good_text_in_force(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("tables: a.b.c\n")
    directory = PolicyDirectory(tmp_path)
    before = directory.current()
    file.write_text("tables: a.b.c\n#" + "é" * MAXIMUM_BYTES)
    after = directory.current()
    assert after.layers == before.layers
    assert [problem.message for problem in after.problems] == [
        f"the file has {file.stat().st_size} bytes, over the limit of {MAXIMUM_BYTES}"
    ]


@pytest.mark.parametrize(
    "text", ["1," * 100_000 + "1 * * * *", "* * * * " + " " * MAXIMUM_CRON_CHARACTERS + "*"]
)
def test_a_long_cron_expression_is_refused_by_its_length(text: str) -> None:
    (problem,) = problems_of("tables: a.b.c\n" + WINDOW % text[: MAXIMUM_BYTES - 100])
    assert problem.message.startswith("window.cron has ")
    assert problem.message.endswith(f"characters, over the limit of {MAXIMUM_CRON_CHARACTERS}")


def test_a_long_but_bounded_cron_expression_is_read() -> None:
    minutes = ",".join(map(str, range(60)))
    assert isinstance(
        parse_policy("tables: a.b.c\n" + WINDOW % f"{minutes} * * * *", "x.yaml"), PolicyLayer
    )


def test_a_list_of_windows_over_the_bound_is_refused_before_each_is_read() -> None:
    (problem,) = problems_of(
        "tables: a.b.c\nblackouts: [" + "{cron: nonsense, duration: 1h}," * 101 + "]"
    )
    assert problem.message == "blackouts has 101 items, over the limit of 100"


@pytest.mark.parametrize(
    "text",
    [
        "a: [" + "x," * (2 * MAXIMUM_VALUES) + "]",
        "".join(f"k{number}: x\n" for number in range(MAXIMUM_VALUES + 1)),
    ],
)
def test_too_many_values_are_refused_while_they_are_read(text: str) -> None:
    assert any(
        f"more than {MAXIMUM_VALUES} values" in problem.message for problem in problems_of(text)
    )


def test_the_depth_is_bounded_while_it_is_read() -> None:
    assert [problem.message for problem in problems_of("[" * 1000)] == [
        f"values are nested deeper than {MAXIMUM_DEPTH} levels"
    ]


def test_the_text_of_a_policy_that_polaris_keeps_is_bounded_too() -> None:
    policy = {
        "name": "p",
        "policy-type": "system.snapshot-expiry",
        "content": "{" + " " * MAXIMUM_BYTES + "}",
    }
    with pytest.raises(
        InvalidValueError,
        match=f"the content of Polaris policy p has {MAXIMUM_BYTES + 2} bytes, over the limit of "
        f"{MAXIMUM_BYTES}",
    ):
        read_policies([policy])
