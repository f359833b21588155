"""docs/safety.md names, for each of the 32 guards, a test that exists."""

from __future__ import annotations

from re import MULTILINE, findall

from tests.project.repository import ROOT

PAGE = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
GUARDS = findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", PAGE, MULTILINE)


def test_every_guard_has_its_row() -> None:
    assert [int(number) for number, _, _ in GUARDS] == list(range(1, 33))


def test_every_test_that_is_named_exists() -> None:
    known = {name for path in (ROOT / "tests").rglob("test_*.py") for name in findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), MULTILINE)}
    for number, words, named in GUARDS:
        tests = findall(r"`(test_\w+)`", named)
        assert tests, f"guard {number} ({words.strip()}) names no test"
        assert set(tests) <= known, f"guard {number} names {sorted(set(tests) - known)}, which is no test"
