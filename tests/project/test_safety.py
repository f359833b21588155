"""docs/safety.md names, for each of the 33 guards, a test that exists."""

from __future__ import annotations

from re import MULTILINE, findall

from tests.project.repository import ROOT

PAGE = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
GUARDS = findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", PAGE, MULTILINE)


def test_every_guard_has_its_row() -> None:
    assert [int(number) for number, _, _ in GUARDS] == list(range(1, 34))


def test_every_test_that_is_named_exists() -> None:
    known = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), MULTILINE)
    }
    for number, words, named in GUARDS:
        tests = findall(r"`(test_\w+)`", named)
        assert tests, f"guard {number} ({words.strip()}) names no test"
        assert set(tests) <= known, (
            f"guard {number} names {sorted(set(tests) - known)}, which is no test"
        )


def test_a_test_that_bears_a_guards_number_stands_at_that_guard() -> None:
    for number, _, named in GUARDS:
        assert set(findall(r"`test_guard_(\d+)_", named)) <= {number}, (
            f"guard {number} names a test of another"
        )


def test_no_test_of_a_guard_is_left_out_by_a_mark() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        for decorators, name in findall(
            r"((?:^@.*\n)*)^def (test_guard_\w+)", path.read_text(encoding="utf-8"), MULTILINE
        ):
            assert "skip" not in decorators, name
            assert "xfail" not in decorators, name
